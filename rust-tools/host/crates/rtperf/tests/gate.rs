// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `rtperf gate` as its users and CI servers see it.

use assert_cmd::Command;
use rtperf_record::{Check, CheckStatus};
use rtperf_testkit::{RunBuilder, temp_dir};
use std::path::{Path, PathBuf};

const LIMITS: &str = "\
version: 1
require: {checks: [preempt_rt]}
limits:
  - metric: timer-latency{cpu=0}.p99
    at_most: 40us
";

struct Desk {
    dir: tempfile::TempDir,
    run: PathBuf,
}

/// A run whose p99 is 10.989 us, of 1000 samples.
fn builder() -> RunBuilder {
    let latencies: Vec<i64> = (0..1_000).map(|i| 10_000 + i).collect();
    let ok = Check {
        name: "preempt_rt".into(),
        status: CheckStatus::Ok,
        found: "yes".into(),
    };
    RunBuilder::new("image-1-0a1b2c3d-001")
        .measured(
            "timer-latency",
            &[("board", "virtual"), ("cpu", "0")],
            &latencies,
        )
        .edit(|run| {
            run.checks.before.push(ok.clone());
            run.checks.after.push(ok);
        })
}

fn desk(run: &RunBuilder) -> Desk {
    let dir = temp_dir();
    let run = run.write(dir.path());
    Desk { dir, run }
}

impl Desk {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs the gate; returns its status, standard output and error.
    fn gate(&self, limits: &str, more: &[&str]) -> (i32, String, String) {
        std::fs::write(self.path("limits.yaml"), limits).unwrap();
        self.gate_run(&self.run, more)
    }

    fn gate_run(&self, run: &Path, more: &[&str]) -> (i32, String, String) {
        let mut command = Command::cargo_bin("rtperf").unwrap();
        command
            .current_dir(self.dir.path())
            .args(["gate", "--limits", "limits.yaml"]);
        let out = command.args(more).arg(run).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (
            out.status.code().unwrap(),
            text(&out.stdout),
            text(&out.stderr),
        )
    }
}

#[test]
fn a_good_run_passes() {
    let (status, out, err) = desk(&builder()).gate(LIMITS, &[]);
    assert_eq!((status, err.as_str()), (0, ""), "{out}");
    assert!(
        out.contains("VERDICT: PASS (1 passed, 0 missed, 0 unusable"),
        "{out}"
    );
    assert!(
        out.contains("say nothing about the latency of a real board"),
        "{out}"
    );
    assert!(!out.contains('\x1b'), "colour into a pipe: {out}");
}

#[test]
fn a_missed_limit_is_status_1() {
    let limits = LIMITS.replace("40us", "10us");
    let (status, out, _) = desk(&builder()).gate(&limits, &[]);
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("VERDICT: MISS"), "{out}");
}

