// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Competing tasks that a plan puts beside a measurement.

use crate::clock::now_ns;
use crate::memory::TASK_STACK;
use crate::task::TaskSetup;
use crate::ProbeError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc};
use std::thread::JoinHandle;

/// A task that computes for `busy_ns` at the start of every `period_ns`.
#[derive(Debug, Clone, Copy)]
pub struct Competitor {
    pub setup: TaskSetup,
    pub busy_ns: i64,
    pub period_ns: i64,
}

/// Competitors at work; they end when this is dropped.
pub struct RunningLoad {
    end: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl RunningLoad {
    /// Starts all competitors and returns when each one runs as asked.
    pub fn start(competitors: &[Competitor]) -> Result<RunningLoad, ProbeError> {
        let mut load = RunningLoad {
            end: Arc::new(AtomicBool::new(false)),
            threads: Vec::new(),
        };
        for competitor in competitors.iter().copied() {
            let (ready, started) = mpsc::channel();
            let end = Arc::clone(&load.end);
            let thread = std::thread::Builder::new()
                .name("rtperf-load".into())
                .stack_size(TASK_STACK)
                .spawn(move || {
                    let set = competitor.setup.apply();
                    let run = set.is_ok();
                    // The receiver waits below; it cannot have gone.
                    let _ = ready.send(set);
                    if run {
                        compete(competitor, &end);
                    }
                })
                .map_err(|e| ProbeError(format!("no load thread can be started: {e}")))?;
            load.threads.push(thread);
            let dead = |_| Err(ProbeError("the load thread ended at once".into()));
            started
                .recv()
                .unwrap_or_else(dead)
                .map_err(|e| ProbeError(format!("load: {e}")))?;
        }
        Ok(load)
    }
}

impl Drop for RunningLoad {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A load thread that panicked has ended, which is all we want.
            let _ = thread.join();
        }
    }
}

fn compete(competitor: Competitor, end: &AtomicBool) {
    let mut next = now_ns(libc::CLOCK_MONOTONIC);
    while !end.load(Ordering::Relaxed) {
        let start = now_ns(libc::CLOCK_MONOTONIC);
        while now_ns(libc::CLOCK_MONOTONIC) - start < competitor.busy_ns {}
        // Periods missed because something else ran are left out: this is a
        // disturbance, not a measurement.
        while next <= now_ns(libc::CLOCK_MONOTONIC) {
            next += competitor.period_ns;
        }
        crate::timer_latency::sleep_until(next);
    }
}
