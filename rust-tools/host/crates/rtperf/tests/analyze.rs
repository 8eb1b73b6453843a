// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `rtperf analyze` as its users see it.

use assert_cmd::Command;
use rtperf_testkit::{RunBuilder, temp_dir};
use std::path::{Path, PathBuf};

/// A small recorded trace of user space, in which events were lost.
fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../tests/fixtures/traces/ust-small")
}

fn analyze(path: &Path, more: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("rtperf").unwrap();
    let out = command
        .arg("analyze")
        .arg(path)
        .args(more)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        out.status.code().unwrap(),
        text(&out.stdout),
        text(&out.stderr),
    )
}

#[test]
fn a_trace_with_lost_events_is_told_and_not_all_good() {
    let (status, out, err) = analyze(&recorded(), &[]);
    assert_eq!((status, err.as_str()), (1, ""));
    assert!(
        out.contains("1033 events, 5267 lost; 18.367 ms from 1796092447."),
        "{out}"
    );
    assert!(
        out.contains("\nFindings\n* 5267 events were lost;"),
        "{out}"
    );
    assert!(out.contains("     733  rtperf_test:burst "), "{out}");
    assert!(
        out.contains(
            "no event here is one of the kernel's that can be analysed; events are only counted"
        ),
        "{out}"
    );
}

#[test]
fn json_holds_the_same() {
    let (status, out, _) = analyze(&recorded(), &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(status, 1);
    assert_eq!(
        (json["version"].as_u64(), json["lost_events"].as_u64()),
        (Some(1), Some(5267))
    );
    assert_eq!(json["counts"]["rtperf_test:sample"], 300);
    assert_eq!(json["findings"][0]["kind"], "lost-events");
}

#[test]
fn a_run_is_analysed_by_its_trace() {
    let dir = temp_dir();
    let run = RunBuilder::new("image-1-0a1b2c3d-001").write(dir.path());
    let (status, _, err) = analyze(&run, &[]);
    assert_eq!(status, 2);
    assert!(
        err.contains("this run has no trace; its board must measure with --pass"),
        "{err}"
    );
    let ust = run.join("explain/trace/ust/uid/0/64-bit");
    std::fs::create_dir_all(&ust).unwrap();
    for name in ["metadata", "ch_0", "ch_1"] {
        std::fs::copy(recorded().join(name), ust.join(name)).unwrap();
    }
    let (status, out, _) = analyze(&run, &[]);
    assert_eq!(status, 1);
    assert!(out.contains("1033 events, 5267 lost"), "{out}");
}

#[test]
fn a_trace_cut_by_power_loss_is_read_as_far_as_it_goes() {
    let dir = temp_dir();
    std::fs::copy(recorded().join("metadata"), dir.path().join("metadata")).unwrap();
    let stream = std::fs::read(recorded().join("ch_0")).unwrap();
    std::fs::write(dir.path().join("ch_0"), &stream[..5000]).unwrap();
    let (status, out, _) = analyze(dir.path(), &[]);
    assert_eq!(status, 1);
    let text = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Faults of the trace * "), "{out}");
    assert!(
        text.contains("ch_0, byte 4096: the file ends within this packet, 3192 bytes are missing"),
        "{out}"
    );
}

#[test]
fn what_is_no_trace_is_one_sentence() {
    let dir = temp_dir();
    let (status, out, err) = analyze(dir.path(), &[]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(
        err.starts_with("rtperf: ") && err.contains("no trace here") && err.lines().count() == 1,
        "{err}"
    );
    let (status, _, err) = analyze(&dir.path().join("none"), &[]);
    assert_eq!(status, 2);
    assert!(err.contains("No such file"), "{err}");
    let (status, _, err) = analyze(dir.path(), &["--handler-bound", "100"]);
    assert_eq!(status, 2);
    assert!(err.contains("a whole number with its unit"), "{err}");
}
