// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;
use rtperf_record::{Params, Summary};

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
