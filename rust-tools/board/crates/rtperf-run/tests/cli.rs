// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The command as a user meets it: what it prints, how it ends, what it leaves.

mod common;

use common::{check_whole, command, permitted, run_of, stderr, Folder, PROGRAM};
use rtperf_record::{parse_npy_header, Outcome, RunStatus};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

#[test]
fn a_whole_run() {
    if !permitted() {
        return;
    }
    let folder = Folder::new("whole");
    let plan = "{measure: timer-latency, rounds: 200}, \
        {measure: context-switch, rounds: 200, clock: [monotonic, counter, gettimeofday]}";
    let done = command(&folder, plan).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    let dir = folder.run_dir();
    let run = run_of(&dir);
    assert_eq!(run.status, RunStatus::Complete);
    assert_eq!(dir.file_name().unwrap().to_str(), Some(run.id.as_str()));
    check_whole(&dir, &run);
    for m in &run.measurements {
        assert_eq!((m.status, m.n), (Outcome::Done, m.expected_n), "{m:?}");
        for t in &m.tasks {
            assert_eq!(
                (t.minor_faults, t.major_faults, t.allocations),
                (0, 0, 0),
                "{m:?}"
            );
            assert_eq!((t.policy.as_str(), t.priority), ("fifo", 80));
        }
    }
    assert!(run.passes[0].clocks_end.is_some() && !run.checks.before.is_empty());
    let printed = String::from_utf8(done.stdout).unwrap();
    for words in ["timer-latency", "clock=gettimeofday", "p99", "results: "] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
}

#[test]
fn the_counting_allocator_is_installed() {
    // Otherwise "no allocation" would be an empty claim.
    let source = include_str!("../src/main.rs");
    assert!(source.contains("#[global_allocator]"));
}

#[test]
fn a_missing_cpu_fails_alone() {
    if !permitted() {
        return;
    }
    let folder = Folder::new("cpu");
    let plan = "{measure: timer-latency, rounds: 10, cpus: [0, 1000]}, \
        {measure: context-switch, rounds: 10, cpu: 1000}";
    let done = command(&folder, plan).output().unwrap();
    assert_eq!(done.status.code(), Some(1), "{}", stderr(&done));
    let run = run_of(&folder.run_dir());
    let outcome: Vec<Outcome> = run.measurements.iter().map(|m| m.status).collect();
    assert_eq!(outcome, [Outcome::Failed, Outcome::Done, Outcome::Failed]);
    assert!(run.measurements[0]
        .reason
        .as_deref()
        .unwrap()
        .contains("CPU 1000"));
}

#[test]
fn the_same_measurement_twice_keeps_the_first() {
    if !permitted() {
        return;
    }
    let folder = Folder::new("twice");
    let one = "{measure: context-switch, rounds: 5}";
    let done = command(&folder, &format!("{one}, {one}")).output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    let run = run_of(&folder.run_dir());
    assert_eq!(run.measurements[0].status, Outcome::Done);
    assert!(run.measurements[1]
        .reason
        .as_deref()
        .unwrap()
        .contains("twice"));
}

/// Starts a run whose second job takes long, and returns once it has begun.
fn begun(folder: &Folder) -> std::process::Child {
    let plan = "{measure: context-switch, rounds: 50}, \
        {measure: timer-latency, rounds: 200000, interval: 10ms, cpus: [0]}";
    let mut child = command(folder, plan)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let second = lines.map_while(Result::ok).find(|l| l.starts_with("[2/2]"));
    assert!(second.is_some());
    child
}

#[test]
fn an_interrupted_run_keeps_everything() {
    if !permitted() {
        return;
    }
    let folder = Folder::new("interrupted");
    let mut child = begun(&folder);
    // SAFETY: a signal to our own child, which has not been waited for.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let dir = folder.run_dir();
    let run = run_of(&dir);
    assert_eq!(run.status, RunStatus::Interrupted);
    assert_eq!(
        (run.measurements[0].status, run.measurements[0].n),
        (Outcome::Done, 100)
    );
    let second = &run.measurements[1];
    assert!(second.status == Outcome::Interrupted || second.status == Outcome::Skipped);
    assert!(second.n < second.expected_n);
    check_whole(&dir, &run);
}

