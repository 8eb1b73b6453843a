// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Judging one run: which measurements a limit is about, and what of them
//! can be used.

use crate::clean::clean;
use crate::figures::Selected;
use crate::judge::{Judgement, Verdict, judge};
use crate::limits::{Bound, Limit, Limits, Selection};
use crate::missing::explain;
use crate::notes::notes;
use crate::report::{About, Judged, RunReport, status_word};
use crate::require::{not_ok, unmet};
use crate::trace::{TraceReader, is_trace, judge_trace, split};
use rtperf_record::{Identity, Measurement, Outcome, Params, Run, RunStatus, Sample};
use std::collections::BTreeMap;

/// Reads the samples of a measurement and checks them against what run.json
/// says of their file; the error is a sentence that names the file.
pub type Reader<'a> = dyn Fn(&Measurement) -> Result<Vec<Sample>, String> + 'a;

/// Judges a run that could be opened.
pub fn judge_run(
    limits: &Limits,
    expect_image: Option<&str>,
    path: &str,
    run: &Run,
    read: &Reader,
    trace: &TraceReader,
) -> RunReport {
    let mut problems = unmet(&limits.require, expect_image, run);
    let void = !problems.is_empty();
    if run.status != RunStatus::Complete {
        problems.push(format!(
            "the run is not complete ({}): measurements of its plan may be lacking; take it again",
            status_word(run.status)
        ));
    }
    let about = about(limits, run);
    let mut found = judge_limits(limits, run, read);
    let of_trace = limits.limits.iter().enumerate();
    let of_trace: Vec<_> = of_trace.filter(|(_, l)| is_trace(l)).collect();
    let lost = limits.require.lost_events;
    found.extend(judge_trace(&of_trace, lost, about.virtual_board, trace));
    // In the order of the limits file.
    found.sort_by_key(|(at, _)| *at);
    let mut judged: Vec<Judged> = found.into_iter().map(|(_, judged)| judged).collect();
    if void {
        judged.iter_mut().for_each(make_void);
    }
    RunReport {
        path: clean(path),
        about: Some(about),
        problems,
        judged,
    }
}

/// A run that cannot be opened: `why` is a sentence that names its path.
pub fn unreadable(path: &str, why: &str) -> RunReport {
    RunReport {
        path: clean(path),
        about: None,
        problems: vec![clean(why)],
        judged: Vec::new(),
    }
}

fn about(limits: &Limits, run: &Run) -> About {
    let text = |t: &Option<String>| t.as_deref().map(clean);
    let i = &run.identity;
    let says_virtual = |m: &Measurement| m.params.get("board") == Some("virtual");
    About {
        id: clean(&run.id),
        status: run.status,
        instrumented: run.instrumented,
        virtual_board: i.virtual_board || run.measurements.iter().any(says_virtual),
        identity: Identity {
            image: clean(&i.image),
            model: text(&i.model),
            serial: text(&i.serial),
            architecture: clean(&i.architecture),
            boot_id: text(&i.boot_id),
            kernel_release: clean(&i.kernel_release),
            kernel_version: clean(&i.kernel_version),
            ..i.clone()
        },
        checks: not_ok(&limits.require, run),
    }
}

/// The samples of a measurement, if it was done and they are all there.
fn usable(m: &Measurement, read: &Reader) -> Result<Vec<Sample>, String> {
    let because = || {
        m.reason
            .as_deref()
            .map_or_else(String::new, |r| format!(": {}", clean(r)))
    };
    match m.status {
        Outcome::Done => {}
        Outcome::Failed => return Err(format!("the measurement failed{}", because())),
        Outcome::Skipped => return Err(format!("the measurement was skipped{}", because())),
        Outcome::Interrupted => {
            return Err(format!("the measurement was interrupted{}", because()));
        }
    }
    read(m).map_err(|why| clean(&why))
}

