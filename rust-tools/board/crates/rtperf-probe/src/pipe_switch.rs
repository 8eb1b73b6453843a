// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `context-switch method=pipe`: two processes pass a token through two
//! pipes (the classic test of LMbench's lat_ctx and of `perf bench sched
//! pipe`), every single hand-off kept.
//!
//! A sample is in(i+1) − out(i): from the stamp before the token is written
//! to the stamp after the other process has read it. It includes the write,
//! the block of the writer, the switch and the return from read; with both
//! on one CPU at one priority the switch happens when the writer blocks.

use crate::clock::{now_ns, Clock, ToMonotonic};
use crate::pipe_task::{run_task, Shared, SharedPage, Side};
use crate::task::TaskSetup;
use crate::ust::{fork, Emitter};
use crate::{stop, ProbeError, SampleBuffer, Sampled};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// What to measure.
#[derive(Debug, Clone, Copy)]
pub struct PipeSwitch {
    /// The two processes. On one CPU, unless inter-processor wake-ups and
    /// idle exits are what is wanted.
    pub tasks: [TaskSetup; 2],
    pub clock: Clock,
    /// Rounds of the token; each gives two samples.
    pub rounds: u32,
    /// Rounds before the first sample, not kept.
    pub warm_up: u32,
}

/// Measures. The calling thread waits and takes no part.
pub fn measure(plan: &PipeSwitch) -> Result<Sampled, ProbeError> {
    let convert = ToMonotonic::new(plan.clock)?;
    let rounds = plan.rounds.max(plan.warm_up) as usize;
    let mut samples = SampleBuffer::new(rounds * 2)?;
    let shared = SharedPage::new()?;
    let begun = now_ns(libc::CLOCK_MONOTONIC);
    let trace = Emitter::of(0, Some(convert));
    let children = start(plan, &samples, shared.get(), trace.as_ref())?;
    let outcome = wait_for(children, shared.get());
    let duration_ns = now_ns(libc::CLOCK_MONOTONIC) - begun;
    outcome?;
    let done = shared.get().rounds_done();
    samples.set_len(done.min(plan.rounds) as usize * 2);
    for s in samples.as_mut_slice() {
        s.time_ns = convert.time_ns(s.time_ns);
        s.latency_ns = convert.interval_ns(s.latency_ns);
    }
    let tasks = [0u16, 1].map(|i| {
        let (before, after) = shared.get().usage(i as usize);
        plan.tasks[i as usize].record(i, before, after)
    });
    Ok(Sampled {
        samples,
        tasks: tasks.to_vec(),
        duration_ns,
        expected_n: None,
        cut_short: None,
    })
}

fn pipe() -> Result<(OwnedFd, OwnedFd), ProbeError> {
    let mut fds = [0; 2];
    // SAFETY: `fds` has room for the two descriptors, which are new and owned
    // by nobody else.
    unsafe {
        if libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(ProbeError::os("no pipe can be opened"));
        }
        Ok((OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])))
    }
}

/// Forks both tasks. The parent keeps no end of the pipes, so that a task
/// whose peer has died reads the end of file instead of waiting for ever.
fn start(
    plan: &PipeSwitch,
    samples: &SampleBuffer,
    shared: &Shared,
    trace: Option<&Emitter>,
) -> Result<[libc::pid_t; 2], ProbeError> {
    let (forth_in, forth_out) = pipe()?;
    let (back_in, back_out) = pipe()?;
    let sides = [
        Side::new(0, &back_in, &forth_out),
        Side::new(1, &forth_in, &back_out),
    ];
    let ends = [&forth_in, &forth_out, &back_in, &back_out].map(AsRawFd::as_raw_fd);
    let mut children = [0; 2];
    for (i, side) in sides.into_iter().enumerate() {
        // SAFETY: the child runs `run_task` only, which allocates nothing,
        // takes no lock of this process and ends by _exit.
        let pid = unsafe { fork() };
        if let Ok(0) = pid {
            for fd in ends {
                if !side.uses(fd) {
                    // SAFETY: the descriptor is this child's own copy; the
                    // OwnedFd that names it is never dropped here.
                    unsafe { libc::close(fd) };
                }
            }
            run_task(plan, side, samples, shared, trace);
        }
        children[i] = pid.map_err(|error| {
            if let Some(first) = children.first().filter(|p| **p > 0) {
                // SAFETY: the first task is our child; both calls are plain.
                unsafe {
                    libc::kill(*first, libc::SIGKILL);
                    libc::waitpid(*first, std::ptr::null_mut(), 0);
                }
            }
            error
        })?;
    }
    Ok(children)
}

/// Waits for both tasks; a signal in the meantime makes them end early.
fn wait_for(children: [libc::pid_t; 2], shared: &Shared) -> Result<(), ProbeError> {
    let mut outcome = Ok(());
    for pid in children {
        let mut status = 0;
        loop {
            // SAFETY: `pid` is a child of ours that nobody else waits for.
            let waited = unsafe { libc::waitpid(pid, &mut status, 0) };
            if stop() {
                shared.end();
            }
            if waited == pid || std::io::Error::last_os_error().raw_os_error() != Some(libc::EINTR)
            {
                break;
            }
        }
        if !(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0) && outcome.is_ok() {
            outcome = Err(ProbeError(format!(
                "a task process died (status {status:#x})"
            )));
        }
    }
    // What a task says itself explains more than how it ended.
    shared.failure().map_or(outcome, Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{online_cpus, Policy};

    fn plan(clock: Clock, priority: i32) -> PipeSwitch {
        let cpu = online_cpus().unwrap()[0];
        let policy = Policy::Fifo;
        let setup = TaskSetup {
            cpu,
            policy,
            priority,
        };
        PipeSwitch {
            tasks: [setup; 2],
            clock,
            rounds: 50,
            warm_up: 5,
        }
    }

    /// Real-time scheduling needs a permission that a test may not have.
    fn allowed() -> bool {
        crate::check_task(plan(Clock::Monotonic, 1).tasks[0]).is_ok()
            && crate::lock_memory().is_ok()
    }

    #[test]
    fn every_hand_off_is_kept_in_order_and_alternates() {
        if !allowed() {
            eprintln!("skipped: no permission for SCHED_FIFO or locked memory");
            return;
        }
        for clock in [Clock::Monotonic, Clock::Counter, Clock::Gettimeofday] {
            let got = measure(&plan(clock, 10)).unwrap();
            let s = got.samples.as_slice();
            assert_eq!(s.len(), 100, "{clock:?}");
            for (i, x) in s.iter().enumerate() {
                assert_eq!((x.round as usize, x.task as usize), (i / 2, (i + 1) % 2));
            }
            assert!(
                s.windows(2).all(|w| w[0].time_ns <= w[1].time_ns),
                "{clock:?}"
            );
            for task in &got.tasks {
                assert_eq!((task.minor_faults, task.major_faults), (0, 0), "{clock:?}");
                assert_eq!(task.allocations, 0);
                // Each blocks once a round, and task 1 once more: at the last
                // hand-off it waits like at all others.
                let blocked = 50 + u64::from(task.task);
                assert_eq!(task.voluntary_switches, blocked, "{task:?}");
            }
        }
    }

    #[test]
    fn a_refused_priority_is_the_tasks_own_sentence() {
        let e = measure(&plan(Clock::Monotonic, 100)).err().unwrap();
        assert!(e.0.contains("priority 100"), "{e}");
    }
}
