// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The pass under LTTng, with programs that stand in for LTTng's.

mod common;

use common::{check_whole, permitted, run_of, stderr, with_programs, Folder};
use rtperf_record::{Outcome, RunStatus};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

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
                "[ \"$3\" != --kernel ] || { echo 'Error: Kernel tracer not available'; exit 1; }",
            )],
            "no kernel events: lttng list: Kernel tracer not available; no user-space events: ",
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

/// Answers as LTTng does that records the kernel and loses 7 events; at `$HANG`
/// it hangs.
const RECORDS: &str = r#"[ "$2" != "$HANG" ] || exec /bin/sleep 1000
case "$2 $3" in
create*) d=${4#--output=}; /bin/mkdir -p "$d/kernel"; echo x >"$d/kernel/metadata" ;;
'list --kernel') echo ' sched_switch (type: tracepoint)' ;;
'--mi xml') echo '<discarded_events>7</discarded_events><lost_packets>0</lost_packets>' ;;
esac"#;

#[test]
fn the_explain_pass_is_kept_apart() {
    if !permitted() {
        return;
    }
    let folder = Folder::new("explain");
    let mut command = with_programs(&folder, &[("lttng", RECORDS)]);
    let done = command.args(["--trace", "kernel"]).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    let dir = folder.run_dir();
    let run = run_of(&dir);
    let passes: Vec<&str> = run.measurements.iter().map(|m| m.pass.as_str()).collect();
    assert_eq!(passes, ["measure", "explain"]);
    let pass = &run.passes[1];
    assert_eq!(pass.status, Some(Outcome::Done));
    assert!(pass.reason.as_deref().unwrap().contains("lost 7 events"));
    let tracer = pass.tracer.as_ref().unwrap();
    assert_eq!(
        (&tracer.domains[0][..], &tracer.events[0][..]),
        ("kernel", "sched_switch")
    );
    assert_eq!(
        (tracer.discarded_events, tracer.lost_packets),
        (Some(7), Some(0))
    );
    let file = run.measurements[1].file.as_deref().unwrap();
    assert!(file.starts_with("explain/samples/"), "{file}");
    let sums = std::fs::read_to_string(dir.join("SHA256SUMS")).unwrap();
    assert!(sums.contains("  explain/trace/kernel/metadata\n"), "{sums}");
    let printed = String::from_utf8(done.stdout).unwrap();
    for words in ["cost of tracing", "pass=explain", "lost 7 events"] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
}

/// What nobody recorded is not called the cost of recording it.
#[test]
fn without_any_domain_nothing_is_measured_as_traced() {
    if !permitted() {
        return;
    }
    let folder = Folder::new("no-provider");
    let mut command = with_programs(&folder, &[("lttng", RECORDS)]);
    let done = command.args(["--trace", "ust"]).output().unwrap();
    assert_eq!(done.status.code(), Some(1), "{}", stderr(&done));
    let run = run_of(&folder.run_dir());
    assert_eq!((run.measurements.len(), run.planned), (1, 1));
    let pass = &run.passes[1];
    assert_eq!((pass.status, &pass.tracer), (Some(Outcome::Failed), &None));
    let reason = pass.reason.as_deref().unwrap();
    assert!(reason.contains("/nonexistent/librtperf-ust.so"), "{reason}");
    let printed = String::from_utf8(done.stdout).unwrap();
    assert!(!printed.contains("cost of tracing"), "{printed}");
    // What LTTng had written by then is listed nevertheless.
    let sums = std::fs::read_to_string(folder.run_dir().join("SHA256SUMS")).unwrap();
    assert!(sums.contains("  explain/trace/kernel/metadata\n"), "{sums}");
}

#[test]
fn one_domain_of_two_is_a_pass_that_lacks_something() {
    if !permitted() {
        return;
    }
    let folder = Folder::new("one-domain");
    let done = with_programs(&folder, &[("lttng", RECORDS)])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(1), "{}", stderr(&done));
    let run = run_of(&folder.run_dir());
    assert_eq!((run.measurements.len(), run.planned), (2, 2));
    let pass = &run.passes[1];
    assert_eq!(pass.status, Some(Outcome::Done));
    assert_eq!(pass.tracer.as_ref().unwrap().domains, ["kernel"]);
    let reason = pass.reason.as_deref().unwrap();
    assert!(reason.starts_with("no user-space events: "), "{reason}");
}

#[test]
fn a_signal_ends_a_tracer_that_hangs() {
    if !permitted() {
        return;
    }
    let folder = Folder::new("signal");
    let mut command = with_programs(&folder, &[("lttng", RECORDS)]);
    command.args(["--trace", "kernel"]).env("HANG", "start");
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let begun = |line: &String| line.starts_with("pass explain");
    assert!(lines.map_while(Result::ok).any(|l| begun(&l)));
    // SAFETY: a signal to our own child, which has not been waited for.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let dir = folder.run_dir();
    let run = run_of(&dir);
    assert_eq!(run.status, RunStatus::Interrupted);
    assert_eq!((run.measurements.len(), run.planned), (1, 1));
    assert_eq!(run.measurements[0].status, Outcome::Done);
    assert_eq!(run.passes[1].status, Some(Outcome::Interrupted));
    let reason = run.passes[1].reason.as_deref().unwrap();
    assert!(reason.contains("was to end"), "{reason}");
    assert!(dir.join("SHA256SUMS").exists());
}

#[test]
fn a_tracer_asked_for_and_left_out_is_refused() {
    let folder = Folder::new("contradiction");
    let mut command = with_programs(&folder, &[]);
    command.args(["--pass", "explain", "--trace", "none"]);
    let done = command.output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    let said = stderr(&done);
    assert!(
        said.contains("--trace none") && said.lines().count() == 1,
        "{said}"
    );
}
