// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `timer-latency`: how late a task wakes from a timer, as cyclictest
//! measures it (rt-tests), on several CPUs at once.
//!
//! Deadlines are absolute and equally spaced on CLOCK_MONOTONIC. A sample is
//! the time at which the task runs again minus its deadline. A task that is
//! late by more than a period does not skip the deadlines it missed: each
//! one gets its sample, flagged as an overrun, as an open-loop measurement
//! must (no coordinated omission).

use crate::clock::now_ns;
use crate::memory::TASK_STACK;
use crate::task::{TaskSetup, Usage};
use crate::ust::{Emitter, Trace, Untraced};
use crate::{block_signals_here, stop, ProbeError, SampleBuffer, Sampled};
use rtperf_record::{flags, Sample};
use std::sync::mpsc::{channel, Sender};
use std::thread::JoinHandle;

/// What to measure.
#[derive(Debug, Clone)]
pub struct TimerLatency {
    /// One task each; every task on a CPU of its own.
    pub tasks: Vec<TaskSetup>,
    pub interval_ns: i64,
    pub rounds: u32,
    /// Wake-ups before the first sample, not kept.
    pub warm_up: u32,
}

/// Time between everybody's being ready and the first deadline.
const LEAD_NS: i64 = 20_000_000;

/// Measures; the results stand in the order of the tasks. The tasks' phases
/// are spread evenly over the interval, so that they do not wake all at once.
pub fn measure(plan: &TimerLatency) -> Result<Vec<Sampled>, ProbeError> {
    let tasks = start_all(plan)?;
    let spread = plan.interval_ns / tasks.len().max(1) as i64;
    let first = now_ns(libc::CLOCK_MONOTONIC) + LEAD_NS;
    for (i, task) in tasks.iter().enumerate() {
        // A task that has died meanwhile is found out below.
        let _ = task.go.send(first + spread * i as i64);
    }
    let died = |_| Err(ProbeError("a sampling task died".into()));
    let join = |t: Task| t.thread.join().unwrap_or_else(died);
    // Wait for every task before any error is returned: none may go on alone.
    let results: Vec<_> = tasks.into_iter().map(join).collect();
    results.into_iter().collect()
}

/// A task that is set up and waits for its first deadline. Dropping it
/// unused ends it.
struct Task {
    go: Sender<i64>,
    thread: JoinHandle<Result<Sampled, ProbeError>>,
}

fn start_all(plan: &TimerLatency) -> Result<Vec<Task>, ProbeError> {
    let _blocked = block_signals_here();
    let mut tasks = Vec::new();
    for (i, setup) in plan.tasks.iter().copied().enumerate() {
        let trace = Emitter::of(i, None);
        let samples = SampleBuffer::new(plan.rounds.max(plan.warm_up) as usize)?;
        let (go, wait) = channel();
        let (ready, is_ready) = channel();
        let plan = plan.clone();
        let thread = std::thread::Builder::new()
            .name(format!("rtperf-timer/{}", setup.cpu))
            .stack_size(TASK_STACK)
            .spawn(move || {
                // The receiver waits for exactly this message.
                let _ = ready.send(setup.apply());
                let gone = |_| ProbeError("the measurement was given up".into());
                let first = wait.recv().map_err(gone)?;
                task(&plan, setup, first, samples, trace.as_ref())
            })
            .map_err(|e| ProbeError(format!("no sampling thread can be started: {e}")))?;
        let dead = |_| Err(ProbeError("a sampling task died".into()));
        is_ready.recv().unwrap_or_else(dead)?;
        tasks.push(Task { go, thread });
    }
    Ok(tasks)
}

fn task(
    plan: &TimerLatency,
    setup: TaskSetup,
    first: i64,
    mut samples: SampleBuffer,
    trace: Option<&Emitter>,
) -> Result<Sampled, ProbeError> {
    if let Some(emitter) = trace {
        emitter.prepare();
    }
    let interval = plan.interval_ns;
    let start = sample(plan.warm_up, first, interval, &mut samples, &Untraced);
    samples.clear();
    let before = Usage::now();
    let begun = now_ns(libc::CLOCK_MONOTONIC);
    match trace {
        Some(emitter) => sample(plan.rounds, start, interval, &mut samples, emitter),
        None => sample(plan.rounds, start, interval, &mut samples, &Untraced),
    };
    let ended = now_ns(libc::CLOCK_MONOTONIC);
    let record = setup.record(0, before, Usage::now());
    Ok(Sampled {
        samples,
        tasks: vec![record],
        duration_ns: ended - begun,
        expected_n: None,
        cut_short: None,
    })
}

/// The sampling loop. Returns the deadline that would follow.
fn sample(
    rounds: u32,
    first: i64,
    interval: i64,
    samples: &mut SampleBuffer,
    trace: &impl Trace,
) -> i64 {
    let mut deadline = first;
    let mut now = i64::MIN;
    for round in 0..rounds {
        if stop() {
            break;
        }
        let missed = now >= deadline;
        sleep_until(deadline);
        now = now_ns(libc::CLOCK_MONOTONIC);
        let taken = Sample {
            time_ns: now,
            latency_ns: now - deadline,
            round,
            flags: if missed { flags::OVERRUN } else { 0 },
            ..Sample::default()
        };
        samples.push(taken);
        trace.round_start(taken.task, round);
        trace.sample(&taken);
        deadline += interval;
    }
    deadline
}

/// Sleeps until an absolute CLOCK_MONOTONIC time; at once if it has passed.
#[inline]
pub(crate) fn sleep_until(deadline_ns: i64) {
    let until = libc::timespec {
        tv_sec: (deadline_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (deadline_ns % 1_000_000_000) as _,
    };
    // SAFETY: `until` is a valid timespec. Signals are blocked in sampling
    // threads, so the sleep ends at the deadline only.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &until,
            std::ptr::null_mut(),
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::now_ns;

    #[test]
    fn every_missed_period_gets_its_own_sample() {
        // Deadlines that began 5 ms ago: at least five were missed already.
        let mut samples = SampleBuffer::new(20).unwrap();
        let first = now_ns(libc::CLOCK_MONOTONIC) - 5_000_000;
        let next = sample(20, first, 1_000_000, &mut samples, &Untraced);
        assert_eq!(next, first + 20_000_000);
        let s = samples.as_slice();
        assert_eq!(s.len(), 20);
        for (i, x) in s.iter().enumerate() {
            assert_eq!(x.round as usize, i);
            assert_eq!(x.time_ns - x.latency_ns, first + i as i64 * 1_000_000);
        }
        let overruns = s.iter().filter(|x| x.flags & flags::OVERRUN != 0);
        assert!(overruns.count() >= 4);
        assert!(s[0].latency_ns >= 5_000_000);
    }
}