#[test]
fn every_format_is_written_and_printed() {
    let desk = desk(&builder());
    let files = ["--junit", "g.xml", "--json", "g.json", "--markdown", "g.md"];
    let (status, out, _) = desk.gate(LIMITS, &files);
    assert_eq!(status, 0);
    assert!(out.contains("VERDICT"));
    for (format, file) in [("junit", "g.xml"), ("json", "g.json"), ("markdown", "g.md")] {
        let (status, out, _) = desk.gate(LIMITS, &["--format", format]);
        assert_eq!(status, 0);
        assert_eq!(out, std::fs::read_to_string(desk.path(file)).unwrap());
        assert!(out.contains("virtual board"), "{out}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(desk.path("g.json")).unwrap()).unwrap();
    assert_eq!(json["verdict"], "pass");
    assert_eq!(json["runs"][0]["limits"][0]["value"], 10_989);
}

/// One sentence that names the fault, no panic, the documented status.
#[test]
fn bad_limits_files_are_status_2() {
    let desk = desk(&builder());
    for (from, to, said) in [
        (
            "at_most",
            "at_mots",
            "limits.yaml: line 5, column 5: 'at_mots' is not a key of a limit",
        ),
        ("40us", "40usec", "did you mean 40us?"),
        ("40us", "40", "line 5, column 14: '40' has no unit"),
        (".p99", ".p999", "did you mean 'p99.9'?"),
        ("version: 1", "version: 9", "version '9' is not known"),
        (LIMITS, "", "is empty"),
        (LIMITS, "{", "line 2"),
    ] {
        let (status, out, err) = desk.gate(&LIMITS.replace(from, to), &[]);
        assert_eq!((status, out.as_str()), (2, ""), "{to}");
        assert!(err.contains(said), "{to}: {err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
}

#[test]
fn unusable_data_is_status_2_and_says_why() {
    type Change = fn(RunBuilder) -> RunBuilder;
    let same: Change = |run| run;
    let failed: Change = |run| {
        run.edit(|r| {
            r.checks.after[0].status = CheckStatus::Failed;
            r.checks.after[0].found = "PREEMPT_DYNAMIC".into();
        })
    };
    let image = "the run is of image 'test-image-1.0', not of 'other-1'";
    for (change, limits, more, said) in [
        (
            same,
            LIMITS.replace("timer", "timr"),
            vec![],
            "nearest: timer-latency{cpu=0}.p99",
        ),
        (
            same,
            LIMITS.replace("cpu=0", "cpu=4"),
            vec![],
            "has no cpu=4, only cpu=0",
        ),
        (
            same,
            LIMITS.replace("p99", "p99.9"),
            vec![],
            "p99.9 needs 2,995 samples",
        ),
        (same, LIMITS.replace("40us", "10990ns"), vec![], "undecided"),
        (
            failed,
            LIMITS.into(),
            vec![],
            "'preempt_rt' failed after the measurements: PREEMPT_DYNAMIC",
        ),
        (
            same,
            LIMITS.replace("preempt_rt", "preempt-rt"),
            vec![],
            "did you mean 'preempt_rt'?",
        ),
        (
            same,
            LIMITS.into(),
            vec!["--expect-image", "other-1"],
            image,
        ),
    ] {
        let (status, out, err) = desk(&change(builder())).gate(&limits, &more);
        assert_eq!((status, err.as_str()), (2, ""), "{said}: {out}");
        // The terminal breaks lines between words.
        let words: Vec<&str> = out.split_whitespace().collect();
        assert!(words.join(" ").contains(said), "{said}: {out}");
        assert!(out.contains("VERDICT: UNUSABLE"), "{out}");
    }
}

#[test]
fn a_damaged_sample_file_is_named_and_the_rest_judged() {
    let run = builder().measured("timer-latency", &[("cpu", "1")], &[5_000; 1_000]);
    let desk = desk(&run);
    let file = desk
        .run
        .join(run.run.measurements[0].file.as_ref().unwrap());
    let mut bytes = std::fs::read(&file).unwrap();
    for (cut, said) in [(false, "SHA-256"), (true, "damaged")] {
        match cut {
            false => *bytes.last_mut().unwrap() ^= 1,
            true => bytes.truncate(300),
        }
        std::fs::write(&file, &bytes).unwrap();
        let (status, out, _) = desk.gate(&LIMITS.replace("{cpu=0}", ""), &[]);
        assert_eq!(status, 2, "{out}");
        assert!(out.contains(said) && out.contains(".npy"), "{out}");
        assert!(out.contains("1 passed, 0 missed, 1 unusable"), "{out}");
        let (status, ..) = desk.gate(&LIMITS.replace("{cpu=0}", "").replace("40us", "1us"), &[]);
        assert_eq!(status, 1, "a proven miss outranks unusable data");
    }
    std::fs::remove_file(&file).unwrap();
    assert_eq!(desk.gate(LIMITS, &[]).0, 2);
}

#[test]
fn runs_that_cannot_be_opened_are_named_and_the_rest_judged() {
    let desk = desk(&builder());
    let future = builder().edit(|run| (run.format_version, run.id) = (99, "future".into()));
    let future = future.write(desk.dir.path());
    std::fs::create_dir(desk.path("empty")).unwrap();
    std::fs::write(desk.path("limits.yaml"), LIMITS).unwrap();
    for (run, said) in [
        (desk.path("gone"), "gone"),
        (desk.path("empty"), "run.json"),
        (future, "has run format 99"),
    ] {
        let also = desk.run.to_string_lossy();
        let (status, out, _) = desk.gate_run(&run, &[&also]);
        assert_eq!(status, 2, "{out}");
        assert!(out.contains(said), "{out}");
        assert!(
            out.contains("1 passed, 0 missed, 0 unusable; 1 problem"),
            "{out}"
        );
    }
}

/// Still JSON, but not what the board wrote.
#[test]
fn a_changed_run_json_is_not_believed() {
    let desk = desk(&builder());
    let json = desk.run.join("run.json");
    let text = std::fs::read_to_string(&json).unwrap();
    let changed = text.replace("\"instrumented\": false", "\"instrumented\": true");
    assert_ne!(text, changed);
    std::fs::write(&json, changed).unwrap();
    let (status, out, _) = desk.gate(LIMITS, &[]);
    assert_eq!(status, 2, "{out}");
    assert!(out.contains("run.json") && out.contains("SHA-256"), "{out}");
}

#[test]
fn bad_arguments_are_status_2() {
    let desk = desk(&builder());
    std::fs::write(desk.path("limits.yaml"), LIMITS).unwrap();
    assert_eq!(desk.gate(LIMITS, &["--format", "xml"]).0, 2);
    let (status, _, err) = desk.gate(LIMITS, &["--junit", "no/such/folder.xml"]);
    assert_eq!(status, 2);
    assert!(
        err.contains("no/such/folder.xml cannot be written"),
        "{err}"
    );
    let mut none = Command::cargo_bin("rtperf").unwrap();
    none.args(["gate", "--limits", "limits.yaml"])
        .assert()
        .code(2);
    std::fs::remove_file(desk.path("limits.yaml")).unwrap();
    let (status, _, err) = desk.gate_run(&desk.run, &[]);
    assert_eq!(status, 2);
    assert!(err.contains("limits.yaml cannot be read"), "{err}");
}

/// The limits that the layer ships are limits files.
#[test]
fn shipped_limits_read() {
    let conf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../conf/gates");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(conf).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if let Err(e) = text.parse::<rtperf_gate::Limits>() {
            panic!("{}: {e}", path.display());
        }
        names.push(path);
    }
    assert!(names.len() >= 3, "{names:?}");
}
