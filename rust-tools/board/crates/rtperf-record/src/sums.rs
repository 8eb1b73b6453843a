// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `SHA256SUMS`: the format of coreutils' `sha256sum`, relative paths only.

use crate::RecordError;

/// One line of `SHA256SUMS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SumsEntry {
    /// 64 lower-case hexadecimal digits.
    pub sha256: String,
    /// Path relative to the run directory, `/` between its parts.
    pub path: String,
}

/// One line for `path`, with its line end.
pub fn sums_line(sha256: &str, path: &str) -> String {
    format!("{sha256}  {path}\n")
}

/// Reads a whole file. A path that could leave the run directory is an error.
pub fn parse_sums(text: &str) -> Result<Vec<SumsEntry>, RecordError> {
    let fault = |n: usize, what: &str| RecordError(format!("line {}: {what}", n + 1));
    let mut out = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let (sum, path) = line
            .split_once("  ")
            .ok_or_else(|| fault(n, "is not '<sha256>  <path>'"))?;
        if sum.len() != 64 || !sum.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(fault(n, "has no SHA-256 of 64 hexadecimal digits"));
        }
        if !is_inside(path) {
            return Err(fault(n, "names a path outside the run directory"));
        }
        out.push(SumsEntry {
            sha256: sum.to_owned(),
            path: path.to_owned(),
        });
    }
    Ok(out)
}

/// Whether a relative path stays below the folder it is relative to.
pub(crate) fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
        && !path.contains(['\\', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_round_trip() {
        let sum = "ab".repeat(32);
        let text = sums_line(&sum, "run.json") + &sums_line(&sum, "measure/samples/a-1.npy");
        let read = parse_sums(&text).unwrap();
        assert_eq!(read[1].path, "measure/samples/a-1.npy");
        assert_eq!(read.len(), 2);
    }

    #[test]
    fn hostile_paths_and_lines_are_refused() {
        let sum = "0".repeat(64);
        for path in ["../x", "/etc/passwd", "a/../../b", "", "a//b", "a\\b", "."] {
            assert!(parse_sums(&format!("{sum}  {path}\n")).is_err(), "{path}");
        }
        assert!(parse_sums("xyz  run.json\n").is_err());
        assert!(parse_sums(&format!("{sum} run.json\n")).is_err());
    }
}
