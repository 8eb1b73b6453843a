// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `run.json`: what was measured, on what, how, and how far it can be trusted.

use crate::{Params, RecordError, FORMAT_VERSION};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name of the pass without tracing, the only one that gates latency.
pub const PASS_MEASURE: &str = "measure";

/// Name of the pass under LTTng, which explains and never gates latency.
pub const PASS_EXPLAIN: &str = "explain";

/// The whole of `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Always [`FORMAT_VERSION`] after [`Run::from_json`].
    pub format_version: u32,
    /// The run-id, also the name of the run directory.
    pub id: String,
    pub status: RunStatus,
    pub trigger: Trigger,
    pub rtperf_version: String,
    /// Whether the image carries what the layer adds to a kernel or image.
    pub instrumented: bool,
    pub identity: Identity,
    /// The plan as executed, every default filled in.
    pub plan: serde_json::Value,
    pub passes: Vec<PassRecord>,
    pub clocks: Vec<ClockInfo>,
    pub checks: Checks,
    pub settings_changed: Vec<Setting>,
    /// How many measurements the plan leads to on this board; fewer in the
    /// list mean that the run goes on or was cut off.
    pub planned: u32,
    pub measurements: Vec<Measurement>,
}

/// How far the run got. A run that lost power stays `running`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    Running,
    Complete,
    Interrupted,
}

/// What started the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    Command,
    Autorun,
}

/// What the board is, without trusting its wall clock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// Name and version of the image, as one word.
    pub image: String,
    pub virtual_board: bool,
    pub model: Option<String>,
    pub serial: Option<String>,
    pub architecture: String,
    pub cpus: u32,
    pub boot_id: Option<String>,
    pub machine_id: Option<String>,
    pub os_release: BTreeMap<String, String>,
    /// `/etc/buildinfo` as OpenEmbedded's image-buildinfo writes it.
    pub buildinfo: Option<String>,
    pub kernel_release: String,
    pub kernel_version: String,
    pub kernel_build_id: Option<String>,
    pub kernel_command_line: String,
    pub device_tree_sha256: Option<String>,
}

/// A pass and the clocks at both its ends, which show any slew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PassRecord {
    pub name: String,
    pub clocks_start: ClockTuple,
    /// Absent while the pass runs, and after a power loss.
    pub clocks_end: Option<ClockTuple>,
    /// How it ended; absent while it runs, and after a power loss.
    pub status: Option<Outcome>,
    /// Why it is not `done`, or what it had to do without.
    pub reason: Option<String>,
    /// Of a pass under LTTng only.
    pub tracer: Option<TracerRecord>,
}

/// What LTTng was made to record, and what it says that it lost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracerRecord {
    /// `kernel`, `ust`.
    pub domains: Vec<String>,
    /// Names or patterns of the events that were enabled.
    pub events: Vec<String>,
    /// Events that found no room in LTTng's buffers; absent where it was not
    /// asked or did not say.
    pub discarded_events: Option<u64>,
    pub lost_packets: Option<u64>,
}

/// Clocks read one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockTuple {
    /// Raw count, where user space can read one.
    pub counter: Option<u64>,
    pub monotonic_ns: i64,
    pub monotonic_raw_ns: i64,
    pub realtime_ns: i64,
}

/// What a clock costs and how fine it is, as measured before the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClockInfo {
    pub name: String,
    /// The largest step that explains all differences seen, ns.
    pub granularity_ns: f64,
    /// Cheapest back-to-back read, ns, the mean of the best batch.
    pub read_cost_ns: f64,
    /// Of a counter only.
    pub frequency_hz: Option<f64>,
    /// Where the frequency comes from: `cntfrq_el0`, `cpuid`, `calibrated`.
    pub frequency_source: Option<String>,
}

/// Facts about the board that make figures trustworthy or not.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Checks {
    pub before: Vec<Check>,
    pub after: Vec<Check>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    pub status: CheckStatus,
    /// What was found, with its source.
    pub found: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckStatus {
    Ok,
    Failed,
    /// The board does not tell.
    Unknown,
}

/// A setting of the board that the plan asked to change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    pub name: String,
    pub from: String,
    pub to: String,
    pub restored: bool,
}

/// One measurement of the plan, whatever became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    pub name: String,
    pub params: Params,
    pub pass: String,
    pub status: Outcome,
    /// Why it is not `done`.
    pub reason: Option<String>,
    /// Samples, relative to the run directory.
    pub file: Option<String>,
    pub sha256: Option<String>,
    /// Samples in the file.
    pub n: u64,
    /// Samples that the plan asked for.
    pub expected_n: u64,
    pub duration_ns: i64,
    pub summary: Option<Summary>,
    pub tasks: Vec<TaskRecord>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Done,
    Failed,
    Skipped,
    Interrupted,
}

