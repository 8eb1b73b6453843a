// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reading and checking a plan.

mod entry;
mod types;

pub use entry::{ContextSwitch, CpuChoice, Daq, Entry, TimerLatency};
pub use types::{Autorun, Finish, Idle, Load, RtThrottling, Settings};

use crate::cli::{PlanArgs, DEFAULT_PLAN};
use crate::fault::Fault;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Version of the plan's format.
const PLAN_VERSION: u32 = 1;

/// Names of the measurements, for plans, `--only` and messages.
pub const MEASUREMENTS: [&str; 4] = [
    "timer-latency",
    "context-switch",
    "interrupt-latency",
    "daq-stream",
];

/// A plan as executed: every default filled in.
#[derive(Debug, Serialize)]
pub struct Plan {
    pub version: u32,
    pub name: String,
    pub autorun: Autorun,
    pub settings: Settings,
    pub load: Vec<Load>,
    pub measurements: Vec<Entry>,
}

/// The file before its measurements are looked at one by one.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with version, name and measurements"
)]
struct PlanFile {
    version: u32,
    name: String,
    #[serde(default)]
    autorun: Autorun,
    #[serde(default)]
    settings: Settings,
    #[serde(default)]
    load: Vec<Load>,
    measurements: Vec<serde_yaml::Value>,
}

/// Reads the plan that the arguments name and applies `--only` and `--quick`.
pub fn load(args: &PlanArgs) -> Result<Plan, Fault> {
    let path = args.plan.as_deref().unwrap_or(Path::new(DEFAULT_PLAN));
    let text = std::fs::read_to_string(path).map_err(|e| {
        Fault::unusable(format!(
            "the plan {} cannot be read: {e}; name one with --plan FILE",
            path.display()
        ))
    })?;
    let mut plan =
        parse(&text).map_err(|e| Fault::unusable(format!("the plan {}: {e}", path.display())))?;
    choose(&mut plan, &args.only)?;
    if args.quick {
        plan.measurements.iter_mut().for_each(Entry::quick);
    }
    Ok(plan)
}

fn choose(plan: &mut Plan, only: &[String]) -> Result<(), Fault> {
    for name in only {
        if !MEASUREMENTS.contains(&name.as_str()) {
            return Err(Fault::unusable(format!("--only: {}", unknown(name))));
        }
        if !plan.measurements.iter().any(|m| m.name() == name) {
            return Err(Fault::unusable(format!(
                "--only {name}: the plan '{}' has no such measurement; choose one of its own, \
                 as `rtperf-run plan` prints them",
                plan.name
            )));
        }
    }
    if !only.is_empty() {
        plan.measurements
            .retain(|m| only.iter().any(|o| o == m.name()));
    }
    Ok(())
}

/// Reads a plan's text. The error is a sentence without the file's name.
pub fn parse(text: &str) -> Result<Plan, String> {
    let file: PlanFile = serde_yaml::from_str(text).map_err(|e| e.to_string())?;
    if file.version != PLAN_VERSION {
        return Err(format!(
            "version {} is unknown, this rtperf-run reads version {PLAN_VERSION}",
            file.version
        ));
    }
    if file.measurements.is_empty() {
        return Err("it names no measurement; `rtperf-run list` shows them".to_owned());
    }
    file.load.iter().try_for_each(Load::check)?;
    let read = |(i, value): (usize, serde_yaml::Value)| entry(i + 1, value);
    let measurements = file.measurements.into_iter().enumerate().map(read);
    Ok(Plan {
        version: file.version,
        name: file.name,
        autorun: file.autorun,
        settings: file.settings,
        load: file.load,
        measurements: measurements.collect::<Result<_, _>>()?,
    })
}

/// Reads measurement `number` of the list. One by one, so that an error can
/// say which one it is in.
fn entry(number: usize, value: serde_yaml::Value) -> Result<Entry, String> {
    let fault = |why: String| format!("measurement {number}: {why}");
    let serde_yaml::Value::Mapping(mut fields) = value else {
        return Err(fault("it is not a mapping with the key 'measure'".into()));
    };
    let name = fields.remove("measure");
    let Some(serde_yaml::Value::String(name)) = name else {
        return Err(fault("the key 'measure' with a name is missing".into()));
    };
    let fields = serde_yaml::Value::Mapping(fields);
    Entry::read(&name, fields).map_err(|why| format!("measurement {number} ({name}): {why}"))
}

/// The sentence for a name that is no measurement.
pub fn unknown(name: &str) -> String {
    let known = MEASUREMENTS.join(", ");
    format!("'{name}' is no measurement; known are {known} (see `rtperf-run list`)")
}

#[cfg(test)]
mod tests;
