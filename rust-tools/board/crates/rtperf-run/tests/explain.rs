// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The pass under LTTng, with programs that stand in for LTTng's.

mod common;

use common::{check_whole, permitted, run_of, stderr, with_programs, Folder};
use rtperf_record::{Outcome, RunStatus};

#[test]
fn without_lttng_the_run_is_whole_unless_the_pass_was_asked_for() {
    if !permitted() {
        return;
    }
    for (arguments, status) in [(&[][..], 0), (&["--pass", "measure,explain"], 1)] {
        let folder = Folder::new("no-lttng");
        let done = with_programs(&folder, &[])
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(status), "{}", stderr(&done));
        let dir = folder.run_dir();
        let run = run_of(&dir);
        assert_eq!((run.passes.len(), run.measurements.len()), (2, 1));
        assert_eq!(run.passes[1].status, Some(Outcome::Skipped));
        assert!(run.passes[1]
            .reason
            .as_deref()
            .unwrap()
            .contains("not installed"));
        check_whole(&dir, &run);
    }
}

#[test]
fn a_tracer_that_fails_leaves_the_untraced_pass_standing() {
    if !permitted() {
        return;
    }
    for (programs, word) in [
        (
            &[
                ("lttng", "exit 1"),
                ("lttng-sessiond", "echo 'Error: no daemon today'; exit 1"),
            ][..],
            "no daemon today",
        ),
        (
            &[(
                "lttng",
                "[ $2 = list ] || { echo 'Error: no room'; exit 1; }",
            )],
            "no room",
        ),
        (
            &[(
                "lttng",
                "case $2 in enable-channel) echo 'Error: no tracer'; exit 1;; esac",
            )],
            "no tracer",
        ),
    ] {
        let folder = Folder::new("bad-lttng");
        let done = with_programs(&folder, programs).output().unwrap();
        assert_eq!(done.status.code(), Some(1), "{}", stderr(&done));
        let dir = folder.run_dir();
        let run = run_of(&dir);
        assert_eq!(run.status, RunStatus::Complete);
        assert_eq!((run.measurements.len(), run.planned), (1, 1));
        assert_eq!(run.measurements[0].status, Outcome::Done);
        assert_eq!(run.passes[1].status, Some(Outcome::Failed));
        let reason = run.passes[1].reason.as_deref().unwrap();
        assert!(reason.contains(word), "{reason}");
        check_whole(&dir, &run);
    }
}

/// A session that records: the daemon is there, every command succeeds.
#[test]
fn the_explain_pass_is_kept_apart() {
    if !permitted() {
        return;
    }
    let folder = Folder::new("explain");
    let lttng = r#"case $2 in create) d=${4#--output=}; /bin/mkdir -p "$d/kernel"; echo x >"$d/kernel/metadata";; esac"#;
    let done = with_programs(&folder, &[("lttng", lttng)])
        .args(["--trace", "kernel"])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    let dir = folder.run_dir();
    let run = run_of(&dir);
    let passes: Vec<&str> = run.measurements.iter().map(|m| m.pass.as_str()).collect();
    assert_eq!(passes, ["measure", "explain"]);
    assert_eq!(run.passes[1].traced, ["kernel"]);
    assert!(run.measurements[1]
        .file
        .as_deref()
        .unwrap()
        .starts_with("explain/samples/"));
    let sums = std::fs::read_to_string(dir.join("SHA256SUMS")).unwrap();
    assert!(sums.contains("  explain/trace/kernel/metadata\n"), "{sums}");
    let printed = String::from_utf8(done.stdout).unwrap();
    assert!(printed.contains("cost of tracing"), "{printed}");
}
