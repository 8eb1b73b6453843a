// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What the whole-program tests share.

// Each of them uses a part of it.
#![allow(dead_code)]

use rtperf_record::{parse_npy_header, parse_sums, Run};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_rtperf-run");

/// A folder that is gone when the test is over.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("rtperf-run-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn plan(&self, measurements: &str) -> PathBuf {
        let path = self.0.join("plan.yaml");
        let text = format!("version: 1\nname: test\nmeasurements: [{measurements}]\n");
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The only run below `out`.
    pub fn run_dir(&self) -> PathBuf {
        let runs = std::fs::read_dir(self.0.join("out")).unwrap();
        let runs: Vec<PathBuf> = runs.map(|e| e.unwrap().path()).collect();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0].clone()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn command(folder: &Folder, measurements: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.arg("--plan").arg(folder.plan(measurements));
    command.arg("--out").arg(folder.0.join("out"));
    command.args(["--trace", "none"]);
    command
}

/// A command whose explain pass finds exactly these programs.
pub fn with_programs(folder: &Folder, programs: &[(&str, &str)]) -> Command {
    let bin = folder.0.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    for (name, script) in programs {
        let path = bin.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
    }
    let mut command = Command::new(PROGRAM);
    command
        .arg("--plan")
        .arg(folder.plan("{measure: context-switch, rounds: 50}"));
    command
        .arg("--out")
        .arg(folder.0.join("out"))
        .env("PATH", bin)
        // Where a user who is not root has run-time files.
        .env("XDG_RUNTIME_DIR", &folder.0)
        .env("RTPERF_UST", "/nonexistent/librtperf-ust.so");
    command
}

pub fn run_of(path: &Path) -> Run {
    Run::from_json(&std::fs::read_to_string(path.join("run.json")).unwrap()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Real-time scheduling needs a permission that a test may not have. Asked once:
/// tests run side by side, and one that asks must not be in another's way.
pub fn permitted() -> bool {
    static PERMITTED: OnceLock<bool> = OnceLock::new();
    *PERMITTED.get_or_init(|| {
        let folder = Folder::new("permitted");
        let mut command = command(&folder, "{measure: context-switch, rounds: 1}");
        let done = command.output().unwrap();
        let allowed = done.status.code() == Some(0);
        if !allowed {
            let why = stderr(&done);
            assert!(why.contains("as root"), "skipped for no good reason: {why}");
            eprintln!("skipped: {why}");
        }
        allowed
    })
}

/// Every file of a finished run is whole and listed.
pub fn check_whole(dir: &Path, run: &Run) {
    let sums = std::fs::read_to_string(dir.join("SHA256SUMS")).unwrap();
    let sums = parse_sums(&sums).unwrap();
    assert_eq!(
        sums.len(),
        2 + run.measurements.iter().filter(|m| m.file.is_some()).count()
    );
    for m in run.measurements.iter().filter(|m| m.file.is_some()) {
        let file = m.file.as_deref().unwrap();
        let bytes = std::fs::read(dir.join(file)).unwrap();
        assert_eq!(parse_npy_header(&bytes, bytes.len() as u64), Ok(m.n));
        let listed = sums.iter().find(|s| s.path == file).unwrap();
        assert_eq!(Some(&listed.sha256), m.sha256.as_ref());
    }
}
