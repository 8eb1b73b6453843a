// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The passes of a run: `measure`, untraced, and `explain`, short and under
//! LTTng, kept apart so that no figure is taken by a disturbed board.

use crate::cli::{Domain, Pass, RunArgs};
use crate::fault::Fault;
use crate::jobs::Job;
use crate::lttng::{installed, Session};
use crate::measure::measure_all;
use crate::plan::Plan;
use crate::run_dir::RunDir;
use rtperf_probe::{stopped, ust};
use rtperf_record::{Outcome, PASS_EXPLAIN, PASS_MEASURE};

/// Where traces lie in the run directory.
const TRACE: &str = "explain/trace";

/// Which passes to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passes {
    pub measure: bool,
    pub explain: Explain,
}

/// Whether to make the pass under LTTng.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Explain {
    No,
    /// Not asked for in so many words: left out without LTTng.
    IfInstalled,
    /// Asked for: without LTTng it has failed.
    Yes,
}

impl Passes {
    pub fn of(args: &RunArgs) -> Passes {
        let none = args.trace.contains(&Domain::None);
        let explain = match (none, args.pass.is_empty()) {
            (true, _) => Explain::No,
            (false, true) => Explain::IfInstalled,
            (false, false) if args.pass.contains(&Pass::Explain) => Explain::Yes,
            (false, false) => Explain::No,
        };
        Passes {
            measure: args.pass.is_empty() || args.pass.contains(&Pass::Measure),
            explain,
        }
    }
}

/// The untraced pass.
pub fn measure(plan: &Plan, jobs: &[Job], dir: &mut RunDir) -> Result<(), Fault> {
    dir.begin_pass(PASS_MEASURE, count(jobs))?;
    measure_all(plan, jobs, PASS_MEASURE, dir)?;
    dir.end_pass(ended(), None)
}

/// The pass under LTTng, if it is to be and can be made. Whether it did what
/// was asked for.
pub fn explain(plan: &Plan, jobs: &[Job], args: &RunArgs, dir: &mut RunDir) -> Result<bool, Fault> {
    let wanted = Passes::of(args).explain;
    if wanted == Explain::No || stopped().is_some() {
        return Ok(true);
    }
    if !installed() {
        let why = "LTTng is not installed (no lttng in PATH)";
        dir.say(&format!("no explain pass: {why}"));
        dir.begin_pass(PASS_EXPLAIN, 0)?;
        dir.end_pass(Outcome::Skipped, Some(why.to_owned()))?;
        return Ok(wanted == Explain::IfInstalled);
    }
    let jobs: Vec<Job> = jobs.iter().map(Job::short).collect();
    dir.begin_pass(PASS_EXPLAIN, count(&jobs))?;
    match traced(plan, &jobs, args, dir)? {
        Ok(missing) => {
            let reason = (!missing.is_empty()).then(|| missing.join("; "));
            dir.end_pass(ended(), reason)?;
            Ok(missing.is_empty())
        }
        Err(why) => {
            dir.say(&format!("the explain pass failed: {why}"));
            dir.end_pass(Outcome::Failed, Some(why))?;
            Ok(false)
        }
    }
}

/// Measures in a session of LTTng; what had to be left out of the trace.
fn traced(
    plan: &Plan,
    jobs: &[Job],
    args: &RunArgs,
    dir: &mut RunDir,
) -> Result<Result<Vec<String>, String>, Fault> {
    let wants = |domain| args.trace.contains(&domain);
    dir.say("explain pass, under LTTng: these figures include what tracing costs");
    let output = dir.path().join(TRACE);
    let session = match Session::start(&output, wants(Domain::Kernel), wants(Domain::Ust)) {
        Ok(session) => session,
        Err(why) => {
            // Those that were not taken are planned no more.
            dir.run.planned -= count(jobs) as u32;
            return Ok(Err(why));
        }
    };
    let mut missing = session.missing.clone();
    let mut recorded = session.traced.clone();
    if recorded.iter().any(|d| d == "ust") {
        if let Err(why) = ust::load() {
            missing.push(format!("no ust events: {why}"));
            recorded.retain(|d| d != "ust");
        }
    }
    for what in &missing {
        dir.say(&format!("the trace has {what}"));
    }
    if let Some(pass) = dir.pass() {
        pass.traced = recorded;
    }
    let measured = measure_all(plan, jobs, PASS_EXPLAIN, dir);
    let stopped = session.stop();
    measured?;
    Ok(stopped.and_then(|()| dir.adopt(TRACE)).map(|()| missing))
}

fn count(jobs: &[Job]) -> usize {
    jobs.iter().map(|j| j.params.len()).sum()
}

fn ended() -> Outcome {
    match stopped() {
        None => Outcome::Done,
        Some(_) => Outcome::Interrupted,
    }
}
