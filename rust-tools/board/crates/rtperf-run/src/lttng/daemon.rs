// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! LTTng's session daemon: the one that runs, else one of our own.

use super::tools::{complaint, signal, start, wait, Tools, Words};
use rtperf_probe::stop;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Probe modules to load, instead of all there are.
const PROBES: [&str; 2] = [
    "--kmod-probes=irq,sched,timer,i2c",
    "--extra-kmod-probes=rtperf-daq",
];

/// A daemon that we have started. It stays our child instead of going into the
/// background, so that its end can be waited for and never missed.
pub struct Daemon {
    child: Child,
    words: Words,
    patience: Duration,
}

impl Daemon {
    /// Sees to it that a daemon answers; `None` where one already does, which
    /// is used as it is and goes on afterwards.
    pub fn ensure(tools: &Tools, kernel: bool) -> Result<Option<Daemon>, String> {
        if tools.lttng(&["list"])?.status.success() {
            return Ok(None);
        }
        let mut command = Command::new(&tools.sessiond);
        match kernel {
            true => command.args(PROBES),
            false => command.arg("--no-kernel"),
        };
        let words = Words::new(tools, "daemon");
        let mut daemon = Daemon {
            child: start(&mut command, "lttng-sessiond", &words)?,
            words,
            patience: tools.patience,
        };
        daemon.answers(tools)?;
        Ok(Some(daemon))
    }

    fn answers(&mut self, tools: &Tools) -> Result<(), String> {
        let end = Instant::now() + self.patience;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                let why = complaint(&self.words.text()).unwrap_or_else(|| status.to_string());
                return Err(format!("lttng-sessiond: {why}"));
            }
            if tools.lttng(&["list"])?.status.success() {
                return Ok(());
            }
            if stop() {
                return Err("lttng-sessiond was given up, as the run was to end".into());
            }
            if Instant::now() >= end {
                let limit = self.patience.as_secs();
                return Err(format!("lttng-sessiond did not answer within {limit} s"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            signal(&self.child, libc::SIGTERM);
            // One that does not listen is killed.
            let _ = wait(&mut self.child, self.patience, || false);
        }
    }
}
