// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Measuring job after job, and entering each in the run at once.

use crate::fault::Fault;
use crate::jobs::{Job, Kind};
use crate::plan::{Load, Plan};
use crate::run_dir::RunDir;
use crate::summary::{flag_throttled, summarize};
use crate::table;
use rtperf_board_facts::settings::throttle_pause_ns;
use rtperf_board_facts::Root;
use rtperf_probe::{
    check_task, daq, pipe_switch, stopped, timer_latency, ust, Competitor, ProbeError, RunningLoad,
    Sampled, StopCause, TaskSetup,
};
use rtperf_record::{Measurement, Outcome, Params};

/// Measures every job of a pass; each one is on the card before the next begins.
pub fn measure_all(plan: &Plan, jobs: &[Job], pass: &str, dir: &mut RunDir) -> Result<(), Fault> {
    let pause = throttle_pause_ns(&Root::default());
    for (i, job) in jobs.iter().enumerate() {
        dir.say(&format!("[{}/{}] {}", i + 1, jobs.len(), job.title()));
        let mut job = job.clone();
        if stopped().is_none() {
            drop_impossible(dir, pass, &mut job);
        }
        let results = match stopped() {
            // Every CPU was impossible, and has been entered as such.
            None if job.params.is_empty() => Ok(Vec::new()),
            None => {
                trace(&job);
                let results = measure(plan, &job);
                ust::deactivate();
                results
            }
            Some(_) => Err(ProbeError(String::new())),
        };
        match results {
            Ok(all) => {
                for (params, sampled) in job.params.iter().zip(all) {
                    keep(dir, pass, &job, params, sampled, pause);
                }
            }
            Err(why) => job
                .params
                .iter()
                .for_each(|p| give_up(dir, pass, &job, p, &why)),
        }
        dir.checkpoint()?;
    }
    Ok(())
}

/// Lets the job emit events, where a pass has loaded the provider of them. What
/// is far over a short pass's own median is worth an event of its own, but the
/// bound must be known before; the plan's period or nothing is.
fn trace(job: &Job) {
    let traced = |params: &Params| ust::Traced {
        measurement: params
            .file_name(job.name)
            .trim_end_matches(".npy")
            .to_owned(),
        bound_ns: job.bound_ns(),
    };
    let traced: Vec<ust::Traced> = job.params.iter().map(traced).collect();
    // File names hold no NUL, the only thing that is refused.
    let _ = ust::activate(&traced);
}

/// Takes CPUs on which no such task can run out of a per-CPU job, so that the
/// others are measured, and enters each with its reason.
fn drop_impossible(dir: &mut RunDir, pass: &str, job: &mut Job) {
    let Kind::Timer(timer) = &mut job.kind else {
        return;
    };
    let tasks = std::mem::take(&mut timer.tasks);
    let params = std::mem::take(&mut job.params);
    let mut impossible = Vec::new();
    for (task, params) in tasks.into_iter().zip(params) {
        match check_task(task) {
            Ok(()) => {
                timer.tasks.push(task);
                job.params.push(params);
            }
            Err(why) => impossible.push((params, why)),
        }
    }
    for (params, why) in impossible {
        give_up(dir, pass, job, &params, &why);
    }
}

/// Runs one job under the plan's load.
fn measure(plan: &Plan, job: &Job) -> Result<Vec<Sampled>, ProbeError> {
    let competitor = |l: &Load| Competitor {
        setup: TaskSetup {
            cpu: l.cpu,
            policy: l.policy.into(),
            priority: l.priority,
        },
        busy_ns: l.busy,
        period_ns: l.period,
    };
    let competitors: Vec<Competitor> = plan.load.iter().map(competitor).collect();
    let _load = RunningLoad::start(&competitors)?;
    match &job.kind {
        Kind::Timer(t) => timer_latency::measure(t),
        Kind::Pipe(p) => pipe_switch::measure(p).map(|s| vec![s]),
        Kind::Daq(d) => daq::measure(&d.ready()?),
    }
}

/// Stores what was sampled and enters it in the run.
fn keep(
    dir: &mut RunDir,
    pass: &str,
    job: &Job,
    params: &Params,
    sampled: Sampled,
    pause: Option<i64>,
) {
    let mut samples = sampled.samples;
    flag_throttled(&mut samples, pause);
    let n = samples.as_slice().len() as u64;
    let mut entry = entry(pass, job, params, Outcome::Done);
    entry.n = n;
    entry.duration_ns = sampled.duration_ns;
    entry.tasks = sampled.tasks;
    entry.expected_n = sampled.expected_n.unwrap_or(job.expected_n);
    if n < job.expected_n {
        let why = sampled
            .cut_short
            .map_or(by_what().to_owned(), |why| format!(": {why}"));
        entry.status = Outcome::Interrupted;
        entry.reason = Some(format!(
            "ended after {n} of {} samples{why}",
            job.expected_n
        ));
    }
    match dir.store(pass, job.name, params, &samples) {
        Ok((file, sha256)) => {
            entry.file = Some(file);
            entry.sha256 = Some(sha256);
            let lap = entry.tasks.len();
            entry.summary = summarize(&mut samples, lap);
        }
        Err(why) => {
            entry.status = Outcome::Failed;
            entry.n = 0;
            entry.reason = Some(why);
        }
    }
    dir.say(&table::one_line(&entry));
    dir.run.measurements.push(entry);
}

/// Enters a measurement that yielded nothing.
fn give_up(dir: &mut RunDir, pass: &str, job: &Job, params: &Params, why: &ProbeError) {
    let mut entry = entry(pass, job, params, Outcome::Failed);
    entry.reason = Some(why.0.clone());
    if stopped().is_some() {
        entry.status = Outcome::Skipped;
        entry.reason = Some(format!("not begun{}", by_what()));
    }
    dir.say(&table::one_line(&entry));
    dir.run.measurements.push(entry);
}

pub fn by_what() -> &'static str {
    match stopped() {
        Some(StopCause::Signal) => ": interrupted",
        Some(StopCause::Deadline) => ": the plan's deadline had come",
        None => "",
    }
}

fn entry(pass: &str, job: &Job, params: &Params, status: Outcome) -> Measurement {
    Measurement {
        name: job.name.to_owned(),
        params: params.clone(),
        pass: pass.to_owned(),
        status,
        reason: None,
        file: None,
        sha256: None,
        n: 0,
        expected_n: job.expected_n,
        duration_ns: 0,
        summary: None,
        tasks: Vec::new(),
    }
}
