// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The run directory as it grows: after every measurement it is complete on
//! the card, whatever happens next.

use crate::fault::Fault;
use rtperf_board_facts::durable::{hash_file, sync_dir, write_file};
use rtperf_probe::{clock_tuple, SampleBuffer};
use rtperf_record::{
    npy_header, sums_line, Checks, Identity, Outcome, Params, PassRecord, Run, RunStatus,
    TracerRecord, Trigger, FORMAT_VERSION,
};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A run directory being written.
pub struct RunDir {
    path: PathBuf,
    pub run: Run,
    log: String,
    /// Finished files and their SHA-256, for the sums.
    sums: Vec<(String, String)>,
}

/// A run in which nothing has been measured yet.
pub fn empty_run() -> Run {
    Run {
        format_version: FORMAT_VERSION,
        id: String::new(),
        status: RunStatus::Running,
        trigger: Trigger::Command,
        rtperf_version: env!("CARGO_PKG_VERSION").to_owned(),
        instrumented: false,
        identity: Identity::default(),
        plan: serde_json::Value::Null,
        passes: Vec::new(),
        clocks: Vec::new(),
        checks: Checks::default(),
        settings_changed: Vec::new(),
        planned: 0,
        measurements: Vec::new(),
    }
}

impl RunDir {
    /// Begins the run in its (new, empty) directory: from here on it exists
    /// on the card, as one that is running.
    pub fn begin(path: PathBuf, run: Run) -> Result<RunDir, Fault> {
        let mut dir = RunDir {
            path,
            run,
            log: String::new(),
            sums: Vec::new(),
        };
        dir.checkpoint()?;
        Ok(dir)
    }

    /// Begins a pass of `planned` measurements.
    pub fn begin_pass(&mut self, name: &str, planned: usize) -> Result<(), Fault> {
        self.make_folder(name)?;
        self.make_folder(&format!("{name}/samples"))?;
        self.run.planned += planned as u32;
        self.enter_pass(name);
        self.checkpoint()
    }

    /// Enters a pass that is not made.
    pub fn skip_pass(&mut self, name: &str, why: String) -> Result<(), Fault> {
        self.enter_pass(name);
        self.end_pass(Outcome::Skipped, Some(why))
    }

    fn enter_pass(&mut self, name: &str) {
        self.run.passes.push(PassRecord {
            name: name.to_owned(),
            clocks_start: clock_tuple(),
            clocks_end: None,
            status: None,
            reason: None,
            tracer: None,
        });
    }

    /// What LTTng records in the pass that runs.
    pub fn set_tracer(&mut self, tracer: TracerRecord) {
        if let Some(pass) = self.run.passes.last_mut() {
            pass.tracer = Some(tracer);
        }
    }

    /// Ends the pass.
    pub fn end_pass(&mut self, status: Outcome, reason: Option<String>) -> Result<(), Fault> {
        if let Some(pass) = self.run.passes.last_mut() {
            pass.clocks_end = Some(clock_tuple());
            pass.status = Some(status);
            pass.reason = reason;
        }
        self.checkpoint()
    }

    fn make_folder(&self, name: &str) -> Result<(), Fault> {
        let path = self.path.join(name);
        std::fs::create_dir(&path)
            .and_then(|()| std::fs::File::open(self.path.as_path())?.sync_all())
            .map_err(|e| Fault::unusable(format!("{} cannot be made: {e}", path.display())))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Prints a line and keeps it for `log.txt`.
    pub fn say(&mut self, line: &str) {
        crate::print_line(line);
        self.log.push_str(line);
        self.log.push('\n');
    }

    /// Stores samples; returns the file's relative path and SHA-256.
    pub fn store(
        &mut self,
        pass: &str,
        name: &str,
        params: &Params,
        samples: &SampleBuffer,
    ) -> Result<(String, String), String> {
        let file = params.file_name(name);
        let relative = format!("{pass}/samples/{file}");
        if self.sums.iter().any(|(path, _)| *path == relative) {
            return Err(format!(
                "the plan has {name}{params} twice; the first one's samples are kept"
            ));
        }
        let folder = self.path.join(pass).join("samples");
        let fill = |out: &mut dyn Write| {
            out.write_all(&npy_header(samples.as_slice().len() as u64))?;
            samples
                .as_slice()
                .iter()
                .try_for_each(|s| out.write_all(&s.to_bytes()))
        };
        let written = write_file(&folder, &file, fill).map_err(|e| e.to_string())?;
        self.sums.push((relative.clone(), written.sha256.clone()));
        Ok((relative, written.sha256))
    }

    /// Brings the log and `run.json` on the card up to date.
    pub fn checkpoint(&mut self) -> Result<(), Fault> {
        let unusable = |e: &dyn std::fmt::Display| Fault::unusable(e);
        let json = self.run.to_json().map_err(|e| unusable(&e))?;
        for (name, text) in [("log.txt", &self.log), ("run.json", &json)] {
            let fill = |out: &mut dyn Write| out.write_all(text.as_bytes());
            let written = write_file(&self.path, name, fill).map_err(|e| unusable(&e))?;
            self.sums.retain(|(path, _)| path != name);
            self.sums.push((name.to_owned(), written.sha256));
        }
        Ok(())
    }

    /// Makes durable what another program has written below `folder`, and
    /// enters it in the checksums. What it never began to write is no fault.
    pub fn adopt(&mut self, folder: &str) -> Result<(), String> {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let path = self.path.join(&folder);
            if !path.exists() {
                continue;
            }
            let fault = |e: std::io::Error| format!("{} cannot be read: {e}", path.display());
            for entry in std::fs::read_dir(&path).map_err(fault)? {
                let entry = entry.map_err(fault)?;
                let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
                if entry.file_type().map_err(fault)?.is_dir() {
                    folders.push(name);
                } else {
                    let sha256 = hash_file(&entry.path()).map_err(|e| e.to_string())?;
                    self.sums.push((name, sha256));
                }
            }
            sync_dir(&path).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    /// Ends the run: writes the checksums, the last file.
    pub fn finish(&mut self, status: RunStatus) -> Result<(), Fault> {
        self.run.status = status;
        self.checkpoint()?;
        self.sums.sort();
        let lines: Vec<String> = self
            .sums
            .iter()
            .map(|(path, sum)| sums_line(sum, path))
            .collect();
        let fill = |out: &mut dyn Write| out.write_all(lines.concat().as_bytes());
        write_file(&self.path, "SHA256SUMS", fill).map_err(Fault::unusable)?;
        Ok(())
    }
}
