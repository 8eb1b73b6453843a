// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Interrupt handlers, softirqs and timer callbacks: how long each instance
//! ran, and how far apart they began.

use crate::gaps::Gaps;
use crate::series::Series;
use std::collections::HashMap;

/// Actors of one kind; more in a trace is hostile.
const MAX_ACTORS: usize = 4096;
/// Handlers that interrupt each other on one CPU.
const MAX_NESTED: usize = 16;

/// One handler and its instances.
#[derive(Debug, Clone, Default)]
pub struct Actor {
    /// Number of the interrupt or softirq, address of the callback.
    pub number: u64,
    pub name: String,
    pub exec: Series,
    pub period: Series,
    /// How much later than programmed, for timers.
    pub late: Series,
    last_start: Option<i64>,
}

/// Handlers of one kind by number and name.
#[derive(Debug, Default)]
pub struct Actors {
    pub list: Vec<Actor>,
    index: HashMap<u64, Vec<u32>>,
    /// Per CPU, innermost last: actor, its number and when it began.
    running: Vec<Vec<(u32, u64, i64)>>,
}

impl Actors {
    fn actor(&mut self, number: u64, name: &[u8]) -> Option<u32> {
        let known = self.index.entry(number).or_default();
        let same = |i: &&u32| self.list[**i as usize].name.as_bytes() == name;
        if let Some(i) = known.iter().find(same) {
            return Some(*i);
        }
        // A name that is not UTF-8 never equals its replacement: compare that.
        let name = String::from_utf8_lossy(name).into_owned();
        if let Some(i) = known.iter().find(|i| self.list[**i as usize].name == name) {
            return Some(*i);
        }
        if self.list.len() >= MAX_ACTORS {
            return None;
        }
        let i = self.list.len() as u32;
        known.push(i);
        self.list.push(Actor {
            number,
            name,
            ..Actor::default()
        });
        Some(i)
    }

    pub fn enter(
        &mut self,
        cpu: u32,
        time: i64,
        number: u64,
        name: &[u8],
        gaps: &Gaps,
    ) -> Option<&mut Actor> {
        let i = self.actor(number, name)?;
        let cpu_index = cpu as usize;
        if self.running.len() <= cpu_index {
            self.running.resize(cpu_index + 1, vec![]);
        }
        let stack = &mut self.running[cpu_index];
        if stack.len() < MAX_NESTED {
            stack.push((i, number, time));
        }
        let actor = &mut self.list[i as usize];
        if let Some(last) = actor.last_start.replace(time) {
            actor.period.record(time.saturating_sub(last), last, cpu);
            if gaps.touch(None, last, time) {
                actor.period.suspect();
            }
        }
        Some(actor)
    }

    pub fn exit(&mut self, cpu: u32, time: i64, number: u64, gaps: &Gaps) {
        let Some(stack) = self.running.get_mut(cpu as usize) else {
            return;
        };
        // What began inside and never ended was lost.
        let Some(at) = stack.iter().rposition(|(_, n, _)| *n == number) else {
            return;
        };
        let (i, _, start) = stack[at];
        stack.truncate(at);
        let exec = &mut self.list[i as usize].exec;
        exec.record(time.saturating_sub(start), start, cpu);
        if gaps.touch(Some(cpu), start, time) {
            exec.suspect();
        }
    }

    /// For exits that do not say whose they are.
    pub fn exit_innermost(&mut self, cpu: u32, time: i64, gaps: &Gaps) {
        let innermost = self
            .running
            .get(cpu as usize)
            .and_then(|stack| stack.last());
        if let Some((_, number, _)) = innermost.copied() {
            self.exit(cpu, time, number, gaps);
        }
    }

    /// After lost events nobody knows what runs.
    pub fn forget(&mut self, cpu: u32) {
        if let Some(stack) = self.running.get_mut(cpu as usize) {
            stack.clear();
        }
    }
}

/// Programmed expiry of each timer, until it expires.
#[derive(Debug, Default)]
pub struct Timers {
    pending: HashMap<u64, i64>,
}

impl Timers {
    pub fn start(&mut self, timer: u64, expires: i64) {
        if self.pending.len() < 1 << 16 || self.pending.contains_key(&timer) {
            self.pending.insert(timer, expires);
        }
    }

    pub fn take(&mut self, timer: u64) -> Option<i64> {
        self.pending.remove(&timer)
    }

    pub fn forget(&mut self) {
        self.pending.clear();
    }
}

/// As the kernel numbers its softirqs.
pub const SOFTIRQS: [&str; 10] = [
    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
];
