// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Settings of the board that a plan changes: recorded, and put back.

pub(crate) mod fair_server;

use crate::{FactsError, Root};
use fair_server::FairServer;
use rtperf_record::Setting;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// What a plan asks for; nothing is changed unless it does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Lift the limit on real-time tasks, and the fair server's share where
    /// there is one.
    pub rt_throttling_off: bool,
    /// Keep the CPUs out of deeper idle states.
    pub idle_pinned: bool,
}

/// How long the kernel keeps real-time tasks off a CPU that they have used up:
/// by the limit on real-time tasks, or by the fair server, whose default is
/// taken where it does not show. `None` where neither is in force.
pub fn throttle_pause_ns(root: &Root) -> Option<i64> {
    const FAIR_SERVER_DEFAULT: i64 = 50_000_000;
    let limit = |what: &str| root.number(&format!("proc/sys/kernel/sched_rt_{what}_us"));
    if let (Some(runtime), Some(period)) = (limit("runtime"), limit("period")) {
        if (0..period).contains(&runtime) {
            return (period - runtime).checked_mul(1_000);
        }
    }
    match fair_server::read(root) {
        FairServer::On(ns) => i64::try_from(ns).ok(),
        FairServer::Hidden => Some(FAIR_SERVER_DEFAULT),
        FairServer::Off | FairServer::Absent => None,
    }
}

/// Changed settings; put back by [`Settings::restore`], or when dropped.
#[derive(Debug, Default)]
pub struct Settings {
    changed: Vec<Changed>,
    complaints: Vec<FactsError>,
}

#[derive(Debug)]
struct Changed {
    record: Setting,
    undo: Undo,
}

#[derive(Debug)]
enum Undo {
    /// Files and what they said before.
    Write(Vec<(PathBuf, String)>),
    /// The kernel ends its promise when the file is closed.
    Close(Option<File>),
}

impl Settings {
    /// Makes the changes. When one cannot be made, those before it are undone.
    pub fn apply(root: &Root, wanted: Wanted) -> Result<Settings, FactsError> {
        let mut settings = Settings::default();
        if wanted.rt_throttling_off {
            settings.lift_rt_limit(root)?;
            settings.stop_fair_server(root);
        }
        if wanted.idle_pinned {
            settings.pin_idle(root)?;
        }
        Ok(settings)
    }

    /// What has been changed so far, for the run's record.
    pub fn changed(&self) -> Vec<Setting> {
        self.changed.iter().map(|c| c.record.clone()).collect()
    }

    /// What could not be done or undone, a sentence each.
    pub fn complaints(&self) -> &[FactsError] {
        &self.complaints
    }

    /// Puts everything back, the last change first. Settings that could not be
    /// put back stay `restored: false`, and [`Settings::complaints`] says why.
    pub fn restore(&mut self) -> Vec<Setting> {
        for changed in self.changed.iter_mut().rev() {
            if changed.record.restored {
                continue;
            }
            match changed.undo.run() {
                Ok(()) => changed.record.restored = true,
                Err(e) => self.complaints.push(FactsError(format!(
                    "setting {} could not be put back to {}: {e}; a reboot does it",
                    changed.record.name, changed.record.from
                ))),
            }
        }
        self.changed()
    }

    fn lift_rt_limit(&mut self, root: &Root) -> Result<(), FactsError> {
        const NAME: &str = "proc/sys/kernel/sched_rt_runtime_us";
        let path = root.path(NAME);
        let refused = |e: &dyn std::fmt::Display| {
            FactsError(format!(
                "RT throttling cannot be turned off: {e}; run as root, or leave \
                 'rt_throttling: off' out of the plan"
            ))
        };
        let before = root
            .line(NAME)
            .ok_or_else(|| refused(&format!("/{NAME} is unreadable")))?;
        if before == "-1" {
            return Ok(());
        }
        write(&path, "-1").map_err(|e| refused(&e))?;
        self.record(
            "rt_throttling",
            &before,
            "-1",
            Undo::Write(vec![(path, before.clone())]),
        );
        Ok(())
    }

    /// The plan is followed without this too, and the check `no_throttling`
    /// tells the difference; so it is a complaint, not an error.
    fn stop_fair_server(&mut self, root: &Root) {
        let complaint = |why: &str| {
            FactsError(format!(
                "the fair server of this kernel stays on and may still interrupt \
                 real-time tasks: {why}"
            ))
        };
        match fair_server::read(root) {
            FairServer::Absent | FairServer::Off => {}
            FairServer::Hidden => self.complaints.push(complaint(
                "mount debugfs on /sys/kernel/debug, and let no kernel lockdown close it",
            )),
            FairServer::On(ns) => {
                let files = fair_server::runtimes(root).into_iter();
                let before: Vec<_> = files.filter(|(_, value)| value != "0").collect();
                let fault = before.iter().find_map(|(path, _)| write(path, "0").err());
                // Recorded even if only some CPUs took it: all are put back.
                self.record(
                    "fair_server",
                    &format!("{ns} ns"),
                    "0 ns",
                    Undo::Write(before),
                );
                if let Some(e) = fault {
                    self.complaints.push(complaint(&e.to_string()));
                }
            }
        }
    }

    fn pin_idle(&mut self, root: &Root) -> Result<(), FactsError> {
        let path = root.path("dev/cpu_dma_latency");
        let (file, before) = promise_latency(&path).map_err(|e| {
            FactsError(format!(
                "the CPUs cannot be kept out of deeper idle states: {}: {e}; run as root, \
                 or leave 'idle: pinned' out of the plan",
                path.display()
            ))
        })?;
        self.record("idle", &before, "0 us", Undo::Close(Some(file)));
        Ok(())
    }

