// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files of the board, read below one folder and never without a bound.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Longest single line that any file of interest holds.
const LINE_CAP: u64 = 4096;

/// Most entries that are listed of one folder.
const ENTRIES_CAP: usize = 65_536;

/// The folder below which the board's files are: `/`, or a copy for tests.
#[derive(Debug, Clone)]
pub struct Root(PathBuf);

impl Default for Root {
    fn default() -> Root {
        Root::new("/")
    }
}

impl Root {
    pub fn new(path: impl Into<PathBuf>) -> Root {
        Root(path.into())
    }

    /// Whether this is the machine we run on, so that its instructions and
    /// system calls say the same as its files.
    pub(crate) fn is_machine(&self) -> bool {
        self.0 == Path::new("/")
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.0.join(relative)
    }

    pub(crate) fn exists(&self, relative: &str) -> bool {
        self.path(relative).exists()
    }

    /// At most `cap` bytes from the start of a file.
    pub(crate) fn bytes(&self, relative: &str, cap: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = File::open(self.path(relative))?;
        file.take(cap).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The like as text; what is not UTF-8 is replaced.
    pub(crate) fn text(&self, relative: &str, cap: u64) -> Option<String> {
        let bytes = self.bytes(relative, cap).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The first line, or the first string of a device tree property, without
    /// control characters. `None` when there is nothing in it.
    pub(crate) fn line(&self, relative: &str) -> Option<String> {
        let text = self.text(relative, LINE_CAP)?;
        let line = text.split(['\n', '\0']).next().unwrap_or_default();
        let line: String = line.chars().filter(|c| !c.is_control()).collect();
        let line = line.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    pub(crate) fn number(&self, relative: &str) -> Option<i64> {
        self.line(relative)?.parse().ok()
    }

    /// Names in a folder, `cpu2` before `cpu10`; none when it cannot be read.
    pub(crate) fn entries(&self, relative: &str) -> Vec<String> {
        let Ok(folder) = std::fs::read_dir(self.path(relative)) else {
            return Vec::new();
        };
        let names = folder.take(ENTRIES_CAP).flatten();
        let mut names: Vec<String> = names
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        names
    }

    /// Entries named `prefix` and a number, by that number.
    pub(crate) fn numbered(&self, relative: &str, prefix: &str) -> Vec<(u32, String)> {
        let number = |name: String| {
            let n = name.strip_prefix(prefix)?.parse().ok()?;
            Some((n, format!("{relative}/{name}")))
        };
        self.entries(relative)
            .into_iter()
            .filter_map(number)
            .collect()
    }
}

/// Most CPUs that a list is believed to name.
const CPUS_CAP: u32 = 8192;

/// Reads the kernel's list format, `0-3,8`. Nonsense adds nothing.
pub(crate) fn cpu_list(text: &str) -> Vec<u32> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse()) {
            cpus.extend(first..=u32::min(last, CPUS_CAP - 1));
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(cpu_list("0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(cpu_list("3,1-2,2"), [1, 2, 3]);
        assert_eq!(cpu_list("4-3,x,-,,7-"), [0u32; 0]);
        assert!(cpu_list("0-4294967295").len() <= CPUS_CAP as usize);
    }

    #[test]
    fn lines_are_short_clean_and_single() {
        let tree = Tree::new("lines");
        tree.file("model", b"Board \x1b[31mA\0second\0");
        tree.file("empty", b"\n");
        tree.file("long", [b'a'; 10_000]);
        let root = tree.root();
        assert_eq!(root.line("model").as_deref(), Some("Board [31mA"));
        assert_eq!(root.line("empty"), None);
        assert_eq!(root.line("missing"), None);
        assert_eq!(root.line("long").map(|l| l.len() as u64), Some(LINE_CAP));
    }

    #[test]
    fn numbered_entries_come_in_order() {
        let tree = Tree::new("numbered");
        for name in ["cpu10", "cpu2", "cpufreq", "cpu0"] {
            tree.folder(&format!("sys/{name}"));
        }
        let numbers: Vec<u32> = tree
            .root()
            .numbered("sys", "cpu")
            .iter()
            .map(|c| c.0)
            .collect();
        assert_eq!(numbers, [0, 2, 10]);
    }
}
