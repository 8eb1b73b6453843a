// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! From a plan to what is really measured on this board.

use crate::plan::{ContextSwitch, CpuChoice, Entry, Plan, RtThrottling, TimerLatency};
use rtperf_probe::daq::{irq_thread_priority, Daq, Device, Stage};
use rtperf_probe::pipe_switch::PipeSwitch;
use rtperf_probe::{Clock, Policy, ProbeError, TaskSetup};
use rtperf_record::{format_ns, Params};

/// Loops before the first sample: caches, branch predictors, page tables.
const WARM_UP: u32 = 100;

/// One thing to do; may yield several measurements of the run.
#[derive(Debug, Clone)]
pub struct Job {
    pub name: &'static str,
    pub kind: Kind,
    /// Parameters of each measurement, in the order of the results.
    pub params: Vec<Params>,
    /// Samples expected of each.
    pub expected_n: u64,
    /// Roughly how long it takes, ns, where that is known before.
    pub about_ns: Option<i64>,
}

#[derive(Debug, Clone)]
pub enum Kind {
    Timer(rtperf_probe::timer_latency::TimerLatency),
    Pipe(PipeSwitch),
    /// The device is looked for when its turn comes, so that a board without
    /// one still measures the rest.
    Daq(DaqJob),
}

/// What to read from which data-acquisition device.
#[derive(Debug, Clone)]
pub struct DaqJob {
    pub device: Option<u32>,
    pub task: TaskSetup,
    pub period_us: Option<u32>,
    pub stages: Vec<Stage>,
    pub rounds: u32,
}

impl DaqJob {
    /// Finds the device.
    pub fn ready(&self) -> Result<Daq, ProbeError> {
        Ok(Daq {
            device: Device::find(self.device)?,
            task: self.task,
            period_us: self.period_us,
            stages: self.stages.clone(),
            rounds: self.rounds,
            warm_up: WARM_UP.min(self.rounds),
        })
    }
}

impl Job {
    /// The tasks that it needs.
    pub fn setups(&self) -> Vec<TaskSetup> {
        match &self.kind {
            Kind::Timer(t) => t.tasks.clone(),
            Kind::Pipe(p) => p.tasks.to_vec(),
            Kind::Daq(d) => vec![d.task],
        }
    }

    /// A tenth of the rounds, 100 to 1,000 of them, and never more than asked.
    pub fn short(&self) -> Job {
        let mut job = self.clone();
        let rounds = match &mut job.kind {
            Kind::Timer(t) => &mut t.rounds,
            Kind::Pipe(p) => &mut p.rounds,
            Kind::Daq(d) => &mut d.rounds,
        };
        let asked = *rounds;
        *rounds = (asked / 10).clamp(100, 1_000).min(asked);
        job.expected_n = job.expected_n / u64::from(asked.max(1)) * u64::from(*rounds);
        let share = |ns: i64| ns / i64::from(asked.max(1)) * i64::from(*rounds);
        job.about_ns = job.about_ns.map(share);
        job
    }

    /// A latency that deserves an event of its own in a trace: a whole period.
    pub fn bound_ns(&self) -> Option<i64> {
        match &self.kind {
            Kind::Timer(t) => Some(t.interval_ns),
            Kind::Daq(d) => d.period_us.map(|us| i64::from(us) * 1_000),
            Kind::Pipe(_) => None,
        }
    }

    /// What is about to be done, for the terminal.
    pub fn title(&self) -> String {
        let own = match &self.kind {
            Kind::Timer(t) => format!("on {} CPU(s)", t.tasks.len()),
            Kind::Pipe(p) => format!("method=pipe clock={}", p.clock.name()),
            Kind::Daq(d) => format!("{} blocks", d.rounds),
        };
        let about = self.about_ns.map_or(String::new(), |ns| {
            format!(", about {} s", (ns / 1_000_000_000).max(1))
        });
        format!("{} {own}{about}", self.name)
    }
}

/// Every job of the plan in its order. `cpus` are those that the process may
/// use, `board` is what the `board` parameter says, if anything.
pub fn jobs(plan: &Plan, cpus: &[u32], virtual_board: bool) -> Vec<Job> {
    let mut common = Params::default();
    if virtual_board {
        common.set("board", "virtual");
    }
    common
        .set("load", load_name(plan))
        .set("idle", plan.settings.idle.name());
    if plan.settings.rt_throttling == RtThrottling::Off {
        common.set("rt_throttling", "off");
    }
    let expand = |entry: &Entry| match entry {
        Entry::TimerLatency(t) => vec![timer(t, &common, cpus)],
        Entry::ContextSwitch(c) => c.clock.iter().map(|k| pipe(c, *k, &common)).collect(),
        Entry::InterruptLatency(d) => vec![daq(d, "interrupt-latency", &Stage::ALL, &common)],
        Entry::DaqStream(d) => vec![daq(d, "daq-stream", &[Stage::EdgeUser], &common)],
    };
    plan.measurements.iter().flat_map(expand).collect()
}

