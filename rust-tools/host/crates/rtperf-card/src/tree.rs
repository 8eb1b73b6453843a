// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What all sources of runs have in common: folders and files.

use crate::text::is_disguise;
use std::io::Read;

/// No run has so many files in one folder.
pub(crate) const ENTRIES_MAX: usize = 20_000;

/// What a directory entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    File {
        size: u64,
    },
    Folder,
    /// Anything a run directory never has, and what it is.
    Other(&'static str),
    /// The entry is there, but what it is cannot be read, and why.
    Unreadable(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Exactly as the file system has it.
    pub name: Vec<u8>,
    pub kind: Kind,
}

/// A file system or folder to take runs from. Paths are relative to its root,
/// with `/` between parts that all passed [`safe_name`]; "" is the root.
/// Errors say why, behind the name of what was read.
pub(crate) trait Tree {
    /// Entries without `.` and `..`; an error if there are too many of them.
    fn list(&self, folder: &str) -> Result<Vec<Entry>, String>;
    /// The contents of a regular file.
    fn open(&self, file: &str) -> Result<Box<dyn Read + '_>, String>;
    /// More than all files together can hold.
    fn capacity(&self) -> u64;
}

/// `folder/name`, or `name` in the root.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// The name, if it is one that can be given to a file at the desk: it can
/// lead nowhere else, hide nothing and confuse no terminal.
pub(crate) fn safe_name(name: &[u8]) -> Option<&str> {
    let name = std::str::from_utf8(name).ok()?;
    let bad = |c: char| is_disguise(c) || matches!(c, '/' | '\\');
    let fits = !name.is_empty() && name.len() <= 200;
    (fits && name != "." && name != ".." && !name.contains(bad)).then_some(name)
}

/// Collects entries up to the bound.
pub(crate) fn bounded(
    entries: impl Iterator<Item = Result<Entry, String>>,
) -> Result<Vec<Entry>, String> {
    let mut out = Vec::new();
    for entry in entries {
        if out.len() == ENTRIES_MAX {
            return Err(format!(
                "has more than {ENTRIES_MAX} entries, so it is damaged"
            ));
        }
        let entry = entry?;
        if entry.name != b"." && entry.name != b".." {
            out.push(entry);
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_not_safe() {
        let long = vec![b'a'; 201];
        let bad: [&[u8]; 9] = [
            b"", b".", b"..", b"a/b", b"/etc", b"a\\b", b"a\nb", b"\xff", &long,
        ];
        for name in bad {
            assert_eq!(safe_name(name), None, "{name:?}");
        }
        assert!(safe_name("a\u{202e}b".as_bytes()).is_none());
        assert_eq!(safe_name(b"run.json"), Some("run.json"));
        assert_eq!(safe_name(b"..."), Some("..."));
    }

    #[test]
    fn endless_folders_are_refused() {
        let entry = || {
            Ok(Entry {
                name: b"x".to_vec(),
                kind: Kind::Folder,
            })
        };
        assert!(bounded(std::iter::repeat_with(entry)).is_err());
    }
}
