// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Run directories as the board writes them, for tests. A development
//! dependency only: it panics where a test has to fail anyway.

#![forbid(unsafe_code)]

pub mod card;

use rtperf_record::{
    Check, CheckStatus, Checks, FORMAT_VERSION, Identity, Measurement, Outcome, PASS_MEASURE,
    Params, Run, RunStatus, Sample, TaskRecord, Trigger, npy_header, sums_line,
};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// A run that is built step by step, then written as a run directory.
#[derive(Debug, Clone)]
pub struct RunBuilder {
    pub run: Run,
    files: Vec<(String, Vec<u8>)>,
}

impl RunBuilder {
    /// A complete run of a virtual board without any measurement.
    pub fn new(id: &str) -> RunBuilder {
        let run = Run {
            format_version: FORMAT_VERSION,
            id: id.to_owned(),
            status: RunStatus::Complete,
            trigger: Trigger::Command,
            rtperf_version: "0.1.0".into(),
            instrumented: false,
            identity: Identity {
                image: "test-image-1.0".into(),
                virtual_board: true,
                model: Some("linux,dummy-virt".into()),
                architecture: "aarch64".into(),
                cpus: 2,
                boot_id: Some("0f1e2d3c-0000-4000-8000-000000000001".into()),
                kernel_release: "6.12.0-rt".into(),
                ..Identity::default()
            },
            plan: serde_json::json!({}),
            passes: vec![],
            clocks: vec![],
            checks: Checks::default(),
            settings_changed: vec![],
            planned: 3,
            measurements: vec![],
        };
        RunBuilder { run, files: vec![] }
    }

    /// Any other change of run.json.
    pub fn edit(mut self, change: impl FnOnce(&mut Run)) -> RunBuilder {
        change(&mut self.run);
        self
    }

    /// A check that was made before the run.
    pub fn check(mut self, name: &str, status: CheckStatus) -> RunBuilder {
        self.run.checks.before.push(Check {
            name: name.to_owned(),
            status,
            found: "for a test".into(),
        });
        self
    }

    /// A measurement that was done, with a sample for each latency.
    pub fn measured(self, name: &str, params: &[(&str, &str)], latencies: &[i64]) -> RunBuilder {
        let sample = |(i, &latency_ns): (usize, &i64)| Sample {
            time_ns: 1_000_000 * (i as i64 + 1),
            latency_ns,
            round: i as u32,
            ..Sample::default()
        };
        let samples: Vec<Sample> = latencies.iter().enumerate().map(sample).collect();
        self.measured_samples(name, params, &samples)
    }

    /// The same with the samples spelled out.
    pub fn measured_samples(
        mut self,
        name: &str,
        params: &[(&str, &str)],
        samples: &[Sample],
    ) -> RunBuilder {
        let params = to_params(params);
        let file = format!("{PASS_MEASURE}/samples/{}", params.file_name(name));
        let mut bytes = npy_header(samples.len() as u64).to_vec();
        bytes.extend(samples.iter().flat_map(|s| s.to_bytes()));
        self.run.measurements.push(Measurement {
            status: Outcome::Done,
            file: Some(file.clone()),
            sha256: Some(sha256(&bytes)),
            n: samples.len() as u64,
            expected_n: samples.len() as u64,
            duration_ns: 1_000_000 * samples.len() as i64,
            tasks: vec![TaskRecord {
                policy: "SCHED_FIFO".into(),
                priority: 80,
                ..TaskRecord::default()
            }],
            ..without_samples(name, params)
        });
        self.files.push((file, bytes));
        self
    }

    /// A measurement that was not done, and why.
    pub fn not_measured(
        mut self,
        name: &str,
        params: &[(&str, &str)],
        status: Outcome,
        reason: &str,
    ) -> RunBuilder {
        self.run.measurements.push(Measurement {
            status,
            reason: Some(reason.to_owned()),
            ..without_samples(name, to_params(params))
        });
        self
    }

    /// Writes `<parent>/<id>` and returns it. A run that is still `Running`
    /// gets no SHA256SUMS, as after a power cut.
    pub fn write(&self, parent: &Path) -> PathBuf {
        let dir = parent.join(&self.run.id);
        let json = self.run.to_json().expect("a test's run is serialisable");
        let mut files = vec![
            ("log.txt".to_owned(), b"log of a test\n".to_vec()),
            ("run.json".to_owned(), json.into_bytes()),
        ];
        files.extend(self.files.iter().cloned());
        let mut sums = String::new();
        for (name, bytes) in &files {
            put(&dir.join(name), bytes);
            sums += &sums_line(&sha256(bytes), name);
        }
        if self.run.status != RunStatus::Running {
            put(&dir.join("SHA256SUMS"), sums.as_bytes());
        }
        dir
    }
}

/// Lower-case SHA-256.
pub fn sha256(bytes: &[u8]) -> String {
    let sum = Sha256::digest(bytes);
    sum.iter().map(|b| format!("{b:02x}")).collect()
}

/// A folder that goes away with the value.
pub fn temp_dir() -> tempfile::TempDir {
    tempfile::tempdir().expect("a test needs a temporary folder")
}

fn put(path: &Path, bytes: &[u8]) {
    let parent = path.parent().expect("a run's file has a folder");
    fs::create_dir_all(parent).expect("a test's folder can be made");
    fs::write(path, bytes).expect("a test's file can be written");
}

fn to_params(pairs: &[(&str, &str)]) -> Params {
    let mut params = Params::default();
    for (key, value) in pairs {
        params.set(key, value);
    }
    params
}

fn without_samples(name: &str, params: Params) -> Measurement {
    Measurement {
        name: name.to_owned(),
        params,
        pass: PASS_MEASURE.into(),
        status: Outcome::Skipped,
        reason: None,
        file: None,
        sha256: None,
        n: 0,
        expected_n: 0,
        duration_ns: 0,
        summary: None,
        tasks: vec![],
    }
}
