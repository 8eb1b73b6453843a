// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The parts of a plan around its measurements.

use rtperf_record::{format_ns, parse_ns};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A duration with a unit.
pub mod duration {
    use super::*;

    pub fn serialize<S: Serializer>(ns: &i64, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&format_ns(*ns))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<i64, D::Error> {
        let text = match serde_yaml::Value::deserialize(d)? {
            serde_yaml::Value::String(text) => text,
            serde_yaml::Value::Number(n) => n.to_string(),
            _ => String::new(),
        };
        let ns = parse_ns(&text).map_err(serde::de::Error::custom)?;
        if ns <= 0 {
            return Err(serde::de::Error::custom(format!("'{text}' is not above 0")));
        }
        Ok(ns)
    }
}

/// A duration that may be left out.
pub mod optional_duration {
    use super::*;

    pub fn serialize<S: Serializer>(ns: &Option<i64>, s: S) -> Result<S::Ok, S::Error> {
        match ns {
            Some(ns) => super::duration::serialize(ns, s),
            None => s.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<i64>, D::Error> {
        match serde_yaml::Value::deserialize(d)? {
            serde_yaml::Value::Null => Ok(None),
            given => super::duration::deserialize(given)
                .map(Some)
                .map_err(serde::de::Error::custom),
        }
    }
}

/// A real-time priority. 0 is SCHED_OTHER's and 100 nobody's: the kernel would
/// refuse them, so the plan does.
pub fn priority<'de, D: Deserializer<'de>>(d: D) -> Result<i32, D::Error> {
    let value = i64::deserialize(d)?;
    match i32::try_from(value) {
        Ok(p) if (1..=99).contains(&p) => Ok(p),
        _ => Err(serde::de::Error::custom(format!(
            "priority {value} is no real-time priority, use 1 to 99"
        ))),
    }
}

/// Real-time scheduling policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    #[default]
    Fifo,
    Rr,
}

impl From<Policy> for rtperf_probe::Policy {
    fn from(p: Policy) -> Self {
        match p {
            Policy::Fifo => rtperf_probe::Policy::Fifo,
            Policy::Rr => rtperf_probe::Policy::RoundRobin,
        }
    }
}

/// What an unattended run does around measuring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Autorun {
    /// Runs of each image, one a boot.
    pub runs: u32,
    /// How long to wait for the board to come to rest, at most.
    #[serde(with = "duration")]
    pub settle: i64,
    /// When to end whatever has not finished, counted from the start.
    #[serde(with = "duration")]
    pub deadline: i64,
    pub finish: Finish,
}

impl Default for Autorun {
    fn default() -> Autorun {
        Autorun {
            runs: 1,
            settle: 60_000_000_000,
            deadline: 1_800_000_000_000,
            finish: Finish::Stay,
        }
    }
}

/// What becomes of the board after an unattended run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    Stay,
    Poweroff,
    Reboot,
}

/// Settings of the board that are changed for the run and restored after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    pub rt_throttling: RtThrottling,
    pub idle: Idle,
}

/// `kernel.sched_rt_runtime_us`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RtThrottling {
    #[default]
    AsShipped,
    Off,
}

/// Idle states, by `/dev/cpu_dma_latency`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Idle {
    #[default]
    AsShipped,
    Pinned,
}

impl Idle {
    pub fn name(self) -> &'static str {
        match self {
            Idle::AsShipped => "as-shipped",
            Idle::Pinned => "pinned",
        }
    }
}

/// A task that competes with every measurement of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    pub name: String,
    pub cpu: u32,
    #[serde(default)]
    pub policy: Policy,
    #[serde(deserialize_with = "priority")]
    pub priority: i32,
    #[serde(with = "duration")]
    pub busy: i64,
    #[serde(with = "duration")]
    pub period: i64,
}

impl Load {
    pub fn check(&self) -> Result<(), String> {
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if self.name.is_empty() || self.name == "none" || !self.name.chars().all(word) {
            return Err(format!(
                "load '{}' needs a name of letters, digits, - and _ other than 'none'",
                self.name
            ));
        }
        if self.busy >= self.period {
            return Err(format!(
                "load '{}' is busy for {} of every {}: it would never let go, make busy shorter",
                self.name,
                format_ns(self.busy),
                format_ns(self.period)
            ));
        }
        Ok(())
    }
}
