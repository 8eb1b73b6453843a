// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! An LTTng session, through LTTng's own commands.

mod daemon;
mod events;
mod tools;

pub use tools::Tools;

use daemon::Daemon;
use rtperf_probe::ust;
use rtperf_record::TracerRecord;
use std::path::Path;

const KERNEL_CHANNEL: &str = "rtperf-kernel";
const UST_CHANNEL: &str = "rtperf-ust";

/// Which of LTTng's domains to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Domains {
    pub kernel: bool,
    pub ust: bool,
}

/// A recording session, and the daemon if we had to start it; both end with it.
pub struct Session<'a> {
    tools: &'a Tools,
    name: String,
    open: bool,
    pub record: TracerRecord,
    /// What had to be left out, a sentence each.
    pub missing: Vec<String>,
    // Dropped after the session has ended.
    _daemon: Option<Daemon>,
}

impl<'a> Session<'a> {
    /// Makes and starts a session that records into `output`. A domain that
    /// cannot be had is left out and said; none at all is an error.
    pub fn start(tools: &'a Tools, output: &Path, domains: Domains) -> Result<Session<'a>, String> {
        let daemon = Daemon::ensure(tools, domains.kernel)?;
        let mut session = Session {
            tools,
            name: format!("rtperf-{}", std::process::id()),
            // One that was cut short may yet have made the session.
            open: true,
            record: TracerRecord::default(),
            missing: Vec::new(),
            _daemon: daemon,
        };
        let output = format!("--output={}", output.display());
        let said = tools.lttng(&["create", &session.name, &output])?;
        session.open = said.status.success();
        said.done()?;
        if domains.kernel {
            let enabled = session.enable_kernel();
            session.enter("kernel", enabled);
        }
        if domains.ust {
            let enabled = session.enable_ust();
            session.enter("ust", enabled);
        }
        if session.record.domains.is_empty() {
            return Err(session.missing.join("; "));
        }
        tools.lttng(&["start", &session.name])?.done()?;
        Ok(session)
    }

    fn enter(&mut self, name: &str, enabled: Result<Vec<String>, String>) {
        match enabled {
            Ok(events) => {
                self.record.domains.push(name.to_owned());
                self.record.events.extend(events);
            }
            Err(why) => self.missing.push(why),
        }
    }

    fn enable_kernel(&self) -> Result<Vec<String>, String> {
        let enabled = || {
            let offered = self.tools.lttng(&["list", "--kernel"])?.done()?;
            let events = events::wanted(&offered);
            if events.is_empty() {
                return Err("the tracer has none of those that explain a latency".into());
            }
            self.channel("--kernel", KERNEL_CHANNEL, events::kernel_buffers())?;
            self.event("--kernel", KERNEL_CHANNEL, &events.join(","))?;
            Ok(events)
        };
        enabled().map_err(|why: String| format!("no kernel events: {why}"))
    }

    fn enable_ust(&self) -> Result<Vec<String>, String> {
        // Its complaint says what there will not be.
        ust::load().map_err(|e| e.0)?;
        let enabled = || {
            self.channel("--userspace", UST_CHANNEL, events::ust_buffers())?;
            self.event("--userspace", UST_CHANNEL, events::UST)?;
            let context = ["add-context", "--userspace", "--session", &self.name];
            let which = ["--channel", UST_CHANNEL, "--type=vpid", "--type=vtid"];
            self.tools.lttng(&[context, which].concat())?.done()?;
            Ok(vec![events::UST.to_owned()])
        };
        enabled().map_err(|why: String| format!("no user-space events: {why}"))
    }

    fn channel(&self, domain: &str, channel: &str, bytes: u64) -> Result<(), String> {
        let size = format!("--subbuf-size={bytes}");
        let count = format!("--num-subbuf={}", events::BUFFERS);
        let command = ["enable-channel", domain, "--session", &self.name];
        let what = [&size, &count, channel];
        self.tools.lttng(&[&command[..], &what].concat())?.done()?;
        Ok(())
    }

    fn event(&self, domain: &str, channel: &str, names: &str) -> Result<(), String> {
        let command = ["enable-event", domain, "--session", &self.name];
        let what = ["--channel", channel, names];
        self.tools.lttng(&[&command[..], &what].concat())?.done()?;
        Ok(())
    }

    /// Stops recording; all of it is in the output on return, and what LTTng
    /// lost is in the record.
    pub fn stop(&mut self) -> Result<(), String> {
        let stopped = self.tools.lttng_anyway(&["stop", &self.name]);
        let stopped = stopped.and_then(|said| said.done());
        let list = ["--mi", "xml", "list", &self.name];
        let told = self.tools.lttng_anyway(&list);
        if let Ok(told) = told.and_then(|said| said.done()) {
            self.record.discarded_events = events::sum_of(&told, "discarded_events");
            self.record.lost_packets = events::sum_of(&told, "lost_packets");
        }
        let ended = self.destroy();
        stopped.and(ended)
    }

    fn destroy(&mut self) -> Result<(), String> {
        self.open = false;
        let said = self.tools.lttng_anyway(&["destroy", &self.name])?;
        said.done().map(|_| ())
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if self.open {
            // The first fault is the one that is told.
            let _ = self.destroy();
        }
    }
}

#[cfg(test)]
mod tests;
