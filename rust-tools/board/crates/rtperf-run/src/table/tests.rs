// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use rtperf_record::{ClockInfo, Params, Summary};

fn measurement(cpu: u32) -> Measurement {
    let mut params = Params::default();
    params.set("load", "none").set("cpu", cpu);
    Measurement {
        name: "timer-latency".into(),
        params,
        pass: "measure".into(),
        status: Outcome::Done,
        reason: None,
        file: None,
        sha256: None,
        n: 10_000,
        expected_n: 10_000,
        duration_ns: 1,
        summary: Some(Summary {
            min_ns: -1_500,
            mean_ns: 10_100.4,
            max_ns: 20_000,
            percentiles: [("p50_ns".to_owned(), 10_000)].into_iter().collect(),
            overruns: 3,
            ..Summary::default()
        }),
        tasks: vec![TaskRecord {
            minor_faults: 2,
            ..TaskRecord::default()
        }],
    }
}

fn run(measurements: Vec<Measurement>, virtual_board: bool) -> Run {
    let mut run = crate::run_dir::empty_run();
    run.identity.virtual_board = virtual_board;
    run.measurements = measurements;
    run
}

#[test]
fn figures_doubts_and_the_virtual_board_all_show() {
    let mut failed = measurement(1);
    failed.status = Outcome::Failed;
    failed.reason = Some("CPU 1 is not online".into());
    failed.summary = None;
    failed.tasks.clear();
    let text = results(&run(vec![measurement(0), failed], true));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "all with load=none");
    assert!(lines[1].starts_with("latency in µs"));
    assert_eq!(lines[2].trim_end(), "timer-latency");
    let figures = "    -1.500    10.100    10.000         -         -    20.000";
    let row = format!("  cpu=0                           10000{figures}");
    assert_eq!(lines[3], format!("{row}  2 page faults  3 overruns"));
    assert!(row.chars().count() <= 100);
    assert!(lines[4].starts_with("  cpu=1 "));
    assert!(lines[4].ends_with("failed: CPU 1 is not online"));
    assert!(lines[5].starts_with("virtual board:"));
    assert!(!results(&run(vec![measurement(0)], false)).contains("virtual"));
}

#[test]
fn an_empty_run_is_an_empty_table() {
    assert_eq!(results(&run(vec![], false)).lines().count(), 1);
}

/// A measurement of `pass` whose p50 and p99 are these, in ns.
fn taken(cpu: u32, pass: &str, p50: i64, p99: Option<i64>) -> Measurement {
    let mut m = measurement(cpu);
    m.pass = pass.into();
    m.params.set("clock", "monotonic");
    let p99 = p99.map(|ns| ("p99_ns".to_owned(), ns));
    let percentiles = [("p50_ns".to_owned(), p50)].into_iter().chain(p99);
    let summary = m.summary.as_mut().unwrap();
    summary.percentiles = percentiles.collect();
    m
}

#[test]
fn tracing_costs_what_one_pass_has_over_the_other() {
    let mut missing = taken(3, "explain", 1, None);
    missing.summary = None;
    let mut run = run(
        vec![
            taken(0, "measure", 10_000, Some(20_000)),
            taken(1, "measure", 10_000, Some(20_000)),
            taken(3, "measure", 10_000, Some(20_000)),
            taken(0, "explain", 12_500, None),
            taken(1, "explain", 10_009, Some(19_000)),
            taken(2, "explain", 10_000, Some(20_000)),
            missing,
        ],
        false,
    );
    run.clocks.push(ClockInfo {
        name: "monotonic".into(),
        granularity_ns: 10.0,
        read_cost_ns: 20.0,
        frequency_hz: None,
        frequency_source: None,
    });
    let text = cost_of_tracing(&run).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].starts_with("cost of tracing in µs") && lines[0].contains("not the board's"));
    assert_eq!(lines[1], "timer-latency");
    assert_eq!(
        lines[2],
        format!("  {:<28} {:>9} {:>9}", "cpu=0", "+2.500", "-")
    );
    assert_eq!(
        lines[3],
        format!("  {:<28} {:>9} {:>9}", "cpu=1", "none", "-1.000")
    );
    // The passes stand apart, though the last measurement of one is the first
    // of the other.
    let table = results(&run);
    assert_eq!(table.matches("\ntimer-latency").count(), 2, "{table}");
    run.measurements.retain(|m| m.pass == "measure");
    assert_eq!(cost_of_tracing(&run), None);
}