    fn record(&mut self, name: &str, from: &str, to: &str, undo: Undo) {
        let record = Setting {
            name: name.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            restored: false,
        };
        self.changed.push(Changed { record, undo });
    }
}

impl Drop for Settings {
    fn drop(&mut self) {
        self.restore();
    }
}

impl Undo {
    fn run(&mut self) -> std::io::Result<()> {
        match self {
            Undo::Write(files) => {
                // All of them are tried; the first fault is told.
                let tried = files.iter().map(|(path, value)| write(path, value));
                let faults: Vec<_> = tried.filter_map(Result::err).collect();
                faults.into_iter().next().map_or(Ok(()), Err)
            }
            Undo::Close(file) => {
                drop(file.take());
                Ok(())
            }
        }
    }
}

/// Asks for no wake-up latency at all; holds as long as the file is open.
fn promise_latency(path: &Path) -> std::io::Result<(File, String)> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let mut bound = [0; 4];
    file.read_exact(&mut bound)?;
    file.write_all(&0i32.to_ne_bytes())?;
    Ok((file, format!("{} us", i32::from_ne_bytes(bound))))
}

/// The kernel takes a value in one write; nothing is created.
fn write(path: &Path, value: &str) -> std::io::Result<()> {
    let told = |e| std::io::Error::other(format!("{}: {e}", path.display()));
    let file = File::options().write(true).truncate(true).open(path);
    file.and_then(|mut file| file.write_all(value.as_bytes()))
        .map_err(told)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    const RUNTIME: &str = "proc/sys/kernel/sched_rt_runtime_us";
    const ALL: Wanted = Wanted {
        rt_throttling_off: true,
        idle_pinned: true,
    };

    fn board(name: &str) -> Tree {
        let tree = Tree::new(name);
        tree.file(RUNTIME, "950000\n");
        tree.file("proc/sys/kernel/osrelease", "6.6.30\n");
        tree.file("dev/cpu_dma_latency", 2_000_000_000i32.to_ne_bytes());
        tree
    }

    #[test]
    fn changes_are_recorded_and_restored() {
        let tree = board("settings");
        let mut settings = Settings::apply(&tree.root(), ALL).unwrap();
        assert_eq!(tree.read(RUNTIME), "-1");
        let names: Vec<_> = settings
            .changed()
            .into_iter()
            .map(|s| (s.name, s.from))
            .collect();
        let expected = [("rt_throttling", "950000"), ("idle", "2000000000 us")];
        assert_eq!(names, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
        assert!(settings.restore().iter().all(|s| s.restored));
        assert_eq!(tree.read(RUNTIME), "950000");
        assert!(settings.complaints().is_empty());
    }

    #[test]
    fn dropping_restores_and_nothing_wanted_changes_nothing() {
        let tree = board("settings-drop");
        drop(Settings::apply(&tree.root(), ALL).unwrap());
        assert_eq!(tree.read(RUNTIME), "950000");
        let settings = Settings::apply(&tree.root(), Wanted::default()).unwrap();
        assert!(settings.changed().is_empty());
    }

    #[test]
    fn a_change_that_fails_undoes_those_before_it() {
        let tree = board("settings-fail");
        std::fs::remove_file(tree.path().join("dev/cpu_dma_latency")).unwrap();
        let e = Settings::apply(&tree.root(), ALL).unwrap_err();
        assert!(
            e.0.contains("cpu_dma_latency") && e.0.contains("idle: pinned"),
            "{e}"
        );
        assert_eq!(tree.read(RUNTIME), "950000");
        assert!(!tree.root().exists("dev/cpu_dma_latency"));
    }

    #[test]
    fn what_cannot_be_put_back_is_told() {
        let tree = board("settings-stuck");
        let mut settings = Settings::apply(&tree.root(), ALL).unwrap();
        std::fs::remove_file(tree.path().join(RUNTIME)).unwrap();
        let restored: Vec<bool> = settings.restore().iter().map(|s| s.restored).collect();
        assert_eq!(restored, [false, true]);
        assert!(settings.complaints()[0].0.contains("rt_throttling"));
    }

    #[test]
    fn the_fair_server_is_stopped_with_the_limit() {
        let tree = board("settings-fair");
        tree.file("proc/sys/kernel/osrelease", "6.12.1\n");
        let mut settings = Settings::apply(&tree.root(), ALL).unwrap();
        assert!(settings.complaints()[0].0.contains("debugfs"));
        settings.restore();
        let runtime = "sys/kernel/debug/sched/fair_server/cpu1/runtime";
        tree.file(runtime, "50000000\n");
        let mut settings = Settings::apply(&tree.root(), ALL).unwrap();
        assert_eq!(tree.read(runtime), "0");
        assert_eq!(settings.changed()[1].from, "50000000 ns");
        settings.restore();
        assert_eq!(tree.read(runtime), "50000000");
    }

    #[test]
    fn the_pause_is_the_limits_or_the_fair_servers() {
        let tree = Tree::new("pause");
        let limits = |runtime: &str| {
            tree.file("proc/sys/kernel/sched_rt_runtime_us", runtime);
            tree.file("proc/sys/kernel/sched_rt_period_us", "1000000");
            throttle_pause_ns(&tree.root())
        };
        tree.file("proc/sys/kernel/osrelease", "6.6.1");
        assert_eq!(limits("950000"), Some(50_000_000));
        assert_eq!(limits("-1"), None);
        tree.file("proc/sys/kernel/osrelease", "6.12.1");
        assert_eq!(limits("-1"), Some(50_000_000));
        tree.file("sys/kernel/debug/sched/fair_server/cpu0/runtime", "0");
        assert_eq!(limits("-1"), None);
    }
}
