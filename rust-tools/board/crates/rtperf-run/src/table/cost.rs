// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What tracing adds to the figures: one pass less the other.

use super::{words, LABEL};
use rtperf_record::{split_common, Measurement, Params, Run, PASS_EXPLAIN, PASS_MEASURE};

/// A measurement as the two passes took it, untraced and traced.
type Pair<'a> = (&'a Measurement, &'a Measurement);

/// The cost of tracing of each measurement that both passes made; `None` where
/// there is nothing to compare. What the rows of one share stands in the table
/// of figures.
pub fn cost_of_tracing(run: &Run) -> Option<String> {
    let both = run.measurements.iter().filter_map(|m| pair(run, m));
    let mut both: Vec<Pair> = both.collect();
    if both.is_empty() {
        return None;
    }
    let head = "cost of tracing in µs";
    let mut out = format!("{head:<LABEL$} {:>9} {:>9}", "p50", "p99");
    out += "  explain less measure: the tracer's, and chance; not the board's\n";
    while let Some((first, _)) = both.first() {
        let name = first.name.as_str();
        let (group, rest): (Vec<Pair>, _) = both.iter().partition(|(m, _)| m.name == name);
        let params: Vec<&Params> = group.iter().map(|(m, _)| &m.params).collect();
        out += &format!("{name}\n");
        for (pair, own) in group.iter().zip(split_common(&params).1) {
            let label = words(&own);
            let width = LABEL - 2;
            let [p50, p99] = ["p50_ns", "p99_ns"].map(|p| difference(run, *pair, p));
            out += &format!("  {label:<width$} {p50:>9} {p99:>9}\n");
        }
        both = rest;
    }
    Some(out)
}

/// Both passes' takes of a measurement, given the untraced one.
fn pair<'a>(run: &'a Run, plain: &'a Measurement) -> Option<Pair<'a>> {
    let traced = |m: &&Measurement| {
        m.pass == PASS_EXPLAIN && m.name == plain.name && m.params == plain.params
    };
    let taken = |m: &&Measurement| m.summary.is_some();
    let traced = run.measurements.iter().filter(taken).find(traced)?;
    (plain.pass == PASS_MEASURE && plain.summary.is_some()).then_some((plain, traced))
}

/// In µs; what is below one step of the clock is no difference.
fn difference(run: &Run, (plain, traced): Pair, percentile: &str) -> String {
    let value = |m: &Measurement| Some(*m.summary.as_ref()?.percentiles.get(percentile)?);
    let (Some(plain_ns), Some(traced_ns)) = (value(plain), value(traced)) else {
        return "-".to_owned();
    };
    let clock = plain.params.get("clock");
    let clock = run.clocks.iter().find(|c| Some(c.name.as_str()) == clock);
    let added = (traced_ns - plain_ns) as f64;
    if added.abs() < clock.map_or(1.0, |c| c.granularity_ns) {
        return "none".to_owned();
    }
    format!("{:+.3}", added / 1e3)
}
