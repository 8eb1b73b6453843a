// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Executing a plan.

use crate::cli::RunArgs;
use crate::fault::{Fault, EXIT_INTERRUPTED, EXIT_PARTLY, EXIT_UNUSABLE};
use crate::jobs::{bytes_needed, jobs, Job};
use crate::passes::{self, Passes, Work};
use crate::plan::{Idle, Plan, RtThrottling};
use crate::run_dir::{empty_run, RunDir};
use crate::table;
use rtperf_board_facts::checks::{self, Baseline};
use rtperf_board_facts::place::{new_run_dir, Place};
use rtperf_board_facts::settings::{Settings, Wanted};
use rtperf_board_facts::{identity, Root};
use rtperf_probe::{clock_info, lock_memory, online_cpus, stopped, Clock, StopCause};
use rtperf_record::{Check, CheckStatus, Measurement, Outcome, RunStatus, Trigger};

/// How a run ended.
pub struct Ended {
    pub id: String,
    pub exit: u8,
}

/// Measures everything in the plan and leaves a run directory in `place`.
pub fn run(plan: &Plan, args: &RunArgs, place: &Place) -> Result<Ended, Fault> {
    let passes = Passes::of(args)?;
    let root = Root::default();
    lock_memory().map_err(Fault::unusable)?;
    let cpus = online_cpus().map_err(Fault::unusable)?;
    let identity = identity::read(&root);
    let jobs = jobs(plan, &cpus, identity.virtual_board);
    permission(&jobs)?;
    place
        .check_space(bytes_needed(&jobs))
        .map_err(Fault::unusable)?;
    let wanted = Wanted {
        rt_throttling_off: plan.settings.rt_throttling == RtThrottling::Off,
        idle_pinned: plan.settings.idle == Idle::Pinned,
    };
    // Put back when dropped, whichever way this ends.
    let mut settings = Settings::apply(&root, wanted).map_err(Fault::unusable)?;
    let baseline = Baseline::take(&root);
    let mut run = empty_run();
    run.checks.before = checks::read(&root);
    if args.strict {
        strict(&run.checks.before, "nothing was measured")?;
    }
    if args.autorun {
        run.trigger = Trigger::Autorun;
    }
    run.settings_changed = settings.changed();
    run.instrumented = identity::instrumented(&root, &identity.kernel_release);
    run.plan = serde_json::to_value(plan).map_err(Fault::unusable)?;
    run.clocks = Clock::ALL.into_iter().filter_map(clock_info).collect();
    let boot_id = identity.boot_id.as_deref();
    let (id, path) =
        new_run_dir(place.path(), &identity.image, boot_id).map_err(Fault::unusable)?;
    run.id = id.clone();
    run.identity = identity;
    let mut dir = RunDir::begin(path, run)?;
    dir.say(&format!("run {id}"));
    dir.say(&format!("in  {} ({})", dir.path().display(), place.how()));
    let work = Work {
        plan,
        jobs: &jobs,
        passes,
        place,
    };
    let measured = passes::measure(&work, &mut dir);
    // Before tracing: the checks are about the figures that count.
    dir.run.checks.after = checks::read_after(&root, &baseline);
    let explained = measured.and_then(|()| passes::explained(&work, &mut dir));
    dir.run.settings_changed = settings.restore();
    for complaint in settings.complaints() {
        dir.say(&format!("warning: {complaint}"));
    }
    let explained = explained?;
    finish(dir, args.strict, explained, id)
}

/// Whether any task of the plan may run at all: without the permission
/// nothing could be measured, and that is said before anything is written.
fn permission(jobs: &[Job]) -> Result<(), Fault> {
    let mut last = None;
    for setup in jobs.iter().flat_map(Job::setups) {
        match rtperf_probe::check_task(setup) {
            Ok(()) => return Ok(()),
            Err(e) => last = Some(e),
        }
    }
    last.map_or(Ok(()), |e| {
        Err(Fault::unusable(format!("nothing can be measured: {e}")))
    })
}

fn strict(checks: &[Check], consequence: &str) -> Result<(), Fault> {
    let failed: Vec<&str> = checks
        .iter()
        .filter(|c| c.status == CheckStatus::Failed)
        .map(|c| c.name.as_str())
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(Fault::unusable(format!(
        "--strict: {consequence}, because these checks failed: {}; `rtperf-run check` explains",
        failed.join(", ")
    )))
}

/// Closes the run directory, prints the table and decides the exit status.
fn finish(
    mut dir: RunDir,
    strict_checks: bool,
    explained: bool,
    id: String,
) -> Result<Ended, Fault> {
    let after = dir.run.checks.after.clone();
    let failed: Vec<_> = [&dir.run.checks.before, &after]
        .into_iter()
        .flatten()
        .collect();
    let failed: Vec<_> = failed
        .into_iter()
        .filter(|c| c.status == CheckStatus::Failed)
        .cloned()
        .collect();
    dir.say(&format!("\n{}", table::results(&dir.run)));
    if let Some(cost) = table::cost_of_tracing(&dir.run) {
        dir.say(&cost);
    }
    if !failed.is_empty() {
        dir.say("checks that failed:");
        dir.say(&table::checks(&deduplicated(failed)));
    }
    dir.finish(match stopped() {
        None => RunStatus::Complete,
        Some(_) => RunStatus::Interrupted,
    })?;
    crate::print_line(&format!("results: {}", dir.path().display()));
    if strict_checks {
        strict(&after, "the figures are kept but not to be used").map_err(|f| Fault {
            exit: EXIT_PARTLY,
            ..f
        })?;
    }
    let done = |m: &Measurement| m.status == Outcome::Done;
    let exit = match stopped() {
        Some(StopCause::Signal) => EXIT_INTERRUPTED,
        _ if explained && dir.run.measurements.iter().all(done) => 0,
        _ if dir.run.measurements.iter().any(|m| m.n > 0) => EXIT_PARTLY,
        _ => EXIT_UNUSABLE,
    };
    Ok(Ended { id, exit })
}

fn deduplicated(mut checks: Vec<Check>) -> Vec<Check> {
    checks.sort_by(|a, b| (&a.name, &a.found).cmp(&(&b.name, &b.found)));
    checks.dedup();
    checks
}
