// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The pass `explain`: the same measurements, shorter, in a session of LTTng.
//! Whatever fails in it, the measuring pass stands.

use crate::fault::Fault;
use crate::jobs::{bytes_needed, Job};
use crate::lttng::{Session, Tools};
use crate::measure::{by_what, measure_all};
use crate::passes::{count, Explain, Work};
use crate::run_dir::RunDir;
use rtperf_board_facts::place::Place;
use rtperf_probe::stopped;
use rtperf_record::{Outcome, TracerRecord, PASS_EXPLAIN};

/// Where traces lie in the run directory.
const TRACE: &str = "explain/trace";

/// Room on the card for the events around one sample: several times what the
/// virtual board's kernel writes.
const TRACE_BYTES_A_SAMPLE: u64 = 2048;

/// What a card must have left after the pass; with less, some of the trace may
/// not have found room.
const LEFT_OVER: u64 = 64 << 10;

/// What became of the trace.
#[derive(Default)]
struct Traced {
    /// Why there is none, or not all of it.
    fault: Option<String>,
    /// What it had to do without, a sentence each.
    missing: Vec<String>,
    /// What else is to be known of it.
    remarks: Vec<String>,
}

/// Makes the pass, if it can be made. Whether it did what was asked for.
pub fn explain(work: &Work, dir: &mut RunDir) -> Result<bool, Fault> {
    if stopped().is_some() {
        dir.skip_pass(PASS_EXPLAIN, format!("not begun{}", by_what()))?;
        return Ok(false);
    }
    let Some(tools) = Tools::find() else {
        let why = "LTTng is not installed (no lttng in PATH)";
        dir.say(&format!("pass explain left out: {why}"));
        dir.skip_pass(PASS_EXPLAIN, why.to_owned())?;
        return Ok(work.passes.explain == Explain::IfInstalled);
    };
    let jobs: Vec<Job> = work.jobs.iter().map(Job::short).collect();
    dir.begin_pass(PASS_EXPLAIN, count(&jobs))?;
    dir.say("pass explain, under LTTng: these figures include what tracing costs");
    let traced = traced(work, &jobs, &tools, dir)?;
    let status = match (stopped(), &traced.fault) {
        (Some(_), _) => Outcome::Interrupted,
        (None, Some(_)) => Outcome::Failed,
        (None, None) => Outcome::Done,
    };
    if let Some(why) = &traced.fault {
        dir.say(&format!("pass explain failed: {why}"));
    }
    traced.remarks.iter().for_each(|remark| dir.say(remark));
    let good = status == Outcome::Done && traced.missing.is_empty();
    let mut reasons = traced.missing;
    reasons.extend(traced.fault);
    reasons.extend(traced.remarks);
    let reason = (!reasons.is_empty()).then(|| reasons.join("; "));
    dir.end_pass(status, reason)?;
    Ok(good)
}

/// Measures in a session of LTTng.
fn traced(work: &Work, jobs: &[Job], tools: &Tools, dir: &mut RunDir) -> Result<Traced, Fault> {
    let output = dir.path().join(TRACE);
    let begun = enough_room(work.place, jobs)
        .and_then(|()| tools.prepare())
        .and_then(|()| Session::start(tools, &output, work.passes.domains));
    let mut session = match begun {
        Ok(session) => session,
        Err(why) => {
            // Those that were not taken are planned no more.
            dir.run.planned -= count(jobs) as u32;
            let adopted = dir.adopt(TRACE);
            return Ok(Traced {
                fault: Some(adopted.map_or_else(|e| format!("{why}; {e}"), |()| why.clone())),
                ..Traced::default()
            });
        }
    };
    for what in &session.missing {
        dir.say(what);
    }
    dir.set_tracer(session.record.clone());
    let measured = measure_all(work.plan, jobs, PASS_EXPLAIN, dir);
    let ended = session.stop();
    let tracer = std::mem::take(&mut session.record);
    let missing = std::mem::take(&mut session.missing);
    // The daemon as well: after it, nobody writes to the trace.
    drop(session);
    measured?;
    let remarks = lost(&tracer);
    dir.set_tracer(tracer);
    let adopted = dir.adopt(TRACE);
    let fault = ended.and(adopted).and_then(|()| not_full(work.place));
    Ok(Traced {
        fault: fault.err(),
        missing,
        remarks,
    })
}

fn enough_room(place: &Place, jobs: &[Job]) -> Result<(), String> {
    let samples = |j: &Job| j.expected_n * j.params.len() as u64;
    let samples: u64 = jobs.iter().map(samples).sum();
    let need = bytes_needed(jobs) + samples * TRACE_BYTES_A_SAMPLE;
    place.check_space(need).map_err(|e| e.to_string())
}

fn not_full(place: &Place) -> Result<(), String> {
    let full = |_| "the card is full and the trace may be cut short: use a larger card".to_owned();
    place.check_space(LEFT_OVER).map_err(full)
}

/// What LTTng says that it could not record.
fn lost(tracer: &TracerRecord) -> Vec<String> {
    let counts = [
        (tracer.discarded_events, "events"),
        (tracer.lost_packets, "packets"),
    ];
    let sentence = |(count, what)| match count {
        Some(0) => None,
        Some(n) => Some(format!(
            "LTTng lost {n} {what}, for which its buffers had no room"
        )),
        None => Some(format!("LTTng does not tell how many {what} it lost")),
    };
    counts.into_iter().filter_map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_told_and_so_is_not_knowing() {
        let tracer = |discarded_events, lost_packets| TracerRecord {
            discarded_events,
            lost_packets,
            ..TracerRecord::default()
        };
        assert!(lost(&tracer(Some(0), Some(0))).is_empty());
        let said = lost(&tracer(Some(12), Some(0)));
        assert!(said.len() == 1 && said[0].contains("lost 12 events"));
        assert_eq!(lost(&tracer(None, None)).len(), 2);
    }
}
