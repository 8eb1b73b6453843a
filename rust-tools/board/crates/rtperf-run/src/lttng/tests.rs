// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Sessions with commands that only pretend to be LTTng's.

use super::tools::complaint;
use super::*;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const KERNEL: Domains = Domains {
    kernel: true,
    ust: false,
};

/// Answers as LTTng does when all is well; notes what it was asked.
const LTTNG: &str = r#"shift; echo "$*" >>"$D/asked"
case "$*" in
list) [ -e "$D/running" ] || { echo 'Error: No session daemon is available'; exit 1; } ;;
'list --kernel') echo '  sched_switch (type: tracepoint)'; echo '  i2c_write (type: tracepoint)' ;;
'--mi xml list '*) echo '<discarded_events>5</discarded_events><lost_packets>0</lost_packets>' ;;
esac"#;

/// Runs until it is told to end.
const SESSIOND: &str = r#"echo "$*" >"$D/daemon"; echo $$ >"$D/pid"; : >"$D/running"
trap 'rm "$D/running"; exit 0' TERM
while :; do sleep 0.02; done"#;

/// Two programs in a folder of their own. One bench at a time: a script being
/// written by one thread cannot be run while another forks.
struct Bench {
    tools: Tools,
    _turn: MutexGuard<'static, ()>,
}

impl Bench {
    fn new(lttng: &str, sessiond: &str) -> Bench {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = std::env::temp_dir().join(format!("rtperf-lttng-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let program = |name: &str, script: &str| -> PathBuf {
            let path = folder.join(name);
            let text = format!("#!/bin/sh\nD='{}'\n{script}\n", folder.display());
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
            path
        };
        let tools = Tools {
            lttng: program("lttng", lttng),
            sessiond: program("lttng-sessiond", sessiond),
            folder: folder.clone(),
            patience: Duration::from_secs(120),
        };
        Bench { tools, _turn: turn }
    }

    fn start(&self) -> Result<Session<'_>, String> {
        Session::start(&self.tools, Path::new("/run/x"), KERNEL)
    }

    fn fault(&self) -> String {
        self.start().err().expect("a session that cannot be")
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.tools.folder.join(name)).unwrap_or_default()
    }

    /// Whether the process whose number is in a file still runs.
    fn runs(&self, name: &str) -> bool {
        let pid = self.text(name);
        assert!(!pid.is_empty(), "{name}");
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
        stat.is_ok_and(|s| !s.contains(") Z "))
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.tools.folder);
    }
}

#[test]
fn a_session_from_start_to_end() {
    let bench = Bench::new(LTTNG, SESSIOND);
    let mut session = bench.start().unwrap();
    assert!(bench.runs("pid"));
    assert_eq!(session.record.domains, ["kernel"]);
    assert_eq!(session.record.events, ["sched_switch", "i2c_write"]);
    assert_eq!(session.record.discarded_events, None);
    session.stop().unwrap();
    assert_eq!(session.record.discarded_events, Some(5));
    assert_eq!(session.record.lost_packets, Some(0));
    drop(session);
    assert!(!bench.runs("pid"));
    assert!(bench.text("daemon").contains("--kmod-probes="));
    let asked = bench.text("asked");
    let verbs = asked.lines().filter(|l| !l.starts_with("list"));
    let verbs: Vec<&str> = verbs.map(|l| l.split(' ').next().unwrap()).collect();
    let expected = "create enable-channel enable-event start stop --mi destroy";
    assert_eq!(verbs.join(" "), expected);
    assert!(asked.contains("--output=/run/x") && asked.contains("sched_switch,i2c_write"));
    for words in ["command", "daemon"] {
        let name = format!("{words}-{}", std::process::id());
        assert!(!bench.tools.folder.join(&name).exists(), "{name}");
    }
}

#[test]
fn a_daemon_that_runs_is_used_and_goes_on() {
    let bench = Bench::new(LTTNG, SESSIOND);
    std::fs::write(bench.tools.folder.join("running"), "").unwrap();
    bench.start().unwrap().stop().unwrap();
    assert_eq!(bench.text("daemon"), "", "no second one");
    assert!(bench.tools.folder.join("running").exists());
}

#[test]
fn a_session_that_is_dropped_ends() {
    let bench = Bench::new(LTTNG, SESSIOND);
    drop(bench.start().unwrap());
    assert!(bench.text("asked").contains("destroy rtperf-"));
    assert!(!bench.runs("pid"));
}

#[test]
fn each_fault_is_a_sentence_and_leaves_nothing_running() {
    for (at, complaint) in [
        ("create", "Session name already exists"),
        ("enable-channel", "Not enough memory"),
        ("start", "Start failed for kernel session"),
        ("list --kernel", "Kernel tracer not available"),
    ] {
        let fails = format!("'{at}'*) echo 'Error: {complaint}.'; exit 1;;");
        let lttng = format!("case \"$2 $3\" in {fails} esac\n{LTTNG}");
        let bench = Bench::new(&lttng, SESSIOND);
        let why = bench.fault();
        assert!(why.ends_with(complaint) && why.contains("lttng "), "{why}");
        assert!(!bench.runs("pid"));
        let made = at != "create";
        assert_eq!(bench.text("asked").contains("destroy"), made, "{at}");
    }
}

#[test]
fn a_daemon_that_does_not_come_up_says_why() {
    for (sessiond, complaint) in [
        (
            "echo 'Error: no daemon today' >&2; echo; exit 3",
            "no daemon today",
        ),
        ("exit 3", "exit status: 3"),
    ] {
        let bench = Bench::new(LTTNG, sessiond);
        assert_eq!(bench.fault(), format!("lttng-sessiond: {complaint}"));
    }
    let mut bench = Bench::new(LTTNG, SESSIOND);
    bench.tools.sessiond = "/nonexistent/lttng-sessiond".into();
    assert!(bench.fault().contains("lttng-sessiond cannot be run"));
}

#[test]
fn a_command_that_hangs_is_ended_with_what_it_started() {
    let hangs = r#"create) echo $$ >"$D/hung"; sleep 1000 & echo $! >"$D/child"; wait;;"#;
    let mut bench = Bench::new(&format!("case $2 in {hangs} esac\n{LTTNG}"), SESSIOND);
    bench.tools.patience = Duration::from_secs(5);
    let begun = Instant::now();
    assert_eq!(bench.fault(), "lttng create did not end within 5 s");
    assert!(begun.elapsed() < Duration::from_secs(500));
    for process in ["hung", "child", "pid"] {
        assert!(!bench.runs(process), "{process}");
    }
    // It may have made the session before it hung.
    assert!(bench.text("asked").contains("destroy"));
}

#[test]
fn a_daemon_that_neither_answers_nor_ends_is_killed() {
    let deaf = r#"echo $$ >"$D/pid"; trap '' TERM; while :; do sleep 0.02; done"#;
    let mut bench = Bench::new(LTTNG, deaf);
    bench.tools.patience = Duration::from_secs(2);
    assert_eq!(bench.fault(), "lttng-sessiond did not answer within 2 s");
    assert!(!bench.runs("pid"));
}

#[test]
fn complaints_are_one_line() {
    let said = "Warning: x\nError: Channel c: Kernel tracer not available.\n\nPERROR x\n";
    let expected = "Channel c: Kernel tracer not available";
    assert_eq!(complaint(said).as_deref(), Some(expected));
    assert_eq!(complaint("a\nb\u{1b}[0m\n\n").as_deref(), Some("b[0m"));
    assert_eq!(complaint(" \n"), None);
    assert_eq!(complaint(&"é".repeat(9_000)).unwrap().chars().count(), 200);
}
