// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What was wrong with a trace and where. Reading goes on after each of them.

use std::fmt;
use std::path::{Path, PathBuf};

/// Diagnostics kept; a broken trace may have one per packet, and memory must
/// not grow with it.
const KEPT: usize = 100;

/// Where in a file something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Byte offset from the start of the file.
    Byte(u64),
    /// Line of metadata text, from 1.
    Line(u32),
    /// The file as a whole.
    File,
}

/// One fault of a trace that reading survived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub file: PathBuf,
    pub place: Place,
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        match self.place {
            Place::Byte(n) => write!(f, ", byte {n}")?,
            Place::Line(n) => write!(f, ", line {n}")?,
            Place::File => {}
        }
        write!(f, ": {}", self.message)
    }
}

/// The first faults in full, the rest as a number.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    more: u64,
}

impl Diagnostics {
    pub(crate) fn push(&mut self, file: &Path, place: Place, message: impl Into<String>) {
        if self.list.len() < KEPT {
            self.list.push(Diagnostic {
                file: file.to_owned(),
                place,
                message: message.into(),
            });
        } else {
            self.more += 1;
        }
    }

    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }

    /// How many more there were than [`Diagnostics::list`] holds.
    pub fn more(&self) -> u64 {
        self.more
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
