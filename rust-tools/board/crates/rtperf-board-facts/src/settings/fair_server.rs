// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The deadline server of Linux 6.12 and later that lends starved tasks a
//! share of each second, at the cost of real-time tasks.

use crate::Root;
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FairServer {
    /// The kernel is too old to have one.
    Absent,
    Off,
    /// On, with the largest share of any CPU, ns a period.
    On(u64),
    /// There, but debugfs is not mounted or locked.
    Hidden,
}

pub(crate) fn read(root: &Root) -> FairServer {
    let files = root.numbered(FOLDER, "cpu");
    let runtimes = runtimes(root);
    let shares: Option<Vec<u64>> = runtimes.iter().map(|(_, ns)| ns.parse().ok()).collect();
    match shares.map(|shares| shares.into_iter().max()) {
        _ if runtimes.len() < files.len() => FairServer::Hidden,
        Some(Some(0)) => FairServer::Off,
        Some(Some(ns)) => FairServer::On(ns),
        Some(None) if !has_fair_server(root) => FairServer::Absent,
        _ => FairServer::Hidden,
    }
}

const FOLDER: &str = "sys/kernel/debug/sched/fair_server";

/// Each CPU's file and what it says, of those that can be read.
pub(crate) fn runtimes(root: &Root) -> Vec<(PathBuf, String)> {
    let files = root.numbered(FOLDER, "cpu").into_iter();
    let read = |(_, cpu): (u32, String)| {
        let file = format!("{cpu}/runtime");
        root.line(&file).map(|value| (root.path(&file), value))
    };
    files.filter_map(read).collect()
}

/// By the release; one that cannot be read may well be new.
fn has_fair_server(root: &Root) -> bool {
    let release = root.line("proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release
        .split(['.', '-'])
        .map_while(|part| part.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) => (major, minor) >= (6, 12),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    #[test]
    fn the_release_decides_where_debugfs_is_silent() {
        let tree = Tree::new("fair");
        for (release, expected) in [
            ("5.15.0", FairServer::Absent),
            ("6.11.9-rt", FairServer::Absent),
            ("6.12-rc1", FairServer::Hidden),
            ("7.0.1", FairServer::Hidden),
            ("odd", FairServer::Hidden),
        ] {
            tree.file("proc/sys/kernel/osrelease", release);
            assert_eq!(read(&tree.root()), expected, "{release}");
        }
    }

    #[test]
    fn one_cpu_that_is_on_or_unreadable_is_enough() {
        let tree = Tree::new("fair-cpus");
        tree.file(&format!("{FOLDER}/cpu0/runtime"), "0\n");
        assert_eq!(read(&tree.root()), FairServer::Off);
        tree.file(&format!("{FOLDER}/cpu1/runtime"), "50000000\n");
        assert_eq!(read(&tree.root()), FairServer::On(50_000_000));
        tree.folder(&format!("{FOLDER}/cpu2"));
        assert_eq!(read(&tree.root()), FairServer::Hidden);
    }
}
