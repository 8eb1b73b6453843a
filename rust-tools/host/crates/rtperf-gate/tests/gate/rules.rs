// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What makes a run usable, which verdict outranks which.

use crate::common::{judged, ladder, report, timer};
use rtperf_gate::{RunReport, Verdict};
use rtperf_record::{Check, CheckStatus, Outcome, Run, RunStatus};
use rtperf_testkit::RunBuilder;

const PASSING: &str = "limits: [{metric: timer-latency.max, at_most: 1ms}]";
const MISSING: &str = "limits: [{metric: timer-latency.max, at_most: 1us}]";

fn good() -> RunBuilder {
    let ok = Check {
        name: "preempt_rt".into(),
        status: CheckStatus::Ok,
        found: "PREEMPT_RT".into(),
    };
    RunBuilder::new("run")
        .measured("timer-latency", &timer("0"), &ladder(6))
        .edit(|run| {
            run.checks.before.push(ok.clone());
            run.checks.after.push(ok);
        })
}

fn verdict_of(run: &RunReport) -> Verdict {
    report(
        vec![run.clone()],
        "{version: 1, limits: [{metric: a.max, at_most: 1s}]}",
    )
    .verdict()
}

fn with(require: &str, limits: &str) -> String {
    format!("version: 1\nrequire: {require}\n{limits}\n")
}

#[test]
fn a_good_run_passes_and_a_bad_one_misses() {
    assert_eq!(
        verdict_of(&judged(&good(), &with("{}", PASSING), None)),
        Verdict::Pass
    );
    assert_eq!(
        verdict_of(&judged(&good(), &with("{}", MISSING), None)),
        Verdict::Miss
    );
}

/// What is required and not met voids the run: even a miss proves nothing.
#[test]
fn unmet_requirements_void_the_run() {
    type Change = fn(&mut Run);
    let cases: [(&str, Change, &str); 7] = [
        (
            "{checks: [preempt_rt]}",
            |r| r.checks.after[0].status = CheckStatus::Failed,
            "failed after",
        ),
        (
            "{checks: [preempt_rt]}",
            |r| r.checks.before[0].status = CheckStatus::Unknown,
            "does not tell",
        ),
        (
            "{checks: [preempt_rt]}",
            |r| r.checks.after.clear(),
            "was not made after",
        ),
        (
            "{checks: [preempt-rt]}",
            |_| {},
            "was not made; the run has preempt_rt; did you mean 'preempt_rt'?",
        ),
        (
            "{checks: [x]}",
            |r| r.checks = Default::default(),
            "the run has none",
        ),
        ("{instrumented: true}", |_| {}, "not instrumented"),
        (
            "{instrumented: false}",
            |r| r.instrumented = true,
            "is instrumented",
        ),
    ];
    for (require, change, said) in cases {
        for limits in [PASSING, MISSING] {
            let run = judged(&good().edit(change), &with(require, limits), None);
            assert_eq!(verdict_of(&run), Verdict::Unusable, "{require}");
            assert!(run.problems[0].contains(said), "{:?}", run.problems);
            // What was measured is still shown.
            assert!(run.judged[0].judgement.value.is_some());
        }
    }
    for require in [
        "{checks: [preempt_rt]}",
        "{instrumented: false}",
        "{instrumented: any}",
    ] {
        assert_eq!(
            verdict_of(&judged(&good(), &with(require, PASSING), None)),
            Verdict::Pass
        );
    }
}

#[test]
fn the_image_must_be_the_expected_one() {
    let limits = with("{}", MISSING);
    let other = judged(&good(), &limits, Some("image-2"));
    assert_eq!(verdict_of(&other), Verdict::Unusable);
    assert_eq!(
        other.problems,
        ["the run is of image 'test-image-1.0', not of 'image-2'"]
    );
    assert_eq!(
        verdict_of(&judged(&good(), &limits, Some("test-image-1.0"))),
        Verdict::Miss
    );
}

