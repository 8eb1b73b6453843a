// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The public reference trace of 16 CPUs: the same figures as lttng-analyses.
//!
//! Read from the folder that RTPERF_TRACES names: 16-cores-rt.tar.xz and what
//! lttng-irqstats and lttng-schedstats say of it.

use rtperf_analysis::{Summary, analyze};
use std::path::PathBuf;

/// Of each line that has a number between the marks: that number, and n, min,
/// mean and max in us behind the last mark.
fn figures(text: &str, before: &str, open: &str, close: &str) -> Vec<(i64, u64, [f64; 3])> {
    let line = |l: &str| {
        let (head, rest) = l.split_once(open)?;
        let (inside, rest) = rest.split_once(close)?;
        let number = if before.is_empty() {
            inside
        } else {
            head.strip_suffix(before)?
        };
        let mut words = rest.split_whitespace();
        let n = words.next()?.parse().ok()?;
        let mut figure = || words.next()?.parse::<f64>().ok();
        Some((
            number.trim().parse().ok()?,
            n,
            [figure()?, figure()?, figure()?],
        ))
    };
    text.lines().filter_map(line).collect()
}

/// The same to the last printed digit.
fn near(ours: f64, theirs: f64) -> bool {
    (ours / 1e3 - theirs).abs() < 0.000_6
}

#[test]
fn the_reference_trace_as_lttng_analyses_sees_it() {
    let Some(folder) = std::env::var_os("RTPERF_TRACES").map(PathBuf::from) else {
        eprintln!("skipped: RTPERF_TRACES names no folder of traces");
        return;
    };
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let archive = folder.join("16-cores-rt.tar.xz");
    let unpacked = std::process::Command::new("tar")
        .arg("-xf")
        .arg(&archive)
        .arg("-C")
        .arg(dir.path())
        .status();
    assert!(unpacked.unwrap().success());
    let a = analyze(dir.path(), &Default::default()).unwrap();

    let irqs = figures(&read("16-cores-rt.lttng-irqstats.txt"), ": ", "<", ">");
    assert_eq!((irqs.len(), a.irqs.len()), (9, 9));
    for (number, n, f) in irqs {
        let exec = a
            .irqs
            .iter()
            .find(|h| h.number == number as u64)
            .and_then(|h| h.exec)
            .unwrap();
        same(&format!("IRQ {number}"), &exec, n, f);
    }

    let threads = figures(&read("16-cores-rt.lttng-schedstats.txt"), "", "(", ")");
    let mut differ = vec![];
    for (tid, n, f) in &threads {
        let thread = a.threads.iter().find(|t| t.tid == *tid).unwrap();
        let w = thread.wakeup.unwrap();
        assert_eq!(w.n, *n, "{} ({tid})", thread.comm);
        if !(near(w.mean_ns, f[1]) && near(w.min_ns as f64, f[0]) && near(w.max_ns as f64, f[2])) {
            differ.push(*tid);
        }
    }
    assert!(threads.len() > 80, "{}", threads.len());
    // These three were woken while they were still leaving a CPU. We count
    // from sched_waking as for every other wake-up; lttng-analyses forgets
    // that and counts from the sched_wakeup that follows.
    assert_eq!(differ, [13039, 13040, 13024]);
}

fn same(what: &str, s: &Summary, n: u64, [min, mean, max]: [f64; 3]) {
    assert_eq!(s.n, n, "{what}");
    let ours = [s.min_ns as f64, s.mean_ns, s.max_ns as f64];
    for (ours, theirs) in ours.into_iter().zip([min, mean, max]) {
        assert!(near(ours, theirs), "{what}: {ours} ns, {theirs} us");
    }
}
