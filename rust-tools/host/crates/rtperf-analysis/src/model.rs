// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The kernel as the trace shows it, fed once from beginning to end.

use crate::daq::{Daq, Mark, Pushed};
use crate::fields::{DaqEvent, Handler, SwitchFields};
use crate::gaps::Gaps;
use crate::irq::{Actors, SOFTIRQS, Timers};
use crate::sched::{Sched, Switch};
use rtperf_ctf::{Event, Field, Lost};

/// CPU numbers beyond are hostile.
const MAX_CPUS: u32 = 4096;

#[derive(Debug, Default)]
pub struct Model {
    handlers: Vec<Handler>,
    /// Events by class.
    pub counts: Vec<u64>,
    pub first_ns: Option<i64>,
    pub last_ns: i64,
    pub irqs: Actors,
    pub softirqs: Actors,
    pub hrtimers: Actors,
    pub sched: Sched,
    pub daq: Daq,
    pub gaps: Gaps,
    /// Events of the kernel whose CPU is not known or out of range.
    pub no_cpu: u64,
    timers: Timers,
    /// Gaps that a CPU's next events come from: its state is unknown at their
    /// beginning (the flag) and after their end.
    unknown: Vec<Option<(bool, i64)>>,
}

impl Model {
    pub fn new(handlers: Vec<Handler>) -> Model {
        let has_waking = handlers.iter().any(|h| matches!(h, Handler::Waking { .. }));
        Model {
            counts: vec![0; handlers.len()],
            handlers,
            sched: Sched::new(has_waking),
            ..Model::default()
        }
    }

    pub fn lost(&mut self, lost: &Lost) {
        self.gaps.add(lost);
        let cpus = match lost.cpu {
            Some(cpu) if cpu < MAX_CPUS => cpu..cpu + 1,
            Some(_) => 0..0,
            None => 0..self.unknown.len() as u32,
        };
        for cpu in cpus {
            if self.unknown.len() <= cpu as usize {
                self.unknown.resize(cpu as usize + 1, None);
            }
            self.unknown[cpu as usize] = Some((true, lost.to_ns));
        }
    }

    #[inline]
    pub fn event(&mut self, event: &Event<'_>) {
        let time = event.time_ns();
        self.first_ns.get_or_insert(time);
        self.last_ns = self.last_ns.max(time);
        let class = event.class_index() as usize;
        let Some(handler) = self.handlers.get(class).copied() else {
            return;
        };
        self.counts[class] += 1;
        if matches!(handler, Handler::Other) {
            return;
        }
        match event.cpu().filter(|cpu| *cpu < MAX_CPUS) {
            Some(cpu) => self.kernel(handler, event, cpu, time),
            None => self.no_cpu += 1,
        }
    }

    fn kernel(&mut self, handler: Handler, event: &Event<'_>, cpu: u32, time: i64) {
        self.after_gap(cpu, time);
        self.sched.seen(cpu, time);
        let int = |f: &Field| event.int(f).unwrap_or(0);
        let uint = |f: &Field| event.uint(f).unwrap_or(0);
        let text = |f: &Field| event.text(f).unwrap_or_default();
        let gaps = &self.gaps;
        match handler {
            Handler::Other => {}
            Handler::IrqEntry { irq, name } => {
                self.irqs.enter(cpu, time, uint(&irq), text(&name), gaps);
            }
            Handler::IrqExit { irq } => self.irqs.exit(cpu, time, uint(&irq), gaps),
            Handler::SoftirqEntry { vec } => {
                let number = uint(&vec);
                let name = SOFTIRQS.get(number as usize).copied().unwrap_or("unknown");
                self.softirqs
                    .enter(cpu, time, number, name.as_bytes(), gaps);
            }
            Handler::SoftirqExit { vec } => self.softirqs.exit(cpu, time, uint(&vec), gaps),
            Handler::Switch(fields) => self.switch(&fields, event, cpu, time),
            Handler::Waking { tid, comm } => {
                self.sched
                    .waking(cpu, time, int(&tid), comm.as_ref().map(text));
            }
            Handler::Wakeup { tid, comm, new } => {
                self.sched
                    .wakeup(cpu, time, int(&tid), comm.as_ref().map(text), new);
            }
            Handler::TimerStart { timer, expires } => {
                self.timers.start(uint(&timer), int(&expires));
            }
            Handler::TimerCancel { timer } => {
                self.timers.take(uint(&timer));
            }
            Handler::TimerEntry {
                timer,
                now,
                function,
            } => {
                let expires = self.timers.take(uint(&timer));
                // Timers are told apart by what they call; the exit names only
                // the timer, and callbacks do not nest on a CPU.
                let actor = self.hrtimers.enter(cpu, time, uint(&function), b"", gaps);
                if let (Some(actor), Some(expires)) = (actor, expires) {
                    actor
                        .late
                        .record(int(&now).wrapping_sub(expires), time, cpu);
                }
            }
            Handler::TimerExit => self.hrtimers.exit_innermost(cpu, time, gaps),
            Handler::Daq(daq) => self.daq_event(&daq, event, cpu, time),
        }
    }