fn load_name(plan: &Plan) -> String {
    let names: Vec<&str> = plan.load.iter().map(|l| l.name.as_str()).collect();
    if names.is_empty() {
        return "none".to_owned();
    }
    names.join("+")
}

fn timer(t: &TimerLatency, common: &Params, cpus: &[u32]) -> Job {
    let chosen = match &t.cpus {
        CpuChoice::All => cpus.to_vec(),
        CpuChoice::These(list) => list.clone(),
    };
    let policy = Policy::from(t.policy);
    let setup = |cpu: &u32| TaskSetup {
        cpu: *cpu,
        policy,
        priority: t.priority,
    };
    let params = |cpu: &u32| {
        let mut p = common.clone();
        p.set("clock", Clock::Monotonic.name())
            .set("cpu", cpu)
            .set("interval", format_ns(t.interval))
            .set("policy", policy.name())
            .set("priority", t.priority);
        p
    };
    Job {
        name: "timer-latency",
        kind: Kind::Timer(rtperf_probe::timer_latency::TimerLatency {
            tasks: chosen.iter().map(setup).collect(),
            interval_ns: t.interval,
            rounds: t.rounds,
            warm_up: WARM_UP.min(t.rounds),
        }),
        params: chosen.iter().map(params).collect(),
        expected_n: u64::from(t.rounds),
        about_ns: Some(t.interval.saturating_mul(i64::from(t.rounds))),
    }
}

fn pipe(c: &ContextSwitch, clock: Clock, common: &Params) -> Job {
    let policy = Policy::from(c.policy);
    let setup = TaskSetup {
        cpu: c.cpu,
        policy,
        priority: c.priority,
    };
    let mut params = common.clone();
    params
        .set("clock", clock.name())
        .set("cpu", c.cpu)
        .set("method", "pipe")
        .set("placement", "same-cpu")
        .set("policy", policy.name())
        .set("priority", c.priority)
        .set("task_kind", "process")
        .set("tasks", 2);
    Job {
        name: "context-switch",
        kind: Kind::Pipe(PipeSwitch {
            tasks: [setup; 2],
            clock,
            rounds: c.rounds,
            warm_up: WARM_UP.min(c.rounds),
        }),
        params: vec![params],
        expected_n: u64::from(c.rounds) * 2,
        about_ns: None,
    }
}

fn daq(d: &crate::plan::Daq, name: &'static str, stages: &[Stage], common: &Params) -> Job {
    let policy = Policy::from(d.policy);
    let period = d.period.map_or("device".to_owned(), format_ns);
    let irq_priority = irq_thread_priority();
    let params = |stage: &Stage| {
        let mut p = common.clone();
        p.set("clock", Clock::Monotonic.name())
            .set("cpu", d.cpu)
            .set("period", &period)
            .set("policy", policy.name())
            .set("priority", d.priority);
        if let Some(priority) = irq_priority {
            p.set("irq_priority", priority);
        }
        if stages.len() > 1 {
            p.set("stage", stage.name());
        }
        p
    };
    Job {
        name,
        kind: Kind::Daq(DaqJob {
            device: d.device,
            task: TaskSetup {
                cpu: d.cpu,
                policy,
                priority: d.priority,
            },
            period_us: d.period.map(|ns| (ns / 1_000) as u32),
            stages: stages.to_vec(),
            rounds: d.rounds,
        }),
        params: stages.iter().map(params).collect(),
        expected_n: u64::from(d.rounds),
        about_ns: d.period.map(|ns| ns.saturating_mul(i64::from(d.rounds))),
    }
}

/// Bytes that the samples of all jobs take on the card.
pub fn bytes_needed(jobs: &[Job]) -> u64 {
    // Headers, run.json and the log are small beside one block each.
    let one = |j: &Job| (j.expected_n * 24 + 16_384) * j.params.len() as u64;
    jobs.iter().map(one).sum::<u64>() + 262_144
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::parse;

    #[test]
    fn names_tell_measurements_apart_and_carry_the_conditions() {
        let text = "version: 1\nname: t\nsettings: {rt_throttling: off, idle: pinned}\n\
            load: [{name: hog, cpu: 0, priority: 9, busy: 1ms, period: 2ms}]\n\
            measurements: [{measure: timer-latency}, \
            {measure: context-switch, clock: [monotonic, counter]}]";
        let jobs = jobs(&parse(text).unwrap(), &[0, 3], true);
        let mut files: Vec<String> = Vec::new();
        for job in &jobs {
            for p in &job.params {
                for (key, value) in [
                    ("board", "virtual"),
                    ("load", "hog"),
                    ("idle", "pinned"),
                    ("rt_throttling", "off"),
                ] {
                    assert_eq!(p.get(key), Some(value));
                }
                files.push(p.file_name(job.name));
            }
        }
        assert_eq!(files.len(), 4);
        files.dedup();
        assert_eq!(files.len(), 4);
        assert_eq!(jobs[0].params[1].get("cpu"), Some("3"));
        assert_eq!(jobs[1].expected_n, 20_000);
    }
}
