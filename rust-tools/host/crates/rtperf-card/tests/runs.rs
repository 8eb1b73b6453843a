// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs that are whole, cut off, damaged or hostile.

mod common;

use common::{Desk, ID, assert_good, folder, run};
use rtperf_card::{CollectedRun, Kept, Verdict};
use rtperf_record::{RunStatus, Sample};
use rtperf_testkit::temp_dir;
use std::fs;
use std::path::{Path, PathBuf};

fn samples_of(run: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(run.join("measure/samples")).unwrap();
    let mut files: Vec<_> = files.map(|f| f.unwrap().path()).collect();
    files.sort();
    files
}

fn collect_one(source: &Path) -> CollectedRun {
    // The desk's folder goes with it; the report is what is looked at.
    let mut collection = Desk::new().collect(source, None).unwrap();
    assert_eq!(collection.runs.len(), 1);
    assert!(!collection.is_good());
    collection.runs.remove(0)
}

fn faults(run: &CollectedRun) -> Vec<String> {
    run.report.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn a_changed_file_is_named_and_the_rest_kept() {
    let source = folder();
    let file = samples_of(&source.path().join(ID)).remove(0);
    let mut bytes = fs::read(&file).unwrap();
    bytes[300] ^= 1;
    fs::write(&file, bytes).unwrap();
    let desk = Desk::new();
    let collection = desk.collect(source.path(), None).unwrap();
    let run = &collection.runs[0];
    assert_eq!(run.report.verdict, Verdict::Damaged);
    let [fault] = &run.report.faults[..] else {
        panic!("{run:?}")
    };
    assert!(file.ends_with(&fault.file));
    assert_eq!(
        fault.what,
        "is damaged: its SHA-256 is not the one in SHA256SUMS"
    );
    assert_eq!(samples_of(&run.path).len(), 2);
}

#[test]
fn missing_files_are_named() {
    let source = folder();
    fs::remove_file(&samples_of(&source.path().join(ID))[1]).unwrap();
    fs::remove_file(source.path().join(ID).join("run.json")).unwrap();
    let run = collect_one(source.path());
    let faults = faults(&run);
    assert!(
        faults.contains(&"run.json is missing".to_owned()),
        "{faults:?}"
    );
    assert!(
        faults
            .iter()
            .any(|f| f.ends_with(".npy is missing, SHA256SUMS has it"))
    );
    assert_eq!(run.report.run, None);
}

#[test]
fn a_power_cut_leaves_an_unfinished_run() {
    let source = temp_dir();
    let dir = run()
        .edit(|r| r.status = RunStatus::Running)
        .write(source.path());
    fs::write(dir.join(".run.json.tmp"), "{").unwrap();
    let cut = collect_one(source.path());
    assert_eq!(cut.report.verdict, Verdict::Unfinished);
    let notes = &cut.report.notes;
    assert_eq!(
        notes[0],
        "unfinished: the run was cut off after 2 of 3 measurements, 2 of them done"
    );
    assert!(
        notes[1].starts_with(".run.json.tmp was being written"),
        "{notes:?}"
    );
    // Its finished files are still checked.
    fs::write(&samples_of(&dir)[0], "x").unwrap();
    let cut = collect_one(source.path());
    assert_eq!(cut.report.verdict, Verdict::Damaged);
    assert!(faults(&cut)[0].ends_with("its SHA-256 is not the one in run.json"));
}

#[test]
fn a_run_without_readable_run_json_keeps_its_samples() {
    let source = folder();
    let json = source.path().join(ID).join("run.json");
    for (text, what) in [
        (r#"{"format_version": 2}"#, "use a newer rtperf"),
        ("{", "is not a run.json of rtperf"),
    ] {
        fs::write(&json, text).unwrap();
        let desk = Desk::new();
        let collection = desk.collect(source.path(), None).unwrap();
        let run = &collection.runs[0];
        assert!(faults(run).iter().any(|f| f.contains(what)), "{run:?}");
        assert_eq!(samples_of(&run.path).len(), 2);
    }
}

#[test]
fn collecting_again_changes_nothing() {
    let (source, desk) = (folder(), Desk::new());
    assert_good(&desk.collect(source.path(), None).unwrap());
    let again = desk.collect(source.path(), None).unwrap();
    assert_good(&again);
    assert_eq!(again.runs[0].kept, Kept::AlreadyThere);
    assert_eq!(fs::read_dir(desk.out()).unwrap().count(), 1);
}

#[test]
fn another_run_of_the_same_name_is_kept_beside() {
    let (source, other, desk) = (folder(), temp_dir(), Desk::new());
    run()
        .measured_samples("extra", &[], &[Sample::default()])
        .write(other.path());
    assert_good(&desk.collect(source.path(), None).unwrap());
    for kept in [Kept::Beside, Kept::AlreadyThere] {
        let second = desk.collect(other.path(), None).unwrap();
        assert_eq!(second.runs[0].kept, kept);
        assert_eq!(second.runs[0].report.verdict, Verdict::Good);
        assert_eq!(second.is_good(), kept == Kept::AlreadyThere);
        assert!(second.runs[0].path.ends_with(format!("{ID}~2")));
    }
    let first = desk.out().join(ID);
    let report = rtperf_card::verify(&first, &mut |_| ()).unwrap();
    assert_eq!((report.verdict, report.measurements()), (Verdict::Good, 2));
    let beside = desk.out().join(format!("{ID}~2"));
    let report = rtperf_card::verify(&beside, &mut |_| ()).unwrap();
    assert_eq!((report.verdict, report.measurements()), (Verdict::Good, 3));
}

#[test]
fn what_an_interrupted_collect_left_is_cleared() {
    let (source, desk) = (folder(), Desk::new());
    let partial = desk.out().join(format!(".partial-{ID}"));
    fs::create_dir_all(partial.join("measure")).unwrap();
    fs::write(partial.join("measure/old"), "x").unwrap();
    assert_good(&desk.collect(source.path(), None).unwrap());
    assert!(!partial.exists());
}

#[test]
fn links_and_pipes_on_a_card_lead_nowhere() {
    let source = folder();
    let dir = source.path().join(ID);
    let secret = source.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    std::os::unix::fs::symlink(&secret, dir.join("link")).unwrap();
    std::os::unix::fs::symlink("/etc", dir.join("folder")).unwrap();
    std::os::unix::fs::symlink(&dir, source.path().join("other-run")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, dir.join("pipe"), rustix::fs::Mode::RUSR).unwrap();
    let desk = Desk::new();
    let collection = desk.collect(source.path(), None).unwrap();
    let [run] = &collection.runs[..] else {
        panic!("{collection:?}")
    };
    let faults = faults(run);
    assert_eq!(faults.len(), 3, "{faults:?}");
    assert!(faults.contains(&"link is a symbolic link; it was left out".to_owned()));
    for name in ["link", "folder", "pipe"] {
        assert!(fs::symlink_metadata(run.path.join(name)).is_err());
    }
}

#[test]
fn names_on_a_card_cannot_confuse_a_terminal() {
    let source = folder();
    fs::write(source.path().join(ID).join("a\x1b[2Jb"), "").unwrap();
    fs::create_dir(source.path().join("run\n2")).unwrap();
    let desk = Desk::new();
    let collection = desk.collect(source.path(), None).unwrap();
    let fault = collection.runs[0].report.faults[0].to_string();
    assert!(
        fault.contains("name that no run has") && !fault.contains('\x1b'),
        "{fault:?}"
    );
    assert_eq!(collection.refused.len(), 1);
    assert!(!collection.refused[0].contains('\n'));
}

#[test]
fn a_folder_nested_without_end_is_cut() {
    let source = folder();
    let deep = source.path().join(ID).join("d/".repeat(30));
    fs::create_dir_all(deep).unwrap();
    let run = collect_one(source.path());
    assert!(faults(&run)[0].ends_with("is nested too deeply for a run"));
}

#[test]
fn an_unwritable_place_is_no_damage_of_the_card() {
    let (source, desk) = (folder(), Desk::new());
    fs::write(desk.out(), "a file").unwrap();
    let e = desk.collect(source.path(), None).unwrap_err().to_string();
    assert!(e.contains("out cannot be written"), "{e}");
}

#[test]
fn extra_files_are_kept_and_said() {
    let source = folder();
    fs::write(source.path().join(ID).join("notes.txt"), "by hand").unwrap();
    let desk = Desk::new();
    let collection = desk.collect(source.path(), None).unwrap();
    assert!(collection.is_good());
    let notes = &collection.runs[0].report.notes;
    assert_eq!(
        notes[..],
        ["notes.txt is not in SHA256SUMS, so not checked"]
    );
}

#[test]
fn verify_wants_a_run_directory() {
    let tmp = temp_dir();
    for path in [tmp.path().to_owned(), tmp.path().join("none")] {
        assert!(rtperf_card::verify(&path, &mut |_| ()).is_err());
    }
}
