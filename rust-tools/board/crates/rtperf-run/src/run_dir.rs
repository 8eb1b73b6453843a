// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The run directory as it grows: after every measurement it is complete on
//! the card, whatever happens next.

use crate::fault::Fault;
use rtperf_board_facts::durable::write_file;
use rtperf_probe::{clock_tuple, SampleBuffer};
use rtperf_record::{
    npy_header, sums_line, Checks, Identity, Params, PassRecord, Run, RunStatus, Trigger,
    FORMAT_VERSION, PASS_MEASURE,
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
        dir.make_folder(PASS_MEASURE)?;
        dir.make_folder("measure/samples")?;
        dir.run.passes.push(PassRecord {
            name: PASS_MEASURE.to_owned(),
            clocks_start: clock_tuple(),
            clocks_end: None,
        });
        dir.checkpoint()?;
        Ok(dir)
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
        name: &str,
        params: &Params,
        samples: &SampleBuffer,
    ) -> Result<(String, String), String> {
        let file = params.file_name(name);
        let relative = format!("{PASS_MEASURE}/samples/{file}");
        if self.sums.iter().any(|(path, _)| *path == relative) {
            return Err(format!(
                "the plan has {name}{params} twice; the first one's samples are kept"
            ));
        }
        let folder = self.path.join(PASS_MEASURE).join("samples");
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

    /// Ends the run: closes the pass, then writes the checksums, the last file.
    pub fn finish(&mut self, status: RunStatus) -> Result<(), Fault> {
        self.run.status = status;
        if let Some(pass) = self.run.passes.last_mut() {
            pass.clocks_end = Some(clock_tuple());
        }
        self.checkpoint()?;
        let mut lines: Vec<String> = Vec::new();
        self.sums.sort();
        for (path, sha256) in &self.sums {
            lines.push(sums_line(sha256, path));
        }
        let fill = |out: &mut dyn Write| out.write_all(lines.concat().as_bytes());
        write_file(&self.path, "SHA256SUMS", fill).map_err(Fault::unusable)?;
        Ok(())
    }
}