#[test]
fn a_cut_off_run_cannot_pass_but_can_miss() {
    for status in [RunStatus::Running, RunStatus::Interrupted] {
        let run = good().edit(|run| run.status = status);
        assert_eq!(
            verdict_of(&judged(&run, &with("{}", PASSING), None)),
            Verdict::Unusable
        );
        assert_eq!(
            verdict_of(&judged(&run, &with("{}", MISSING), None)),
            Verdict::Miss
        );
    }
}

#[test]
fn measurements_that_were_not_done_are_unusable_and_others_still_judged() {
    for (status, word) in [
        (Outcome::Failed, "failed"),
        (Outcome::Skipped, "skipped"),
        (Outcome::Interrupted, "interrupted"),
    ] {
        let run = good().not_measured("timer-latency", &timer("1"), status, "no such CPU");
        let run = judged(&run, &with("{}", PASSING), None);
        let verdicts: Vec<Verdict> = run.judged.iter().map(|j| j.judgement.verdict).collect();
        assert_eq!(verdicts, [Verdict::Pass, Verdict::Unusable]);
        let reason = &run.judged[1].judgement.reason;
        assert!(
            reason.contains(word) && reason.contains("no such CPU"),
            "{reason}"
        );
        assert_eq!(verdict_of(&run), Verdict::Unusable);
    }
}

#[test]
fn a_proven_miss_outranks_unusable_data() {
    let limits = with(
        "{}",
        "limits: [{metric: timer-latency.max, at_most: 1us}, {metric: nothing.max, at_most: 1us}]",
    );
    let run = judged(&good(), &limits, None);
    assert_eq!(verdict_of(&run), Verdict::Miss);
    assert!(
        run.judged[1]
            .judgement
            .reason
            .contains("has no measurement 'nothing'")
    );
    let unread = rtperf_gate::unreadable("x", "x is no folder");
    let both = report(vec![unread.clone(), run], &limits);
    assert_eq!((both.verdict(), both.exit_status()), (Verdict::Miss, 1));
    assert_eq!(report(vec![unread], &limits).exit_status(), 2);
}

#[test]
fn only_the_judged_pass_is_judged() {
    let run = good()
        .measured("timer-latency", &timer("1"), &ladder(1))
        .edit(|run| {
            run.measurements[1].pass = "explain".into();
        });
    assert_eq!(judged(&run, &with("{}", PASSING), None).judged.len(), 1);
    let explain = judged(&run, &with("{pass: explain}", PASSING), None);
    assert_eq!(explain.judged.len(), 1);
    assert!(
        explain.judged[0].metric().contains("pass=explain"),
        "{}",
        explain.judged[0].metric()
    );
    let none = judged(&run, &with("{pass: armed}", PASSING), None);
    assert!(
        none.judged[0]
            .judgement
            .reason
            .contains("no measurement in pass 'armed'")
    );
}

#[test]
fn selected_samples_are_named_in_the_metric() {
    let limits = "{version: 1, limits: [{metric: 'timer-latency{phase=end}.p50', at_most: 1ms}]}";
    let none = judged(&good(), limits, None);
    assert!(none.judged[0].metric().contains("phase=end"));
    assert!(
        none.judged[0]
            .judgement
            .reason
            .contains("none of its 1000 samples")
    );
}

#[test]
fn the_virtual_board_is_never_forgotten() {
    // Said by the identity or by the measurements alone.
    let limits = with("{}", PASSING);
    let by_params = judged(
        &good().edit(|r| r.identity.virtual_board = false),
        &limits,
        None,
    );
    assert!(by_params.about.unwrap().virtual_board);
    let real = good().edit(|r| {
        r.identity.virtual_board = false;
        r.measurements[0].params.0.remove("board");
    });
    assert!(!judged(&real, &limits, None).about.unwrap().virtual_board);
}

#[test]
fn the_summary_of_the_board_is_not_believed() {
    let run = good().edit(|run| {
        run.measurements[0].summary = Some(rtperf_record::Summary {
            max_ns: 1,
            ..Default::default()
        });
    });
    assert_eq!(
        verdict_of(&judged(&run, &with("{}", MISSING), None)),
        Verdict::Miss
    );
}
