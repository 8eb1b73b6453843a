// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Limits on a run's trace.

use crate::common::{judged_with, ladder, report, timer};
use rtperf_gate::{Judged, RunReport, TraceFigures, TraceSeries, Verdict};
use rtperf_record::{Metric, Params};
use rtperf_testkit::RunBuilder;
use std::cell::Cell;

fn params(text: &str) -> Params {
    format!("x{text}.max").parse::<Metric>().unwrap().params
}

fn series(measurement: &str, keys: &str, part: &str, sorted: Vec<i64>) -> TraceSeries {
    TraceSeries {
        measurement: measurement.into(),
        params: params(keys),
        part: (!part.is_empty()).then(|| part.into()),
        n: sorted.len() as u64,
        mean_ns: sorted.iter().sum::<i64>() as f64 / sorted.len() as f64,
        sorted: Box::new(move || sorted.clone()),
        exact: true,
        suspect: 0,
    }
}

/// Two handlers, 1.001 to 2 us and 10 us each time, and a chain.
fn figures() -> TraceFigures {
    TraceFigures {
        lost_events: 0,
        lost_packets: 0,
        damage: vec![],
        series: vec![
            series(
                "trace.irq",
                "{name=rtperf-daq}",
                "exec",
                (1_001..=2_000).collect(),
            ),
            series("trace.irq", "{name=mmc0}", "exec", vec![10_000; 7]),
            series("trace.chain", "{name=edge-i2c}", "", vec![20_000; 1_000]),
        ],
    }
}

fn judge_by(limits: &str, change: impl Fn(&mut TraceFigures)) -> RunReport {
    let run = RunBuilder::new("run").measured("timer-latency", &timer("0"), &ladder(6));
    judged_with(&run, &format!("version: 1\n{limits}"), None, &|| {
        let mut figures = figures();
        change(&mut figures);
        Ok(figures)
    })
}

/// The only limit's only entry.
fn one(metric: &str, bound: &str, require: &str, change: impl Fn(&mut TraceFigures)) -> Judged {
    let limits = format!("require: {require}\nlimits: [{{metric: '{metric}', {bound}}}]");
    let mut run = judge_by(&limits, change);
    assert_eq!(run.judged.len(), 1, "{run:?}");
    run.judged.remove(0)
}

fn same(_: &mut TraceFigures) {}

#[test]
fn figures_of_a_trace_are_judged_like_others() {
    const P99: &str = "trace.irq{name=rtperf-daq}.exec.p99";
    for (metric, bound, want) in [
        (P99, "at_most: 2us", Verdict::Pass),
        (P99, "at_most: 1500ns", Verdict::Miss),
        (P99, "at_most: 1990ns", Verdict::Unusable),
        (
            "trace.irq{name=rtperf-daq}.exec.p99.9",
            "at_most: 1ms",
            Verdict::Unusable,
        ),
        (
            "trace.irq{name=mmc0}.exec.max",
            "at_most: 9999ns",
            Verdict::Miss,
        ),
        ("trace.irq{name=mmc0}.exec.n", "at_least: 7", Verdict::Pass),
        (
            "trace.chain{name=edge-i2c}.mean",
            "at_most: 20us",
            Verdict::Pass,
        ),
        // What goes without saying may be said.
        (
            "trace.irq{board=virtual,pass=explain,name=mmc0}.exec.max",
            "at_most: 1ms",
            Verdict::Pass,
        ),
    ] {
        let judged = one(metric, bound, "{}", same);
        assert_eq!(
            judged.judgement.verdict, want,
            "{metric} {bound}: {judged:?}"
        );
        assert!(judged.notes.is_empty(), "{judged:?}");
    }
    let judged = one(P99, "at_most: 2us", "{}", same);
    assert_eq!(
        judged.metric(),
        "trace.irq{board=virtual,name=rtperf-daq}.exec.p99"
    );
}