#[test]
fn a_killed_run_says_that_it_was_running() {
    if !permitted() {
        return;
    }
    let folder = Folder::new("killed");
    let mut child = begun(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    let dir = folder.run_dir();
    let run = run_of(&dir);
    assert_eq!(run.status, RunStatus::Running);
    assert_eq!(run.measurements.len(), 1);
    assert!(!dir.join("SHA256SUMS").exists());
    let bytes = std::fs::read(dir.join(run.measurements[0].file.as_deref().unwrap())).unwrap();
    assert_eq!(parse_npy_header(&bytes, bytes.len() as u64), Ok(100));
}

#[test]
fn without_permission_nothing_is_measured_and_the_reason_is_said() {
    // SAFETY: geteuid has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("skipped: only root can become a user without the permission");
        return;
    }
    let folder = Folder::new("nobody");
    let program = folder.0.join("rtperf-run");
    std::fs::copy(PROGRAM, &program).unwrap();
    let plan = folder.plan("{measure: context-switch, rounds: 5}");
    let out = folder.0.join("out");
    std::fs::create_dir(&out).unwrap();
    std::os::unix::fs::chown(&out, Some(65_534), None).unwrap();
    let mut command = Command::new(&program);
    command.arg("--plan").arg(plan).arg("--out").arg(&out);
    command.uid(65_534);
    let done = command.output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    let said = stderr(&done);
    assert!(
        said.contains("as root") && said.lines().count() == 1,
        "{said}"
    );
    assert_eq!(
        std::fs::read_dir(&out).unwrap().count(),
        0,
        "nothing is left behind"
    );
}

#[test]
fn bad_arguments_and_plans_end_with_2_and_one_sentence() {
    let folder = Folder::new("bad");
    for (measurements, word) in [
        ("{measure: timer-latncy}", "timer-latncy"),
        ("{measure: timer-latency, priority: 0}", "1 to 99"),
        ("{measure: timer-latency, priority: 100}", "1 to 99"),
        ("", "no measurement"),
    ] {
        let done = command(&folder, measurements).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{measurements}");
        let said = stderr(&done);
        assert!(said.contains("plan.yaml") && said.contains(word), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    assert!(
        !folder.0.join("out").exists(),
        "no place is made for a bad plan"
    );
    for (arguments, word) in [
        (&["--plan", "/nonexistent.yaml"][..], "/nonexistent.yaml"),
        (&["--plan", "PLAN", "--only", "nothing"], "'nothing'"),
        (
            &["--plan", "PLAN", "--only", "timer-latency"],
            "no such measurement",
        ),
        (&["--plan", "PLAN", "--out", "/proc/rtperf"], "/proc/rtperf"),
        (&["--what"], "--what"),
    ] {
        let plan = folder.plan("{measure: context-switch, rounds: 5}");
        let plan = plan.to_str().unwrap();
        let arguments = arguments
            .iter()
            .map(|a| if *a == "PLAN" { plan } else { a });
        let done = Command::new(PROGRAM).args(arguments).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{word}");
        assert!(stderr(&done).contains(word), "{word}: {}", stderr(&done));
    }
}

#[test]
fn help_list_plan_and_check_answer() {
    let folder = Folder::new("answers");
    let plan = folder.plan("{measure: context-switch}");
    for (arguments, status, word) in [
        (vec!["--help"], 0, "Exit status"),
        (vec!["--version"], 0, env!("CARGO_PKG_VERSION")),
        (vec!["list"], 0, "context-switch"),
        (
            vec!["plan", "--plan", plan.to_str().unwrap(), "--quick"],
            0,
            "rounds: 1000",
        ),
    ] {
        let done = Command::new(PROGRAM).args(&arguments).output().unwrap();
        assert_eq!(done.status.code(), Some(status), "{arguments:?}");
        let printed = String::from_utf8(done.stdout).unwrap();
        assert!(printed.contains(word), "{arguments:?}: {printed}");
    }
    let done = Command::new(PROGRAM).arg("check").output().unwrap();
    let printed = String::from_utf8(done.stdout).unwrap();
    let failed = printed.lines().any(|l| l.starts_with("FAILED"));
    assert_eq!(done.status.code(), Some(i32::from(failed)), "{printed}");
    assert!(printed.contains("preempt_rt"), "{printed}");
}