/// Judges all limits on measurements, each with its index. One measurement's
/// samples are in memory at a time.
fn judge_limits(limits: &Limits, run: &Run, read: &Reader) -> Vec<(usize, Judged)> {
    let pass = &limits.require.pass;
    let mut available: Vec<(&str, Params)> = Vec::new();
    let mut found: Vec<(usize, Judged)> = Vec::new();
    for m in run.measurements.iter().filter(|m| m.pass == *pass) {
        // Patterns may name the pass, which is left out of metric names where
        // it is the measuring one.
        let mut params = m.params.clone();
        params.set("pass", pass);
        let matching = |(_, limit): &(usize, &Limit)| {
            !is_trace(limit)
                && limit.metric.path() == m.name
                && params.matches(&limit.metric.params)
        };
        let matching: Vec<_> = limits.limits.iter().enumerate().filter(matching).collect();
        found.extend(judge_measurement(&matching, m, read));
        available.push((&m.name, params));
    }
    let measured = limits.limits.iter().enumerate();
    for (at, limit) in measured.filter(|(_, limit)| !is_trace(limit)) {
        if !found.iter().any(|(of, _)| *of == at) {
            let why = explain(
                &limit.metric,
                "the run has no measurement",
                pass,
                &available,
            );
            let unmatched = limit
                .bounds
                .iter()
                .map(|b| (at, Judged::unmatched(limit, b, &why)));
            found.extend(unmatched);
        }
    }
    found
}

/// Judges one measurement by the limits that match it, given with their index.
fn judge_measurement(
    limits: &[(usize, &Limit)],
    m: &Measurement,
    read: &Reader,
) -> Vec<(usize, Judged)> {
    if limits.is_empty() {
        return Vec::new();
    }
    let samples = usable(m, read);
    let mut sorted: BTreeMap<&Selection, Selected> = BTreeMap::new();
    let mut out = Vec::new();
    for (at, limit) in limits {
        for bound in &limit.bounds {
            let (n, judgement, notes) = match &samples {
                Ok(samples) => {
                    let selection = &limit.selection;
                    let new = || Selected::new(samples, selection);
                    let selected = sorted.entry(selection).or_insert_with(new);
                    let judgement = judge_selected(limit, bound, selected, m);
                    (Some(selected.n()), judgement, notes(m, selected))
                }
                Err(why) => (None, Judgement::unusable(why), Vec::new()),
            };
            let judged = Judged {
                pattern: limit.pattern(),
                matched: true,
                measurement: clean(&m.name),
                params: limit.params(&m.metric_params()),
                part: None,
                stat: limit.metric.stat,
                bound: *bound,
                n,
                judgement,
                notes,
            };
            out.push((*at, judged));
        }
    }
    out
}

fn judge_selected(limit: &Limit, bound: &Bound, selected: &Selected, m: &Measurement) -> Judgement {
    if selected.n() == 0 && !limit.selection.is_all() {
        let why = format!(
            "none of its {} samples is of the selected phase or task",
            m.n
        );
        return Judgement::unusable(why);
    }
    judge(selected, limit.metric.stat, bound, m.expected_n)
}

impl Judged {
    /// The entry of a limit that matches nothing.
    pub fn unmatched(limit: &Limit, bound: &Bound, why: &str) -> Judged {
        let path = limit.metric.path();
        let (measurement, part) = split(&path);
        Judged {
            pattern: limit.pattern(),
            matched: false,
            measurement: measurement.to_owned(),
            params: limit.params(&limit.metric.params),
            part: part.map(str::to_owned),
            stat: limit.metric.stat,
            bound: *bound,
            n: None,
            judgement: Judgement::unusable(why),
            notes: Vec::new(),
        }
    }
}

impl Limit {
    /// The metric as the limits file has it, in canonical order.
    pub fn pattern(&self) -> String {
        let mut metric = self.metric.clone();
        metric.params = self.params(&metric.params);
        metric.to_string()
    }

    /// Parameters with those that select samples added, safe to show.
    pub fn params(&self, params: &Params) -> Params {
        let clean = |(k, v): (&String, &String)| (clean(k), clean(v));
        let mut out = Params(params.0.iter().map(clean).collect());
        for (key, value) in self.selection.pairs() {
            out.set(key, value);
        }
        out
    }
}

/// The run is not what it must be: what is seen proves nothing.
fn make_void(judged: &mut Judged) {
    let verdict = &mut judged.judgement.verdict;
    if *verdict != Verdict::Unusable {
        *verdict = Verdict::Unusable;
        judged.judgement.reason = "the run is not what is required".to_owned();
    }
}
