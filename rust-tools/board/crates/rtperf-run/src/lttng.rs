// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! An LTTng session, through LTTng's own command.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Where the session daemon and the command keep their files: a home folder
/// may be missing or read-only on a board.
const HOME: &str = "/run/rtperf/lttng";
const PID_FILE: &str = "/run/rtperf/lttng/sessiond.pid";

/// How long any one command may take.
const PATIENCE: Duration = Duration::from_secs(60);

const KERNEL_CHANNEL: &str = "rtperf-kernel";
const UST_CHANNEL: &str = "rtperf-ust";

/// Events that every analysis needs …
const KERNEL_EVENTS: &str = "irq_handler_entry,irq_handler_exit,irq_softirq_entry,\
irq_softirq_exit,sched_switch,sched_waking,sched_wakeup,sched_wakeup_new,sched_migrate_task";
/// … and those that not every kernel has: patterns may match nothing.
const KERNEL_PATTERNS: [&str; 3] = ["timer_hrtimer_*", "i2c_*", "rtperf_daq_*"];

/// Probe modules that the daemon loads, instead of all there are.
const PROBES: [&str; 2] = [
    "--kmod-probes=irq,sched,timer,i2c",
    "--extra-kmod-probes=rtperf-daq",
];

/// Whether LTTng's command is on this board.
pub fn installed() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("lttng").is_file())
}

/// A session, and the daemon if we had to start it; both end with it.
pub struct Session {
    name: String,
    own_daemon: bool,
    open: bool,
    /// What is recorded: `kernel`, `ust`.
    pub traced: Vec<String>,
    /// What had to be left out, a sentence each.
    pub missing: Vec<String>,
}

impl Session {
    /// Makes and starts a session that records into `output`. A domain that
    /// cannot be had is left out and said; none at all is an error.
    pub fn start(output: &Path, kernel: bool, ust: bool) -> Result<Session, String> {
        std::fs::create_dir_all(HOME).map_err(|e| format!("{HOME} cannot be made: {e}"))?;
        let mut session = Session {
            name: format!("rtperf-{}", std::process::id()),
            own_daemon: start_daemon()?,
            open: false,
            traced: Vec::new(),
            missing: Vec::new(),
        };
        let output = format!("--output={}", output.display());
        lttng(&["create", &session.name, &output])?;
        session.open = true;
        if kernel {
            session.domain("kernel", enable_kernel);
        }
        if ust {
            session.domain("ust", enable_ust);
        }
        if session.traced.is_empty() {
            return Err(session.missing.join("; "));
        }
        lttng(&["start", &session.name])?;
        Ok(session)
    }

    fn domain(&mut self, name: &str, enable: fn(&str) -> Result<(), String>) {
        match enable(&self.name) {
            Ok(()) => self.traced.push(name.to_owned()),
            Err(why) => self.missing.push(format!("no {name} events: {why}")),
        }
    }

    /// Stops recording; all of it is in the output on return.
    pub fn stop(mut self) -> Result<(), String> {
        let stopped = lttng(&["stop", &self.name]);
        self.open = false;
        stopped.and(lttng(&["destroy", &self.name]))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.open {
            // The first fault is the one that is told.
            let _ = lttng(&["destroy", &self.name]);
        }
        if self.own_daemon {
            end_daemon();
        }
        // It lies in memory; leaving it would harm nobody.
        let _ = std::fs::remove_file(said());
    }
}

fn enable_kernel(session: &str) -> Result<(), String> {
    lttng(&[
        "enable-channel",
        "-k",
        "-s",
        session,
        "--subbuf-size=1M",
        "--num-subbuf=4",
        KERNEL_CHANNEL,
    ])?;
    let event = |names| {
        lttng(&[
            "enable-event",
            "-k",
            "-s",
            session,
            "-c",
            KERNEL_CHANNEL,
            names,
        ])
    };
    event(KERNEL_EVENTS)?;
    KERNEL_PATTERNS
        .iter()
        .try_for_each(|pattern| event(pattern))
}

fn enable_ust(session: &str) -> Result<(), String> {
    lttng(&[
        "enable-channel",
        "-u",
        "-s",
        session,
        "--subbuf-size=512K",
        "--num-subbuf=4",
        UST_CHANNEL,
    ])?;
    lttng(&[
        "enable-event",
        "-u",
        "-s",
        session,
        "-c",
        UST_CHANNEL,
        "rtperf:*",
    ])?;
    lttng(&[
        "add-context",
        "-u",
        "-s",
        session,
        "-c",
        UST_CHANNEL,
        "-t",
        "vpid",
        "-t",
        "vtid",
    ])
}

/// Whether we had to start one. One that already runs is used as it is.
fn start_daemon() -> Result<bool, String> {
    if lttng(&["list"]).is_ok() {
        return Ok(false);
    }
    let mut daemon = Command::new("lttng-sessiond");
    daemon
        .args(["--daemonize", "--pidfile", PID_FILE])
        .args(PROBES);
    finish(daemon, "lttng-sessiond")?;
    Ok(true)
}

fn end_daemon() {
    let pid = std::fs::read_to_string(PID_FILE).ok();
    let pid: Option<libc::pid_t> = pid.and_then(|p| p.trim().parse().ok());
    if let Some(pid) = pid.filter(|p| *p > 1) {
        // SAFETY: a signal to the daemon that we have started.
        unsafe { libc::kill(pid, libc::SIGTERM) };
        let end = Instant::now() + PATIENCE;
        // SAFETY: signal 0 only asks whether the process is there.
        while unsafe { libc::kill(pid, 0) } == 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn lttng(arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new("lttng");
    // Never start a daemon of its own: ours loads fewer probes.
    command.arg("--no-sessiond").args(arguments);
    finish(command, &format!("lttng {}", arguments[0]))
}

/// Where commands leave their words; each run has its own.
fn said() -> PathBuf {
    PathBuf::from(format!("{HOME}/said-{}", std::process::id()))
}

/// Runs a command to its end; its last line of complaint is the error.
fn finish(mut command: Command, name: &str) -> Result<(), String> {
    // A file, not a pipe: a daemon keeps a pipe open for ever.
    let said = said();
    let fault = |e: std::io::Error| format!("{name} cannot be run: {e}");
    let file = std::fs::File::create(&said).map_err(fault)?;
    let both = file.try_clone().map_err(fault)?;
    command.env("LTTNG_HOME", HOME).env("HOME", HOME);
    command.stdin(Stdio::null()).stdout(file).stderr(both);
    let mut child = command.spawn().map_err(fault)?;
    let end = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().map_err(fault)? {
            Some(status) => break status,
            None if Instant::now() >= end => {
                let _ = child.kill().and_then(|()| child.wait());
                return Err(format!("{name} did not end within {PATIENCE:?}"));
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    if status.success() {
        return Ok(());
    }
    let words = last_line(&said).unwrap_or_else(|| status.to_string());
    Err(format!("{name}: {words}"))
}

/// The last line that says something, without LTTng's "Error:" before it.
fn last_line(said: &Path) -> Option<String> {
    const MOST: u64 = 64 * 1024;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(said).ok()?;
    file.take(MOST).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().map(str::trim).rev().find(|l| !l.is_empty())?;
    let line = line.trim_start_matches("Error: ");
    Some(line.chars().filter(|c| !c.is_control()).collect())
}
