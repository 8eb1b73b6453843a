// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Threads: who ran when, and how long a woken one waited.

use crate::gaps::Gaps;
use crate::series::Series;
use std::collections::HashMap;

/// Threads told apart; more in a trace is hostile.
const MAX_THREADS: usize = 1 << 16;

#[derive(Debug, Clone, Default)]
pub struct Thread {
    /// 0 for the idle threads.
    pub tid: i64,
    pub comm: String,
    pub cpu_ns: i64,
    /// How often it was switched to.
    pub switches: u64,
    /// From being woken to running.
    pub wakeup: Series,
    /// CPU time from being woken to sleeping again.
    pub exec: Series,
    woken: Option<i64>,
    /// CPU time since it was woken; none if that was not seen.
    spent: Option<i64>,
    began: i64,
}

#[derive(Debug, Default)]
pub struct Sched {
    pub list: Vec<Thread>,
    by_tid: HashMap<i64, u32>,
    idle: Vec<Option<u32>>,
    /// Per CPU: the running thread and since when.
    running: Vec<Option<(u32, i64)>>,
    /// The trace has sched_waking: then sched_wakeup comes too late.
    has_waking: bool,
    /// When a CPU's first event came; its first thread ran since then.
    first_seen: Vec<Option<i64>>,
    /// Busy time per CPU.
    pub busy_ns: Vec<i64>,
}

/// A context switch.
pub struct Switch<'a> {
    pub cpu: u32,
    pub time: i64,
    pub prev_tid: i64,
    pub prev_comm: &'a [u8],
    pub prev_state: i64,
    pub next_tid: i64,
    pub next_comm: &'a [u8],
}

impl Sched {
    pub fn new(has_waking: bool) -> Sched {
        Sched {
            has_waking,
            ..Sched::default()
        }
    }

    /// Every CPU's idle thread has tid 0: they are told apart by CPU.
    fn thread(&mut self, tid: i64, cpu: u32) -> Option<u32> {
        let known = match tid {
            0 => self.idle.get(cpu as usize).copied().flatten(),
            _ => self.by_tid.get(&tid).copied(),
        };
        if known.is_some() || self.list.len() >= MAX_THREADS {
            return known;
        }
        let i = self.list.len() as u32;
        self.list.push(Thread {
            tid,
            ..Thread::default()
        });
        if tid == 0 {
            *grown(&mut self.idle, cpu) = Some(i);
        } else {
            self.by_tid.insert(tid, i);
        }
        Some(i)
    }

    pub fn seen(&mut self, cpu: u32, time: i64) {
        let first = grown(&mut self.first_seen, cpu);
        if first.is_none() {
            *first = Some(time);
        }
    }

    pub fn waking(&mut self, cpu: u32, time: i64, tid: i64, comm: Option<&[u8]>) {
        self.woken(cpu, time, tid, comm);
    }

    pub fn wakeup(&mut self, cpu: u32, time: i64, tid: i64, comm: Option<&[u8]>, new: bool) {
        if new || !self.has_waking {
            self.woken(cpu, time, tid, comm);
        }
    }

    fn woken(&mut self, cpu: u32, time: i64, tid: i64, comm: Option<&[u8]>) {
        // The idle threads are never woken.
        if tid == 0 {
            return;
        }
        let Some(i) = self.thread(tid, cpu) else {
            return;
        };
        let thread = &mut self.list[i as usize];
        thread.woken = Some(time);
        if let Some(comm) = comm {
            thread.called(comm);
        }
    }

    pub fn switch(&mut self, s: &Switch, gaps: &Gaps) {
        self.leave(s, gaps);
        let Some(next) = self.thread(s.next_tid, s.cpu) else {
            *grown(&mut self.running, s.cpu) = None;
            return;
        };
        *grown(&mut self.running, s.cpu) = Some((next, s.time));
        let thread = &mut self.list[next as usize];
        thread.called(s.next_comm);
        thread.switches += 1;
        if let Some(woken) = thread.woken.take() {
            thread
                .wakeup
                .record(s.time.saturating_sub(woken), woken, s.cpu);
            if gaps.touch(None, woken, s.time) {
                thread.wakeup.suspect();
            }
            (thread.spent, thread.began) = (Some(0), s.time);
        }
    }

    fn leave(&mut self, s: &Switch, gaps: &Gaps) {
        let first = self.first_seen.get(s.cpu as usize).copied().flatten();
        let before = grown(&mut self.running, s.cpu).take();
        let Some(prev) = self.thread(s.prev_tid, s.cpu) else {
            return;
        };
        let since = match before {
            Some((thread, since)) if thread == prev => Some(since),
            // Another one ran here: a switch was lost.
            Some(_) => None,
            None => first,
        };
        *grown(&mut self.first_seen, s.cpu) = Some(s.time);
        let ran = since.map_or(0, |since| s.time.saturating_sub(since));
        if s.prev_tid != 0 {
            add(grown(&mut self.busy_ns, s.cpu), ran);
        }
        let thread = &mut self.list[prev as usize];
        thread.called(s.prev_comm);
        add(&mut thread.cpu_ns, ran);
        thread.spent = thread
            .spent
            .filter(|_| since.is_some())
            .map(|spent| spent.saturating_add(ran));
        // Low bits are the state it sleeps in; above, kernels mark preemption.
        let sleeps = s.prev_state & 0xff != 0;
        if !sleeps {
            // A wake-up while it ran was answered by running on.
            thread.woken = None;
        } else if let Some(spent) = thread.spent.take() {
            thread.exec.record(spent, thread.began, s.cpu);
            if gaps.touch(None, thread.began, s.time) {
                thread.exec.suspect();
            }
        }
    }

    /// The threads that still run when the trace ends.
    pub fn finish(&mut self, end: i64) {
        for (cpu, running) in self.running.iter().enumerate() {
            let Some((i, since)) = running else { continue };
            let thread = &mut self.list[*i as usize];
            let ran = end.saturating_sub(*since);
            add(&mut thread.cpu_ns, ran);
            if thread.tid != 0 {
                add(grown(&mut self.busy_ns, cpu as u32), ran);
            }
        }
    }

    pub fn forget(&mut self, cpu: u32, time: i64) {
        *grown(&mut self.running, cpu) = None;
        *grown(&mut self.first_seen, cpu) = Some(time);
    }
}

impl Thread {
    fn called(&mut self, comm: &[u8]) {
        if !comm.is_empty() && self.comm.as_bytes() != comm {
            self.comm = String::from_utf8_lossy(comm).into_owned();
        }
    }
}

/// A hostile trace may hold any times.
fn add(sum: &mut i64, ns: i64) {
    *sum = sum.saturating_add(ns);
}

/// The entry of a CPU, made if it is new. CPU numbers are bounded by the
/// model.
fn grown<T: Default + Clone>(list: &mut Vec<T>, cpu: u32) -> &mut T {
    let at = cpu as usize;
    if list.len() <= at {
        list.resize(at + 1, T::default());
    }
    &mut list[at]
}