#[test]
fn without_a_name_each_handler_is_judged_by_itself() {
    let run = judge_by("limits: [{metric: trace.irq.exec.max, at_most: 5us}]", same);
    let verdicts: Vec<_> = run.judged.iter().map(|j| j.judgement.verdict).collect();
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Miss]);
}

#[test]
fn the_trace_is_analysed_once_and_only_if_a_limit_names_it() {
    let run = RunBuilder::new("run").measured("timer-latency", &timer("0"), &ladder(6));
    for (metrics, want) in [
        (&["timer-latency.max"][..], 0),
        (&["trace.irq.exec.max", "trace.chain.max"], 1),
    ] {
        let line = |m: &&str| format!("- {{metric: {m}, at_most: 1s}}\n");
        let limits: String = metrics.iter().map(line).collect();
        let calls = Cell::new(0);
        judged_with(
            &run,
            &format!("version: 1\nlimits:\n{limits}"),
            None,
            &|| {
                calls.set(calls.get() + 1);
                Ok(figures())
            },
        );
        assert_eq!(calls.get(), want, "{metrics:?}");
    }
}

#[test]
fn a_trace_that_cannot_be_read_leaves_the_others_standing() {
    let limits = "version: 1\nlimits:
- {metric: trace.irq.exec.max, at_most: 1s}
- {metric: timer-latency.max, at_most: 1ms}";
    let run = RunBuilder::new("run").measured("timer-latency", &timer("0"), &ladder(6));
    let why = || Err("the run has no trace".to_owned());
    let judged = judged_with(&run, limits, None, &why);
    assert_eq!(judged.judged[0].judgement.reason, "the run has no trace");
    assert_eq!(judged.judged[0].metric(), "trace.irq.exec.max");
    assert_eq!(judged.judged[1].judgement.verdict, Verdict::Pass);
    assert_eq!(report(vec![judged], limits).exit_status(), 2);
    let limits = limits.replace("1ms", "1us");
    let judged = judged_with(&run, &limits, None, &why);
    assert_eq!(report(vec![judged], &limits).exit_status(), 1);
}

#[test]
fn what_a_trace_cannot_tell_is_said() {
    for (metric, bound, said) in [
        (
            "trace.irq.exec.lost",
            "at_most: 0",
            "'lost' is known of measurements only",
        ),
        ("trace.chain.rate", "at_least: 1", "'rate' is known"),
        ("trace.chain.lap_mean", "at_most: 1s", "'lap_mean' is known"),
        (
            "trace.chain{task=0}.max",
            "at_most: 1s",
            "no 'phase' and no 'task'",
        ),
        (
            "trace.irq{name=rtperf-dqa}.exec.max",
            "at_most: 1s",
            "only name=mmc0, name=rtperf-daq; did you mean 'rtperf-daq'?; \
          nearest: trace.irq{name=rtperf-daq}.exec.max, trace.irq{name=mmc0}.exec.max",
        ),
        (
            "trace.irq.exce.max",
            "at_most: 1s",
            "the trace has no figure 'trace.irq.exce', it has trace.chain, trace.irq.exec; nearest:",
        ),
        (
            "trace.irq{pass=measure}.exec.max",
            "at_most: 1s",
            "has no pass=measure",
        ),
    ] {
        let limits = format!("limits: [{{metric: '{metric}', {bound}}}]");
        for judged in judge_by(&limits, same).judged {
            assert_eq!(judged.judgement.verdict, Verdict::Unusable, "{metric}");
            let reason = &judged.judgement.reason;
            assert!(reason.contains(said), "{metric}: {reason}");
        }
    }
}

