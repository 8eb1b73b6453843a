// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The measurements of a plan and their parameters.

use super::types::{duration, optional_duration, priority, Policy};
use super::unknown;
use rtperf_probe::Clock;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// 24 bytes a sample: 10 million fill 240 MB, enough for p99.9999.
const MOST_ROUNDS: u32 = 10_000_000;
const QUICK_LEAST: u32 = 100;

/// One entry of the plan's list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "measure", rename_all = "kebab-case")]
pub enum Entry {
    TimerLatency(TimerLatency),
    ContextSwitch(ContextSwitch),
    InterruptLatency(Daq),
    DaqStream(Daq),
}

impl Entry {
    pub fn read(name: &str, fields: serde_yaml::Value) -> Result<Entry, String> {
        match name {
            "timer-latency" => from_fields(fields).map(Entry::TimerLatency),
            "context-switch" => from_fields(fields).map(Entry::ContextSwitch),
            "interrupt-latency" => from_fields(fields).map(Entry::InterruptLatency),
            "daq-stream" => from_fields(fields).map(Entry::DaqStream),
            other => Err(unknown(other)),
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Entry::TimerLatency(_) => "timer-latency",
            Entry::ContextSwitch(_) => "context-switch",
            Entry::InterruptLatency(_) => "interrupt-latency",
            Entry::DaqStream(_) => "daq-stream",
        }
    }

    /// A tenth of the rounds, but never more than were asked for.
    pub fn quick(&mut self) {
        let rounds = match self {
            Entry::TimerLatency(t) => &mut t.rounds,
            Entry::ContextSwitch(c) => &mut c.rounds,
            Entry::InterruptLatency(d) | Entry::DaqStream(d) => &mut d.rounds,
        };
        *rounds = (*rounds / 10).max(QUICK_LEAST.min(*rounds));
    }
}

/// Reads one entry from its text, because only then an error names the key it
/// is in; the line it names is one of this text and is left out.
fn from_fields<T: serde::de::DeserializeOwned>(fields: serde_yaml::Value) -> Result<T, String> {
    let text = serde_yaml::to_string(&fields).map_err(|e| e.to_string())?;
    serde_yaml::from_str(&text).map_err(|e| {
        let message = e.to_string();
        let end = message.rfind(" at line ").unwrap_or(message.len());
        message[..end].to_owned()
    })
}

/// `timer-latency`: cyclic wake-ups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TimerLatency {
    pub cpus: CpuChoice,
    #[serde(with = "duration")]
    pub interval: i64,
    #[serde(deserialize_with = "rounds")]
    pub rounds: u32,
    pub policy: Policy,
    #[serde(deserialize_with = "priority")]
    pub priority: i32,
}

impl Default for TimerLatency {
    fn default() -> TimerLatency {
        TimerLatency {
            cpus: CpuChoice::All,
            interval: 1_000_000,
            rounds: 10_000,
            policy: Policy::Fifo,
            priority: 80,
        }
    }
}

/// `context-switch`: hand-offs between tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContextSwitch {
    pub method: Method,
    /// One measurement is made with each clock.
    #[serde(serialize_with = "clock_names", deserialize_with = "clocks")]
    pub clock: Vec<Clock>,
    pub cpu: u32,
    #[serde(deserialize_with = "rounds")]
    pub rounds: u32,
    pub policy: Policy,
    #[serde(deserialize_with = "priority")]
    pub priority: i32,
}

impl Default for ContextSwitch {
    fn default() -> ContextSwitch {
        ContextSwitch {
            method: Method::Pipe,
            clock: vec![Clock::Monotonic],
            cpu: 0,
            rounds: 10_000,
            policy: Policy::Fifo,
            priority: 80,
        }
    }
}

/// `interrupt-latency` and `daq-stream`: blocks of the data-acquisition device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Daq {
    /// Number of the IIO device, where there are several.
    pub device: Option<u32>,
    /// Time from block to block; the device's own where not given.
    #[serde(with = "optional_duration")]
    pub period: Option<i64>,
    /// Where the reading task runs.
    pub cpu: u32,
    /// Blocks to read.
    #[serde(deserialize_with = "rounds")]
    pub rounds: u32,
    pub policy: Policy,
    #[serde(deserialize_with = "priority")]
    pub priority: i32,
}

impl Default for Daq {
    fn default() -> Daq {
        Daq {
            device: None,
            period: None,
            cpu: 0,
            rounds: 10_000,
            policy: Policy::Fifo,
            // Above the interrupt threads' customary 50, below the tasks of
            // the other measurements.
            priority: 60,
        }
    }
}

/// How tasks hand over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    Pipe,
}

/// Which CPUs to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CpuChoice {
    All,
    These(Vec<u32>),
}

impl Serialize for CpuChoice {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            CpuChoice::All => s.serialize_str("all"),
            CpuChoice::These(list) => list.serialize(s),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

impl<T> From<OneOrMore<T>> for Vec<T> {
    fn from(some: OneOrMore<T>) -> Vec<T> {
        match some {
            OneOrMore::One(x) => vec![x],
            OneOrMore::More(list) => list,
        }
    }
}

impl<'de> Deserialize<'de> for CpuChoice {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<CpuChoice, D::Error> {
        let fault = || serde::de::Error::custom("cpus takes 'all' or a list such as [0, 2]");
        match serde_yaml::Value::deserialize(d)? {
            serde_yaml::Value::String(s) if s == "all" => Ok(CpuChoice::All),
            value => {
                let list: OneOrMore<u32> = serde_yaml::from_value(value).map_err(|_| fault())?;
                let mut list: Vec<u32> = list.into();
                list.sort_unstable();
                list.dedup();
                (!list.is_empty())
                    .then_some(CpuChoice::These(list))
                    .ok_or_else(fault)
            }
        }
    }
}

fn rounds<'de, D: Deserializer<'de>>(d: D) -> Result<u32, D::Error> {
    let value = i64::deserialize(d)?;
    match u32::try_from(value) {
        Ok(n) if (1..=MOST_ROUNDS).contains(&n) => Ok(n),
        _ => Err(serde::de::Error::custom(format!(
            "rounds: {value} is out of range, use 1 to {MOST_ROUNDS}"
        ))),
    }
}

fn clock_names<S: Serializer>(clocks: &[Clock], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(clocks.iter().map(|c| c.name()))
}

fn clocks<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Clock>, D::Error> {
    let names: Vec<String> = OneOrMore::deserialize(d)?.into();
    let known = || Clock::ALL.map(Clock::name).join(", ");
    let mut out: Vec<Clock> = Vec::new();
    for name in names {
        let clock = Clock::from_name(&name).ok_or_else(|| {
            serde::de::Error::custom(format!("clock '{name}' is unknown, use {}", known()))
        })?;
        if !out.contains(&clock) {
            out.push(clock);
        }
    }
    if out.is_empty() {
        return Err(serde::de::Error::custom(format!(
            "clock is empty, use {}",
            known()
        )));
    }
    Ok(out)
}
