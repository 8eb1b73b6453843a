// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! A collected run directory.

use crate::{CardError, Samples};
use rtperf_record::{Measurement, Run};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// No board writes a larger run.json: a measurement takes about one kilobyte.
pub(crate) const RUN_JSON_MAX: u64 = 64 << 20;

/// A run directory whose run.json has been read.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    run: Run,
}

impl RunDir {
    /// Opens a run directory. Its run.json must be of a known format.
    pub fn open(path: impl AsRef<Path>) -> Result<RunDir, CardError> {
        let path = path.as_ref().to_owned();
        if !path.is_dir() {
            return Err(CardError::unusable(
                &path,
                "is no folder; give a run directory that rtperf collect wrote",
            ));
        }
        let json = path.join("run.json");
        if fs::symlink_metadata(&json).is_err() {
            return Err(CardError::unusable(
                &path,
                "has no run.json, so it is no run directory",
            ));
        }
        let (file, size) = open_inside(&path, "run.json")?;
        if size > RUN_JSON_MAX {
            return Err(CardError::damaged(
                &json,
                format!("is damaged: no run.json has {size} bytes"),
            ));
        }
        let mut bytes = Vec::new();
        file.take(RUN_JSON_MAX)
            .read_to_end(&mut bytes)
            .map_err(|e| CardError::damaged(&json, format!("cannot be read: {e}")))?;
        let run = parse_run(&bytes).map_err(|what| CardError::damaged(&json, what))?;
        Ok(RunDir { path, run })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The samples of a measurement of this run, checked against run.json:
    /// their place, size, count and SHA-256.
    pub fn samples(&self, measurement: &Measurement) -> Result<Samples, CardError> {
        let Some(file) = measurement.file.as_deref() else {
            let what = format!(
                "has no samples of {}{}",
                measurement.name, measurement.params
            );
            return Err(CardError::unusable(&self.path, what));
        };
        if !measurement.file_is_inside() {
            let what = format!("names a sample file outside its run directory: '{file}'");
            return Err(CardError::damaged(self.path.join("run.json"), what));
        }
        let (open, size) = open_inside(&self.path, file)?;
        Samples::read(open, size, measurement)
            .map_err(|what| CardError::damaged(self.path.join(file), what))
    }
}

/// Reads the bytes of a run.json; the error goes behind the file's name.
pub(crate) fn parse_run(bytes: &[u8]) -> Result<Run, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "is damaged: it is not UTF-8 text")?;
    Run::from_json(text).map_err(|e| e.to_string())
}

/// Opens a regular file below `dir`, following no symbolic link on the way,
/// and tells its size. `relative` must already be known to have no `..`.
pub(crate) fn open_inside(dir: &Path, relative: &str) -> Result<(File, u64), CardError> {
    let mut at = dir.to_owned();
    let mut parts = relative.split('/').peekable();
    while let Some(part) = parts.next() {
        at.push(part);
        let meta = fs::symlink_metadata(&at)
            .map_err(|e| CardError::damaged(&at, format!("cannot be read: {e}")))?;
        let expected = match parts.peek() {
            Some(_) => meta.is_dir(),
            None => meta.is_file(),
        };
        if !expected {
            let what = if meta.is_symlink() {
                "is a symbolic link; a run directory has none, collect it again"
            } else {
                "is not a regular file, as every file of a run is"
            };
            return Err(CardError::damaged(&at, what));
        }
    }
    let unreadable = |e: std::io::Error| CardError::damaged(&at, format!("cannot be read: {e}"));
    let file = File::open(&at).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    Ok((file, size))
}
