// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Judging one run: which measurements a limit is about, and what of them
//! can be used.

use crate::clean::clean;
use crate::figures::Selected;
use crate::judge::{Judgement, Verdict, judge};
use crate::limits::{Limit, Limits};
use crate::missing::explain;
use crate::notes::notes;
use crate::report::{About, Judged, RunReport, status_word};
use crate::require::{not_ok, unmet};
use rtperf_record::{Identity, Measurement, Outcome, Params, Run, RunStatus, Sample};

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
) -> RunReport {
    let mut problems = unmet(&limits.require, expect_image, run);
    let void = !problems.is_empty();
    if run.status != RunStatus::Complete {
        problems.push(format!(
            "the run is not complete ({}): measurements of its plan may be lacking; take it again",
            status_word(run.status)
        ));
    }
    let pass = &limits.require.pass;
    let mut lots: Vec<Lot> = run
        .measurements
        .iter()
        .filter(|m| m.pass == *pass)
        .map(Lot::new)
        .collect();
    let mut judged: Vec<Judged> = Vec::new();
    for limit in &limits.limits {
        judged.extend(judge_limit(limit, pass, &mut lots, read));
    }
    if void {
        judged.iter_mut().for_each(make_void);
    }
    RunReport {
        path: clean(path),
        about: Some(about(limits, run)),
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

/// A measurement and its samples, read once at most.
struct Lot<'a> {
    m: &'a Measurement,
    /// What patterns are matched against: the pass always among them.
    params: Params,
    samples: Option<Result<Vec<Sample>, String>>,
}

impl<'a> Lot<'a> {
    fn new(m: &'a Measurement) -> Lot<'a> {
        let mut params = m.params.clone();
        params.set("pass", &m.pass);
        Lot {
            m,
            params,
            samples: None,
        }
    }

    fn samples(&mut self, read: &Reader) -> Result<&[Sample], String> {
        let m = self.m;
        let samples = self.samples.get_or_insert_with(|| usable(m, read));
        samples.as_deref().map_err(Clone::clone)
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

/// Judges one limit: an entry for each bound of each measurement it matches,
/// and one that says so if it matches none.
fn judge_limit(limit: &Limit, pass: &str, lots: &mut [Lot], read: &Reader) -> Vec<Judged> {
    let path = limit.metric.path();
    let mut out = Vec::new();
    for lot in lots.iter_mut() {
        if lot.m.name != path || !lot.params.matches(&limit.metric.params) {
            continue;
        }
        out.extend(judge_lot(limit, lot, read));
    }
    if out.is_empty() {
        let available: Vec<(&str, Params)> = lots
            .iter()
            .map(|lot| (lot.m.name.as_str(), lot.params.clone()))
            .collect();
        let why = explain(&limit.metric, pass, &available);
        let entry = |bound: &_| Judged {
            pattern: limit.pattern(),
            matched: false,
            measurement: path.clone(),
            params: limit.params(&limit.metric.params),
            stat: limit.metric.stat,
            bound: *bound,
            n: None,
            judgement: Judgement::unusable(&why),
            notes: Vec::new(),
        };
        out.extend(limit.bounds.iter().map(entry));
    }
    out
}

fn judge_lot(limit: &Limit, lot: &mut Lot, read: &Reader) -> Vec<Judged> {
    let m = lot.m;
    let samples = lot.samples(read);
    let selected = samples.map(|samples| Selected::new(samples, &limit.selection));
    let entry = |bound: &_| {
        let (n, judgement, notes) = match &selected {
            Ok(s) if s.n() == 0 && !limit.selection.is_all() => {
                let why = format!(
                    "none of its {} samples is of the selected phase or task",
                    m.n
                );
                (Some(0), Judgement::unusable(why), notes(m, s))
            }
            Ok(s) => {
                let judgement = judge(s, limit.metric.stat, bound, m.expected_n);
                (Some(s.n()), judgement, notes(m, s))
            }
            Err(why) => (None, Judgement::unusable(why), Vec::new()),
        };
        Judged {
            pattern: limit.pattern(),
            matched: true,
            measurement: clean(&m.name),
            params: limit.params(&m.metric_params()),
            stat: limit.metric.stat,
            bound: *bound,
            n,
            judgement,
            notes,
        }
    };
    limit.bounds.iter().map(entry).collect()
}

impl Limit {
    /// The metric as the limits file has it, in canonical order.
    pub fn pattern(&self) -> String {
        let mut metric = self.metric.clone();
        metric.params = self.params(&metric.params);
        metric.to_string()
    }

    /// Parameters with those that select samples added, safe to show.
    fn params(&self, params: &Params) -> Params {
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
