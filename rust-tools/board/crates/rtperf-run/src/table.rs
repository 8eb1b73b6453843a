// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tables for the terminal.

use rtperf_record::{
    split_common, Check, CheckStatus, Measurement, Outcome, Params, Run, TaskRecord,
};

mod cost;

pub use cost::cost_of_tracing;

/// Said wherever figures of the virtual board are shown.
const VIRTUAL: &str = "virtual board: these figures compare builds of one image with each other \
and say nothing of any real board";

const COLUMNS: [&str; 6] = ["min", "mean", "p50", "p99", "p99.9", "max"];

/// Room for the parameters that tell rows apart.
const LABEL: usize = 30;

/// The run's figures, in µs: what all share is said once above, what the rows
/// of one measurement share beside its name.
pub fn results(run: &Run) -> String {
    let all: Vec<_> = run
        .measurements
        .iter()
        .map(Measurement::metric_params)
        .collect();
    let (common, own) = split_common(&all.iter().collect::<Vec<_>>());
    let mut out = String::new();
    if !common.0.is_empty() {
        out += &format!("all with {}\n", words(&common));
    }
    out += &format!("{:<LABEL$}{:>9}", "latency in µs", "n");
    COLUMNS.iter().for_each(|c| out += &format!(" {c:>9}"));
    out.push('\n');
    let mut start = 0;
    while start < own.len() {
        let Measurement { name, pass, .. } = &run.measurements[start];
        let same = run.measurements[start..]
            .iter()
            .take_while(|m| m.name == *name && m.pass == *pass)
            .count();
        let (shared, rest) = split_common(&own[start..start + same].iter().collect::<Vec<_>>());
        out += &format!("{name}  {}\n", words(&shared));
        for (m, params) in run.measurements[start..].iter().zip(&rest) {
            out += &format!("  {:<width$}{}\n", words(params), row(m), width = LABEL - 2);
        }
        start += same;
    }
    if run.identity.virtual_board {
        out += VIRTUAL;
        out.push('\n');
    }
    out
}

fn words(params: &Params) -> String {
    let words: Vec<String> = params.0.iter().map(|(k, v)| format!("{k}={v}")).collect();
    words.join(" ")
}

fn row(m: &Measurement) -> String {
    let Some(s) = &m.summary else {
        return doubts(m).trim_start().to_owned();
    };
    let percentile = |p: &str| s.percentiles.get(&format!("{p}_ns")).map(|v| *v as f64);
    let mut out = format!("{:>9}", m.n);
    for column in COLUMNS {
        let value = match column {
            "min" => Some(s.min_ns as f64),
            "mean" => Some(s.mean_ns),
            "max" => Some(s.max_ns as f64),
            p => percentile(p),
        };
        match value {
            Some(ns) => out += &format!(" {:>9.3}", ns / 1e3),
            None => out += &format!(" {:>9}", "-"),
        }
    }
    out + &doubts(m)
}

/// What makes a figure doubtful, or why there is none, to stand beside it.
fn doubts(m: &Measurement) -> String {
    let mut out = match m.status {
        Outcome::Done => String::new(),
        Outcome::Failed => "  failed".into(),
        Outcome::Skipped => "  skipped".into(),
        Outcome::Interrupted => "  interrupted".into(),
    };
    if let Some(reason) = &m.reason {
        out += &format!(": {reason}");
    }
    let sum = |f: fn(&TaskRecord) -> u64| m.tasks.iter().map(f).sum::<u64>();
    let counts = [
        (sum(|t| t.minor_faults + t.major_faults), "page faults"),
        (sum(|t| t.allocations), "allocations"),
        (m.summary.as_ref().map_or(0, |s| s.overruns), "overruns"),
    ];
    for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
        out += &format!("  {count} {what}");
    }
    out
}

/// A measurement that has just ended, in a line.
pub fn one_line(m: &Measurement) -> String {
    let own = m
        .params
        .get("cpu")
        .map_or(String::new(), |cpu| format!(" CPU {cpu}"));
    match &m.summary {
        None => format!("     {}{own}  {}", m.name, row(m)),
        Some(s) => format!(
            "     {}{own}  n {}  median {:.3}  max {:.3} µs{}",
            m.name,
            m.n,
            s.median_ns as f64 / 1e3,
            s.max_ns as f64 / 1e3,
            doubts(m)
        ),
    }
}

/// Checks, one a line.
pub fn checks(checks: &[Check]) -> String {
    let width = checks.iter().map(|c| c.name.len()).max().unwrap_or(0);
    let line = |c: &Check| {
        let status = match c.status {
            CheckStatus::Ok => "ok",
            CheckStatus::Failed => "FAILED",
            CheckStatus::Unknown => "unknown",
        };
        format!("{status:<8} {:<width$}  {}\n", c.name, c.found)
    };
    checks.iter().map(line).collect()
}

#[cfg(test)]
mod tests;
