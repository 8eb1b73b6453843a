// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `rtperf collect` and `rtperf verify` as their users see them.

use assert_cmd::Command;
use rtperf_record::{Outcome, RunStatus};
use rtperf_testkit::{RunBuilder, card, temp_dir};
use std::fs;
use std::path::Path;

const FIRST: &str = "image-1.0-0a1b2c3d-001";
const SECOND: &str = "image-1.0-0a1b2c3d-002";

/// Two good runs, the second with a measurement that was skipped.
fn two_runs(folder: &Path) {
    RunBuilder::new(FIRST)
        .measured("timer-latency", &[("cpu", "0")], &[5; 1000])
        .write(folder);
    RunBuilder::new(SECOND)
        .measured("timer-latency", &[("cpu", "0")], &[5; 500])
        .not_measured("context-switch", &[], Outcome::Skipped, "no second CPU")
        .edit(|run| {
            run.identity.virtual_board = false;
            run.identity.model = Some("Raspberry Pi 5".into());
        })
        .write(folder);
}

struct Ran {
    status: i32,
    out: String,
    err: String,
}

fn rtperf(dir: &Path, args: &[&str]) -> Ran {
    let mut command = Command::cargo_bin("rtperf").unwrap();
    let output = command.current_dir(dir).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let ran = Ran {
        status: output.status.code().unwrap(),
        out: text(output.stdout),
        err: text(output.stderr),
    };
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    assert!(!ran.out.contains('\x1b'), "colours in a pipe: {}", ran.out);
    ran
}

#[test]
fn a_card_image_is_collected_and_shown() {
    let (desk, runs) = (temp_dir(), temp_dir());
    two_runs(runs.path());
    let Some(ext4) = card::ext4(runs.path(), "RTPERF") else {
        return;
    };
    fs::write(desk.path().join("card.img"), card::mbr(&[(0x83, &ext4)])).unwrap();
    let ran = rtperf(desk.path(), &["collect", "card.img", "-o", "results"]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{}", ran.out);
    let expected = "\
card.img: partition 1 (ext4, label RTPERF)
 run                     board                       image           status    measured           samples  verdict
 image-1.0-0a1b2c3d-001  linux,dummy-virt (virtual)  test-image-1.0  complete  1 done                1000  good
 image-1.0-0a1b2c3d-002  Raspberry Pi 5              test-image-1.0  complete  1 done, 1 skipped      500  good
virtual board: figures say nothing of a real one
image-1.0-0a1b2c3d-001: collected into results/image-1.0-0a1b2c3d-001
image-1.0-0a1b2c3d-002: collected into results/image-1.0-0a1b2c3d-002
";
    assert_eq!(ran.out, expected);
    let first = format!("results/{FIRST}");
    let ran = rtperf(
        desk.path(),
        &["verify", &first, &format!("results/{SECOND}")],
    );
    assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{}", ran.out);
}

#[test]
fn programs_get_the_paths() {
    let (desk, runs) = (temp_dir(), temp_dir());
    two_runs(runs.path());
    let source = runs.path().to_str().unwrap();
    let ran = rtperf(
        desk.path(),
        &["collect", source, "-o", "out", "--format", "json"],
    );
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["good"], true);
    let run = &json["runs"][1];
    assert_eq!(run["path"], format!("out/{SECOND}"));
    assert_eq!(
        (&run["kept"], &run["verdict"]),
        (&"new".into(), &"good".into())
    );
    assert_eq!(run["measurements"]["skipped"], 1);
    assert_eq!(run["virtual_board"], false);
    assert!(
        desk.path()
            .join("out")
            .join(SECOND)
            .join("run.json")
            .is_file()
    );
}

#[test]
fn damage_is_status_1_and_named() {
    let (desk, runs) = (temp_dir(), temp_dir());
    two_runs(runs.path());
    fs::write(runs.path().join(FIRST).join("log.txt"), "other").unwrap();
    let source = runs.path().to_str().unwrap();
    let ran = rtperf(desk.path(), &["collect", source, "-o", "out"]);
    assert_eq!(ran.status, 1);
    let fault = format!("{FIRST}: log.txt is damaged: its SHA-256 is not the one in SHA256SUMS\n");
    assert!(ran.out.contains(&fault), "{}", ran.out);
    assert!(ran.out.contains(&format!("{SECOND}: collected into")));
    let ran = rtperf(desk.path(), &["verify", &format!("out/{FIRST}")]);
    assert!(ran.status == 1 && ran.out.contains(&fault), "{}", ran.out);
    let ran = rtperf(desk.path(), &["verify", &format!("out/{SECOND}")]);
    assert_eq!(ran.status, 0);
}

#[test]
fn a_cut_off_run_is_status_1_and_says_so() {
    let (desk, runs) = (temp_dir(), temp_dir());
    RunBuilder::new(FIRST)
        .measured("timer-latency", &[("cpu", "0")], &[5; 10])
        .edit(|run| run.status = RunStatus::Running)
        .write(runs.path());
    let source = runs.path().to_str().unwrap();
    let ran = rtperf(desk.path(), &["collect", source, "-o", "out"]);
    assert_eq!(ran.status, 1);
    let note = "unfinished: the run was cut off after 1 of 3 measurements, 1 of them done";
    assert!(ran.out.contains(note), "{}", ran.out);
}

#[test]
fn what_cannot_be_used_is_status_2_and_one_line() {
    let desk = temp_dir();
    fs::write(desk.path().join("zeros.img"), [0; 4096]).unwrap();
    fs::create_dir(desk.path().join("empty")).unwrap();
    for (args, what) in [
        (
            &["collect", "none.img", "-o", "out"][..],
            "none.img does not exist",
        ),
        (
            &["collect", "zeros.img", "-o", "out"],
            "no partition table and no file system",
        ),
        (
            &["collect", "empty", "-o", "out"],
            "empty has no runs in this folder",
        ),
        (
            &["verify", "empty"],
            "has no run.json, so it is no run directory",
        ),
        (&["verify", "none"], "is no folder"),
    ] {
        let ran = rtperf(desk.path(), args);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(
            ran.err.starts_with("rtperf: ") && ran.err.contains(what),
            "{}",
            ran.err
        );
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(!desk.path().join("out").exists(), "{args:?} left a folder");
    }
}

#[test]
fn wrong_usage_is_status_2() {
    let desk = temp_dir();
    for args in [
        &[][..],
        &["collect"],
        &["collect", "x"],
        &["verify"],
        &["frobnicate"],
    ] {
        assert_eq!(rtperf(desk.path(), args).status, 2, "{args:?}");
    }
    for command in [
        &["--help"][..],
        &["collect", "--help"],
        &["verify", "--help"],
    ] {
        let ran = rtperf(desk.path(), command);
        assert_eq!(ran.status, 0);
        let flat = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("Exit status"), "{flat}");
        assert!(
            ran.out.lines().all(|l| l.chars().count() <= 80),
            "{}",
            ran.out
        );
    }
    assert!(
        rtperf(desk.path(), &["--version"])
            .out
            .starts_with("rtperf 0.")
    );
}

#[test]
fn a_closed_pipe_is_no_error() {
    let runs = temp_dir();
    two_runs(runs.path());
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_rtperf"))
        .args(["verify", FIRST, SECOND, "--format", "json"])
        .current_dir(runs.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