/// Figures of one measurement, for reading; judges compute from the samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub min_ns: i64,
    pub mean_ns: f64,
    pub max_ns: i64,
    pub sd_ns: f64,
    pub median_ns: i64,
    pub mad_ns: i64,
    /// Percentiles that the sample count supports, keyed `p99.9_ns`.
    pub percentiles: BTreeMap<String, i64>,
    pub lap_mean_ns: Option<f64>,
    pub overruns: u64,
}

/// One task of a measurement, as the kernel saw it while sampling.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRecord {
    pub task: u16,
    pub cpu: u32,
    /// Policy and priority as read back from the kernel.
    pub policy: String,
    pub priority: i32,
    /// Between first and last sample.
    pub minor_faults: u64,
    pub major_faults: u64,
    pub allocations: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

#[derive(Deserialize)]
struct Head {
    format_version: u32,
}

impl Run {
    /// Reads `run.json`. A version this crate does not know is refused with a
    /// hint before anything else is looked at.
    pub fn from_json(text: &str) -> Result<Run, RecordError> {
        let head: Head = serde_json::from_str(text)
            .map_err(|e| RecordError(format!("is not a run.json of rtperf: {e}")))?;
        if head.format_version != FORMAT_VERSION {
            return Err(RecordError(format!(
                "has run format {}, this rtperf reads format {FORMAT_VERSION}; {}",
                head.format_version,
                if head.format_version > FORMAT_VERSION {
                    "use a newer rtperf"
                } else {
                    "use the rtperf that the board's release came with"
                }
            )));
        }
        serde_json::from_str(text).map_err(|e| RecordError(format!("is damaged: {e}")))
    }

    /// The text of `run.json`.
    pub fn to_json(&self) -> Result<String, RecordError> {
        let mut text = serde_json::to_string_pretty(self)
            .map_err(|e| RecordError(format!("run.json cannot be written: {e}")))?;
        text.push('\n');
        Ok(text)
    }
}

impl Measurement {
    /// Parameters as metric names carry them: the pass is one of them unless
    /// it is the measuring one.
    pub fn metric_params(&self) -> Params {
        let mut params = self.params.clone();
        if self.pass != PASS_MEASURE {
            params.set("pass", &self.pass);
        }
        params
    }

    /// Whether the samples' file, if any, stays inside the run directory.
    pub fn file_is_inside(&self) -> bool {
        self.file.as_deref().map_or(true, crate::sums::is_inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimal() -> Run {
        Run {
            format_version: FORMAT_VERSION,
            id: "image-0123abcd-001".into(),
            status: RunStatus::Running,
            trigger: Trigger::Command,
            rtperf_version: "0.1.0".into(),
            instrumented: false,
            identity: Identity::default(),
            plan: serde_json::json!({}),
            passes: vec![],
            clocks: vec![],
            checks: Checks::default(),
            settings_changed: vec![],
            planned: 0,
            measurements: vec![],
        }
    }

    #[test]
    fn a_run_reads_back() {
        let run = minimal();
        assert_eq!(Run::from_json(&run.to_json().unwrap()), Ok(run));
    }

    #[test]
    fn a_pass_without_tracer_reads_back_too() {
        let text = r#"{"name": "measure", "clocks_start":
            {"counter": null, "monotonic_ns": 1, "monotonic_raw_ns": 2, "realtime_ns": 3}}"#;
        let mut pass: PassRecord = serde_json::from_str(text).unwrap();
        assert_eq!((pass.status, &pass.tracer), (None, &None));
        pass.status = Some(Outcome::Done);
        pass.tracer = Some(TracerRecord {
            domains: vec!["kernel".into()],
            discarded_events: Some(7),
            ..TracerRecord::default()
        });
        let text = serde_json::to_string(&pass).unwrap();
        assert_eq!(serde_json::from_str::<PassRecord>(&text).unwrap(), pass);
    }

    #[test]
    fn other_versions_are_refused_with_a_hint() {
        for (version, hint) in [(FORMAT_VERSION + 1, "newer rtperf"), (0, "board's release")] {
            let text = format!("{{\"format_version\": {version}, \"unknown\": [1]}}");
            let e = Run::from_json(&text).unwrap_err();
            assert!(
                e.0.contains(&version.to_string()) && e.0.contains(hint),
                "{e}"
            );
        }
    }

    #[test]
    fn damage_is_an_error_and_never_a_panic() {
        let text = minimal().to_json().unwrap();
        for cut in 0..text.len() - 2 {
            assert!(Run::from_json(&text[..cut]).is_err());
        }
    }
}
