// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs with known figures, judged as the command judges them.

use rtperf_card::RunDir;
use rtperf_gate::{Limits, Report, RunReport, TraceReader, judge_run};
use rtperf_record::{Check, CheckStatus, Measurement, Outcome, Run};
use rtperf_testkit::{RunBuilder, temp_dir};

/// 1000 latencies from 10 us up, in steps of `step` ns, not in order.
pub fn ladder(step: i64) -> Vec<i64> {
    (0..1_000)
        .map(|i| 10_000 + step * ((i * 7) % 1_000))
        .collect()
}

pub fn timer(cpu: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![
        ("board", "virtual"),
        ("clock", "monotonic"),
        ("cpu", cpu),
        ("idle", "as-shipped"),
        ("interval", "1ms"),
        ("load", "none"),
        ("policy", "fifo"),
        ("priority", "80"),
    ]
}

pub fn pipe(clock: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![
        ("board", "virtual"),
        ("clock", clock),
        ("cpu", "0"),
        ("idle", "as-shipped"),
        ("load", "none"),
        ("method", "pipe"),
        ("placement", "same-cpu"),
        ("policy", "fifo"),
        ("priority", "80"),
        ("task_kind", "process"),
        ("tasks", "2"),
    ]
}

/// A virtual board with a bad CPU 1, a failed check and a failed measurement.
pub fn run() -> RunBuilder {
    let check = |name: &str, status, found: &str| Check {
        name: name.into(),
        status,
        found: found.into(),
    };
    let checks = vec![
        check("preempt_rt", CheckStatus::Ok, "PREEMPT_RT"),
        check(
            "no_throttling",
            CheckStatus::Failed,
            "sched_rt_runtime_us is 950000",
        ),
        check(
            "no_steal",
            CheckStatus::Unknown,
            "/proc/stat has no steal column",
        ),
    ];
    RunBuilder::new("test-image-1.0-0f1e2d3c-001")
        .measured("timer-latency", &timer("0"), &ladder(6))
        .measured("timer-latency", &timer("1"), &ladder(60))
        .measured("context-switch", &pipe("monotonic"), &ladder(20))
        .not_measured(
            "context-switch",
            &pipe("counter"),
            Outcome::Failed,
            "cntvct_el0 is trapped",
        )
        .edit(|run: &mut Run| {
            run.checks.before = checks.clone();
            run.checks.after = checks;
            run.measurements[1].tasks[0].involuntary_switches = 3;
            run.measurements[1].tasks[0].minor_faults = 1_200;
        })
}

pub const LIMITS: &str = "\
version: 1
require: {checks: [preempt_rt]}
limits:
  - {metric: 'timer-latency.p50', at_most: 20us}
  - {metric: 'timer-latency.p99', at_most: 40us}
  - {metric: 'timer-latency{cpu=1}.p99.9', at_most: 100us}
  - {metric: 'timer-latency.lost', at_most: 0}
  - {metric: 'timer-latency{cpu=7}.max', at_most: 1ms}
  - {metric: 'context-switch{method=pipe}.p50', at_most: 20us, at_least: 1us}
  - {metric: 'context-switch{clock=monotonic}.mean', at_most: 19.9us}
";

/// Writes the run, opens it again and judges it.
pub fn judged(run: &RunBuilder, limits: &str, image: Option<&str>) -> RunReport {
    judged_with(run, limits, image, &|| Err("the run has no trace".into()))
}

/// The same with what an analysis says of its trace.
pub fn judged_with(
    run: &RunBuilder,
    limits: &str,
    image: Option<&str>,
    trace: &TraceReader,
) -> RunReport {
    let dir = temp_dir();
    let open = RunDir::open(run.write(dir.path())).unwrap();
    let limits: Limits = limits.parse().unwrap();
    let read = |m: &Measurement| {
        let samples = open.samples(m).map_err(|e| e.to_string())?;
        Ok(samples.iter().collect())
    };
    judge_run(&limits, image, "results/run", open.run(), &read, trace)
}

pub fn report(runs: Vec<RunReport>, limits: &str) -> Report {
    Report {
        limits_file: "limits.yaml".into(),
        require: limits.parse::<Limits>().unwrap().require,
        runs,
    }
}