    /// What a CPU did before events were lost says nothing of what it does
    /// after.
    fn after_gap(&mut self, cpu: u32, time: i64) {
        let Some(Some((fresh, end))) = self.unknown.get_mut(cpu as usize) else {
            return;
        };
        let over = time >= *end;
        if !std::mem::take(fresh) && !over {
            return;
        }
        if over {
            self.unknown[cpu as usize] = None;
        }
        self.irqs.forget(cpu);
        self.softirqs.forget(cpu);
        self.hrtimers.forget(cpu);
        self.sched.forget(cpu, time);
        self.timers.forget();
    }

    fn switch(&mut self, f: &SwitchFields, event: &Event<'_>, cpu: u32, time: i64) {
        let switch = Switch {
            cpu,
            time,
            prev_tid: event.int(&f.prev_tid).unwrap_or(0),
            prev_comm: event.text(&f.prev_comm).unwrap_or_default(),
            prev_state: event.int(&f.prev_state).unwrap_or(0),
            next_tid: event.int(&f.next_tid).unwrap_or(0),
            next_comm: event.text(&f.next_comm).unwrap_or_default(),
        };
        self.sched.switch(&switch, &self.gaps);
    }

    fn daq_event(&mut self, daq: &DaqEvent, event: &Event<'_>, cpu: u32, time: i64) {
        let int = |f: &Field| event.int(f).unwrap_or(0);
        let uint = |f: &Field| event.uint(f).unwrap_or(0);
        let ticks = event.ticks() as i64;
        match daq {
            DaqEvent::Thread { device } => self.daq.mark(int(device), Mark::Thread, ticks),
            DaqEvent::I2cStart { device } => self.daq.mark(int(device), Mark::I2cStart, ticks),
            DaqEvent::I2cDone { device } => self.daq.mark(int(device), Mark::I2cDone, ticks),
            DaqEvent::SpiStart { device } => self.daq.mark(int(device), Mark::SpiStart, ticks),
            DaqEvent::SpiDone { device } => self.daq.mark(int(device), Mark::SpiDone, ticks),
            DaqEvent::Pushed(f) => {
                let pushed = Pushed {
                    flags: uint(&f.flags),
                    edge: int(&f.edge_ns),
                    hardirq: int(&f.hardirq_ns),
                    thread: int(&f.thread_ns),
                    pushed: int(&f.pushed_ns),
                };
                self.daq
                    .pushed(int(&f.device), &pushed, ticks, time, cpu, &self.gaps);
            }
            DaqEvent::Lost {
                device,
                sequence,
                count,
            } => {
                self.daq
                    .lost(int(device), time, uint(sequence), uint(count));
            }
        }
    }

    pub fn finish(&mut self) {
        self.sched.finish(self.last_ns);
    }
}