#[test]
fn lost_events_are_marked_and_void_what_they_touch() {
    let metric = "trace.irq{name=rtperf-daq}.exec.max";
    let lossy = |suspect: u64, packets: u64| {
        move |f: &mut TraceFigures| {
            (f.lost_events, f.lost_packets) = (12, packets);
            f.series[0].suspect = suspect;
        }
    };
    for (stat_of, require, suspect, packets, want, said) in [
        (metric, "{}", 0, 0, Verdict::Pass, ""),
        (
            metric,
            "{}",
            3,
            0,
            Verdict::Unusable,
            "3 of its 1,000 samples beside them",
        ),
        (
            "trace.irq{name=mmc0}.exec.n",
            "{}",
            0,
            0,
            Verdict::Unusable,
            "number is not known",
        ),
        (metric, "{lost_events: 12}", 3, 0, Verdict::Pass, ""),
        (
            metric,
            "{lost_events: 11}",
            0,
            0,
            Verdict::Unusable,
            "the limits file allows 11",
        ),
        (
            metric,
            "{lost_events: 12}",
            0,
            1,
            Verdict::Unusable,
            "12 events and 1 packets",
        ),
    ] {
        let bound = if stat_of.ends_with(".n") {
            "at_least: 1"
        } else {
            "at_most: 1s"
        };
        let judged = one(stat_of, bound, require, lossy(suspect, packets));
        assert_eq!(judged.judgement.verdict, want, "{require} {suspect}");
        assert!(judged.judgement.reason.contains(said), "{judged:?}");
        assert!(judged.judgement.value.is_some());
        assert!(judged.notes[0].starts_with("12 events"), "{judged:?}");
        assert_eq!(judged.notes.len(), 1 + usize::from(suspect > 0));
    }
    // Nor does what is seen beside the gap prove a miss.
    let judged = one(metric, "at_most: 1us", "{lost_events: 0}", lossy(0, 0));
    assert_eq!(judged.judgement.verdict, Verdict::Unusable);
    let damaged = |f: &mut TraceFigures| f.damage = vec!["ch_0 is cut off".into(), "x".into()];
    let judged = one(metric, "at_most: 1s", "{}", damaged);
    assert_eq!(
        judged.judgement.reason,
        "the trace is damaged: ch_0 is cut off (and 1 more)"
    );
}

#[test]
fn classes_of_three_digits_decide_nothing_within_themselves() {
    let coarse = |f: &mut TraceFigures| f.series[2].exact = false;
    for (stat, bound, want) in [
        ("p99", "at_most: 20us", Verdict::Pass),
        ("p99", "at_most: 19990ns", Verdict::Unusable),
        ("p99", "at_most: 19970ns", Verdict::Miss),
        ("median", "at_least: 19970ns", Verdict::Pass),
        ("median", "at_least: 19990ns", Verdict::Unusable),
        ("median", "at_least: 20001ns", Verdict::Miss),
        ("max", "at_most: 20us", Verdict::Pass),
        ("mean", "at_most: 20us", Verdict::Pass),
        ("sd", "at_most: 1s", Verdict::Unusable),
        ("mad", "at_most: 1s", Verdict::Unusable),
        ("p99.9", "at_most: 1s", Verdict::Unusable),
    ] {
        let judged = one(&format!("trace.chain.{stat}"), bound, "{}", coarse);
        assert_eq!(judged.judgement.verdict, want, "{stat} {bound}: {judged:?}");
        assert!(judged.notes[0].contains("three digits"), "{judged:?}");
    }
}

#[test]
fn files_are_joined_or_refused() {
    let parse = |text: &str| text.parse::<rtperf_gate::Limits>().unwrap();
    let file = |require: &str| {
        parse(&format!(
            "version: 1\nrequire: {require}\nlimits: [{{metric: a.max, at_most: 1s}}]"
        ))
    };
    let joined = file("{checks: [a], lost_events: 5}")
        .and(file("{checks: [a, b], instrumented: true, lost_events: 2}"))
        .unwrap();
    assert_eq!(
        (joined.limits.len(), joined.require.lost_events),
        (2, Some(2))
    );
    assert_eq!(joined.require.checks, ["a", "b"]);
    assert_eq!(joined.require.instrumented, Some(true));
    for (a, b) in [
        ("{pass: armed}", "{}"),
        ("{instrumented: true}", "{instrumented: false}"),
    ] {
        assert!(file(a).and(file(b)).is_err(), "{a} {b}");
    }
}
