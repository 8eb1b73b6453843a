// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Event by event the same as babeltrace2: order, time, CPU, name, every
//! field.
//!
//! A small recorded trace lies in the repository. Larger ones are read from
//! the folder that RTPERF_TRACES names: every archive there that babeltrace2
//! can read.

mod support;

use rtperf_ctf::{TextWriter, Trace};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Compares line by line; returns how many events there were.
fn compare(dir: &Path, theirs: impl BufRead) -> usize {
    let trace = Trace::open(dir).unwrap();
    let (mut reader, mut text, mut n) = (trace.read(), TextWriter::new(), 0);
    for line in theirs.split(b'\n') {
        let line = line.unwrap();
        let event = reader.next_event();
        let event = event.unwrap_or_else(|| panic!("{}: only {n} events", dir.display()));
        let ours = text.line(&event);
        if ours != line && !same_but_for_empty_text(ours, &line) {
            let show = |l: &[u8]| String::from_utf8_lossy(l).into_owned();
            panic!(
                "{}, event {n}:\n{}\n{}",
                dir.display(),
                show(ours),
                show(&line)
            );
        }
        n += 1;
    }
    assert!(
        reader.next_event().is_none(),
        "{}: more than {n} events",
        dir.display()
    );
    let faults = trace
        .diagnostics()
        .list()
        .iter()
        .chain(reader.diagnostics().list());
    assert_eq!(faults.map(ToString::to_string).collect::<Vec<_>>(), [""; 0]);
    n
}

/// babeltrace2 2.0 prints for an empty string what the field held the last
/// time; babeltrace 1 prints it empty, as we do. Everything else must match.
fn same_but_for_empty_text(ours: &[u8], theirs: &[u8]) -> bool {
    let mut rest = theirs;
    let mut at = 0;
    while at < ours.len() {
        if ours[at..].starts_with(b"\"\"") {
            let Some(after) = rest.strip_prefix(b"\"").and_then(after_text) else {
                return false;
            };
            (rest, at) = (after, at + 2);
        } else {
            let Some((first, more)) = rest.split_first() else {
                return false;
            };
            if *first != ours[at] {
                return false;
            }
            (rest, at) = (more, at + 1);
        }
    }
    rest.is_empty()
}

/// What follows a quoted text.
fn after_text(text: &[u8]) -> Option<&[u8]> {
    let mut at = 0;
    while *text.get(at)? != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    text.get(at + 1..)
}

#[test]
fn the_recorded_trace_as_babeltrace2_printed_it() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../tests/fixtures/traces");
    let text = std::fs::read(dir.join("ust-small.babeltrace2.txt")).unwrap();
    assert_eq!(compare(&dir.join("ust-small"), text.as_slice()), 1033);
    let lost: u64 = support::read(&dir.join("ust-small"))
        .lost
        .iter()
        .map(|l| l.events)
        .sum();
    // As `lttng stop` said.
    assert_eq!(lost, 5267);
}

#[test]
fn differences_do_not_pass_as_empty_text() {
    let same = same_but_for_empty_text;
    assert!(same(b"a = \"\", b = 1", b"a = \"x\\\"y\", b = 1"));
    assert!(!same(b"a = \"\", b = 1", b"a = \"x\", b = 2"));
    assert!(!same(b"a = \"z\"", b"a = \"\""));
    assert!(!same(b"a = 1", b"a = 1, b = 2"));
}

#[test]
fn named_traces_as_babeltrace2_prints_them() {
    let Some(folder) = std::env::var_os("RTPERF_TRACES").map(PathBuf::from) else {
        eprintln!("skipped: RTPERF_TRACES names no folder of traces");
        return;
    };
    if Command::new("babeltrace2")
        .arg("--version")
        .output()
        .is_err()
    {
        eprintln!("skipped: no babeltrace2 here");
        return;
    }
    let mut compared = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !name.contains(".tar.") {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        let unpacked = Command::new("tar")
            .arg("-xf")
            .arg(&path)
            .arg("-C")
            .arg(dir.path())
            .status();
        assert!(unpacked.unwrap().success(), "{name} cannot be unpacked");
        if Trace::open(dir.path()).is_err_and(|e| e.to_string().contains("this is CTF 2")) {
            eprintln!("skipped: {name} is CTF 2");
            continue;
        }
        let mut child = Command::new("babeltrace2")
            .args(["--clock-seconds", "--no-delta"])
            .arg(dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let n = compare(dir.path(), BufReader::new(child.stdout.take().unwrap()));
        assert!(child.wait().unwrap().success(), "{name}: babeltrace2 fails");
        eprintln!("{name}: {n} events alike");
        compared += 1;
    }
    assert!(compared > 0, "{} holds no trace archives", folder.display());
}
