// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads a whole run directory once: hashes every file and, if wanted, writes
//! a copy. What cannot be read is named, and the rest goes on.

use crate::run_dir::RUN_JSON_MAX;
use crate::samples::hex;
use crate::tree::{Entry, Kind, Tree, join, safe_name};
use crate::{CardError, printable};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

const DEPTH_MAX: usize = 8;
const FILES_MAX: usize = 100_000;
const CHUNK: usize = 128 << 10;
const TWICE: &str = "is there twice; one of the two was left out";

/// Something wrong with a file of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Relative to the run directory.
    pub file: String,
    /// Goes behind the file's name.
    pub what: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&printable(&format!("{} {}", self.file, self.what)))
    }
}

/// What a run directory holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// SHA-256 of each file, or none where it could not be read to its end.
    pub files: BTreeMap<String, Option<String>>,
    pub faults: Vec<Fault>,
    /// Files that were being written when the power went.
    pub leftovers: Vec<String>,
    pub run_json: Option<Vec<u8>>,
    pub sums: Option<Vec<u8>>,
}

impl Contents {
    pub fn fault(&mut self, file: &str, what: impl Into<String>) {
        self.faults.push(Fault {
            file: file.to_owned(),
            what: what.into(),
        });
    }
}

/// A run directory being read.
pub(crate) struct Take<'a> {
    pub tree: &'a dyn Tree,
    /// The run directory in the tree.
    pub root: &'a str,
    /// An empty folder for the copy.
    pub copy_to: Option<&'a Path>,
    /// Told the bytes as they are read.
    pub progress: &'a mut dyn FnMut(u64),
    /// Bytes that may still be read before the source contradicts itself.
    pub budget: &'a mut u64,
}

