// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Opening run directories, good and bad.

use rtperf_card::{CardError, RunDir};
use rtperf_testkit::{RunBuilder, temp_dir};
use std::fs;
use std::path::Path;

fn good(parent: &Path) -> std::path::PathBuf {
    RunBuilder::new("img-1-001")
        .measured("timer-latency", &[("cpu", "0")], &[5, -3, 7])
        .write(parent)
}

fn samples_error(dir: &Path) -> String {
    let run = RunDir::open(dir).unwrap();
    let e = run.samples(&run.run().measurements[0]).unwrap_err();
    assert!(matches!(e, CardError::Damaged(_)));
    e.to_string()
}

#[test]
fn samples_come_back_in_order() {
    let tmp = temp_dir();
    let run = RunDir::open(good(tmp.path())).unwrap();
    let samples = run.samples(&run.run().measurements[0]).unwrap();
    assert_eq!((samples.len(), samples.is_empty()), (3, false));
    assert_eq!(samples.latencies(), [5, -3, 7]);
    assert_eq!(samples.iter().nth(2).unwrap().round, 2);
}

#[test]
fn a_folder_without_run_json_is_no_run() {
    let tmp = temp_dir();
    let e = RunDir::open(tmp.path()).unwrap_err();
    assert!(
        matches!(&e, CardError::Unusable(t) if t.contains("no run.json")),
        "{e}"
    );
    let e = RunDir::open(tmp.path().join("missing")).unwrap_err();
    assert!(e.to_string().contains("is no folder"), "{e}");
}

#[test]
fn a_changed_sample_is_found() {
    let tmp = temp_dir();
    let dir = good(tmp.path());
    let file = fs::read_dir(dir.join("measure/samples"))
        .unwrap()
        .next()
        .unwrap();
    let file = file.unwrap().path();
    let mut bytes = fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&file, &bytes).unwrap();
    assert!(samples_error(&dir).contains("SHA-256"));
    fs::write(&file, &bytes[..bytes.len() - 24]).unwrap();
    assert!(samples_error(&dir).contains("header says 3 samples"));
    fs::write(&file, b"short").unwrap();
    assert!(samples_error(&dir).contains("5 bytes are no sample file"));
}

#[test]
fn counts_of_run_json_and_file_must_agree() {
    let tmp = temp_dir();
    let dir = RunBuilder::new("img-1-001")
        .measured("timer-latency", &[], &[1, 2])
        .edit(|run| run.measurements[0].n = 3)
        .write(tmp.path());
    assert!(samples_error(&dir).contains("holds 2 samples, run.json says 3"));
}

#[test]
fn nothing_outside_the_run_directory_is_read() {
    let tmp = temp_dir();
    let dir = RunBuilder::new("img-1-001")
        .measured("timer-latency", &[], &[1])
        .edit(|run| run.measurements[0].file = Some("../secret.npy".into()))
        .write(tmp.path());
    assert!(samples_error(&dir).contains("outside its run directory"));
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_not_followed() {
    let tmp = temp_dir();
    let dir = good(tmp.path());
    fs::rename(dir.join("measure"), tmp.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(tmp.path().join("elsewhere"), dir.join("measure")).unwrap();
    assert!(samples_error(&dir).contains("symbolic link"));
}

#[test]
fn a_terminal_sees_no_control_characters() {
    let tmp = temp_dir();
    let dir = good(tmp.path());
    let json = fs::read_to_string(dir.join("run.json")).unwrap();
    fs::write(
        dir.join("run.json"),
        json.replace("\"complete\"", "\"\\u001b[2J\""),
    )
    .unwrap();
    let e = RunDir::open(&dir).unwrap_err().to_string();
    assert!(e.contains("is damaged") && !e.contains('\x1b'), "{e}");
}
