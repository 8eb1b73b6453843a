// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The report in its four formats.

mod json;
mod junit;
mod markdown;
mod text;

pub use json::json;
pub use junit::junit;
pub use markdown::markdown;
pub use text::text;

use crate::report::{Judged, RunReport};
use rtperf_record::{Params, split_common};

/// The limits on one measurement: what all have in common is said once.
struct Group<'a> {
    measurement: &'a str,
    common: Params,
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    judged: &'a Judged,
    /// What tells its measurement from the group's others.
    own: Params,
}

impl Row<'_> {
    /// `{cpu=0}.p99`, or just `p99`.
    fn label(&self) -> String {
        let label = format!("{}.{}", self.own, self.judged.quantity());
        label.trim_start_matches('.').to_owned()
    }
}

impl Group<'_> {
    /// `timer-latency: board=virtual clock=monotonic`
    fn title(&self) -> String {
        let pairs = self.common.0.iter().map(|(k, v)| format!(" {k}={v}"));
        let pairs: String = pairs.collect();
        if pairs.is_empty() {
            return self.measurement.to_owned();
        }
        format!("{}:{pairs}", self.measurement)
    }
}

fn groups(run: &RunReport) -> Vec<Group<'_>> {
    let mut out: Vec<Group> = Vec::new();
    for judged in &run.judged {
        // A limit that matches nothing has its own parameters only.
        let own = judged.params.clone();
        let row = Row { judged, own };
        match out.iter_mut().find(|g| g.measurement == judged.measurement) {
            Some(group) => group.rows.push(row),
            None => out.push(Group {
                measurement: &judged.measurement,
                common: Params::default(),
                rows: vec![row],
            }),
        }
    }
    for group in &mut out {
        let matched = || group.rows.iter().filter(|r| r.judged.matched);
        let all: Vec<&Params> = matched().map(|r| &r.judged.params).collect();
        let (common, own) = split_common(&all);
        group.common = common;
        let matched = group.rows.iter_mut().filter(|r| r.judged.matched);
        matched.zip(own).for_each(|(row, own)| row.own = own);
    }
    out
}

/// The confidence bounds of a percentile, or nothing.
fn bounds(judged: &Judged) -> String {
    let bounds = judged.judgement.confidence.as_ref();
    bounds.map_or_else(String::new, |(lower, upper)| format!("{lower} … {upper}"))
}

/// What was measured, or a dash.
fn measured(judged: &Judged) -> String {
    judged
        .judgement
        .value
        .map_or_else(|| "–".to_owned(), |value| value.to_string())
}

/// How many samples were judged, or a dash.
fn samples(judged: &Judged) -> String {
    judged
        .n
        .map_or_else(|| "–".to_owned(), crate::figure::thousands)
}