impl Take<'_> {
    /// Reads it all. An error only where the copy cannot be written.
    pub fn run(mut self) -> Result<Contents, CardError> {
        let mut out = Contents::default();
        self.folder("", 0, &mut out)?;
        Ok(out)
    }

    fn folder(&mut self, at: &str, depth: usize, out: &mut Contents) -> Result<(), CardError> {
        let shown = if at.is_empty() {
            "the run directory"
        } else {
            at
        };
        if depth > DEPTH_MAX {
            out.fault(shown, "is nested too deeply for a run");
            return Ok(());
        }
        let listed = match at {
            "" => self.tree.list(self.root),
            _ => self.tree.list(&join(self.root, at)),
        };
        let entries = match listed {
            Ok(entries) => entries,
            Err(what) => {
                out.fault(shown, what);
                return Ok(());
            }
        };
        for entry in entries {
            self.entry(at, entry, depth, out)?;
        }
        self.finish_folder(at)
    }

    fn entry(
        &mut self,
        at: &str,
        entry: Entry,
        depth: usize,
        out: &mut Contents,
    ) -> Result<(), CardError> {
        let Some(name) = safe_name(&entry.name) else {
            let name = entry.name.escape_ascii().to_string();
            out.fault(
                &join(at, &name),
                "has a name that no run has; it was left out",
            );
            return Ok(());
        };
        let path = join(at, name);
        if name.starts_with('.') && name.ends_with(".tmp") {
            out.leftovers.push(path);
            return Ok(());
        }
        match entry.kind {
            Kind::Folder => {
                if self.make_folder(&path, out)? {
                    self.folder(&path, depth + 1, out)?;
                }
                Ok(())
            }
            Kind::File { .. } if out.files.len() >= FILES_MAX => {
                out.fault(&path, "is one file too many for a run; it was left out");
                Ok(())
            }
            Kind::File { size } => self.file(&path, size, out),
            Kind::Other(what) => {
                out.fault(&path, format!("is {what}; it was left out"));
                Ok(())
            }
            Kind::Unreadable(what) => {
                out.fault(&path, what);
                Ok(())
            }
        }
    }

    fn file(&mut self, path: &str, size: u64, out: &mut Contents) -> Result<(), CardError> {
        if out.files.insert(path.to_owned(), None).is_some() {
            out.fault(path, TWICE);
            return Ok(());
        }
        if size > self.tree.capacity() {
            let what = format!("is damaged: it claims {size} bytes, more than its partition has");
            out.fault(path, what);
            return Ok(());
        }
        let Some(left) = self.budget.checked_sub(size) else {
            out.fault(
                path,
                "is damaged: with it the files hold more than their partition can",
            );
            return Ok(());
        };
        *self.budget = left;
        let mut source = match self.tree.open(&join(self.root, path)) {
            Ok(source) => source,
            Err(what) => {
                out.fault(path, what);
                return Ok(());
            }
        };
        let mut kept =
            (matches!(path, "run.json" | "SHA256SUMS") && size <= RUN_JSON_MAX).then(Vec::new);
        let (sha256, fault) = self.stream(path, size, &mut source, kept.as_mut())?;
        match fault {
            Some(what) => out.fault(path, what),
            None => _ = out.files.insert(path.to_owned(), Some(sha256)),
        }
        match path {
            "run.json" => out.run_json = kept,
            "SHA256SUMS" => out.sums = kept,
            _ => {}
        }
        Ok(())
    }

    /// Passes `size` bytes on; returns their SHA-256 and what went wrong.
    fn stream(
        &mut self,
        path: &str,
        size: u64,
        source: &mut dyn Read,
        mut kept: Option<&mut Vec<u8>>,
    ) -> Result<(String, Option<String>), CardError> {
        let mut copy = match self.copy_to.map(|dir| dir.join(path)) {
            None => None,
            Some(to) => match File::create_new(&to) {
                Ok(file) => Some(file),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                    return Ok((String::new(), Some(TWICE.to_owned())));
                }
                Err(e) => return Err(unwritable(&to, e)),
            },
        };
        let mut sum = Sha256::new();
        let mut buf = vec![0; CHUNK];
        let mut left = size;
        let mut fault = None;
        while left > 0 {
            let want = buf.len().min(usize::try_from(left).unwrap_or(CHUNK));
            let n = match source.read(&mut buf[..want]) {
                Ok(0) => {
                    fault = Some(format!("ends {left} bytes before its size of {size}"));
                    break;
                }
                Ok(n) => n,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => {
                    let done = size - left;
                    fault = Some(format!("cannot be read after {done} of {size} bytes: {e}"));
                    break;
                }
            };
            sum.update(&buf[..n]);
            if let Some(kept) = kept.as_deref_mut() {
                kept.extend_from_slice(&buf[..n]);
            }
            if let (Some(copy), Some(dir)) = (copy.as_mut(), self.copy_to) {
                copy.write_all(&buf[..n])
                    .map_err(|e| unwritable(&dir.join(path), e))?;
            }
            left -= n as u64;
            (self.progress)(n as u64);
        }
        if let (Some(copy), Some(dir)) = (copy, self.copy_to) {
            copy.sync_all()
                .map_err(|e| unwritable(&dir.join(path), e))?;
        }
        Ok((hex(&sum.finalize()), fault))
    }

    /// Makes a folder of the copy; false if the card has it twice.
    fn make_folder(&self, path: &str, out: &mut Contents) -> Result<bool, CardError> {
        let Some(dir) = self.copy_to else {
            return Ok(true);
        };
        let copy = dir.join(path);
        match fs::create_dir(&copy) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                out.fault(path, TWICE);
                Ok(false)
            }
            Err(e) => Err(unwritable(&copy, e)),
        }
    }

    fn finish_folder(&self, at: &str) -> Result<(), CardError> {
        let Some(dir) = self.copy_to else {
            return Ok(());
        };
        sync_folder(&dir.join(at))
    }
}

pub(crate) fn sync_folder(path: &Path) -> Result<(), CardError> {
    let sync = || File::open(path)?.sync_all();
    sync().map_err(|e| unwritable(path, e))
}

pub(crate) fn unwritable(path: &Path, e: std::io::Error) -> CardError {
    CardError::unusable(path, format!("cannot be written: {e}"))
}
