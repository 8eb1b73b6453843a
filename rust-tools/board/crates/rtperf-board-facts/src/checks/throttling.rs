// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whether the kernel took the CPU away from real-time tasks.
//!
//! Up to Linux 6.11 that is RT throttling, which says so once in the kernel
//! log. From 6.12 on a fair server does it instead, whatever
//! `sched_rt_runtime_us` says, and leaves no trace; only RT group scheduling
//! still throttles in the old way.

use super::kernel_log::{search, Search};
use super::{failed, ok, unknown, Finding};
use crate::settings::fair_server::{self, FairServer};
use crate::Root;

const MESSAGE: &str = "sched: RT throttling activated";

pub(super) fn no_throttling(root: &Root) -> Finding {
    let Some(runtime) = root.number("proc/sys/kernel/sched_rt_runtime_us") else {
        return unknown("the limit cannot be read (/proc/sys/kernel/sched_rt_runtime_us)");
    };
    let period = root
        .number("proc/sys/kernel/sched_rt_period_us")
        .unwrap_or(1_000_000);
    let limited = runtime >= 0 && runtime < period;
    let limit = match limited {
        true => format!("limit {runtime} of {period} us set (sched_rt_runtime_us)"),
        false => format!("sched_rt_runtime_us is {runtime}"),
    };
    if limited {
        match search(root, MESSAGE) {
            Search::Found => return failed(format!("{limit}, has hit since boot (/dev/kmsg)")),
            Search::Absent => {}
            Search::Overwritten => {
                return unknown(format!(
                    "{limit}, the kernel log no longer reaches back to boot"
                ))
            }
            Search::Unreadable => {
                return unknown(format!(
                    "{limit}, the kernel log cannot be read (/dev/kmsg)"
                ))
            }
        }
    }
    match fair_server::read(root) {
        FairServer::On(ns) => unknown(format!(
            "{limit}, but the fair server may take {ns} ns a period and logs nothing \
             (debug/sched/fair_server)"
        )),
        FairServer::Hidden => unknown(format!(
            "{limit}, but the fair server of Linux 6.12 and later logs nothing and \
             its debugfs files cannot be read"
        )),
        FairServer::Off | FairServer::Absent if limited => {
            ok(format!("{limit}, has not hit since boot (/dev/kmsg)"))
        }
        FairServer::Off => ok(format!("off: {limit}, fair server off")),
        FairServer::Absent => ok(format!("off: {limit}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;
    use rtperf_record::CheckStatus::{Failed, Ok, Unknown};

    fn board(name: &str, runtime: &str, release: &str) -> Tree {
        let tree = Tree::new(name);
        tree.file("proc/sys/kernel/sched_rt_runtime_us", runtime);
        tree.file("proc/sys/kernel/sched_rt_period_us", "1000000\n");
        tree.file("proc/sys/kernel/osrelease", release);
        tree.file("dev/kmsg", "6,0,0,-;Booting\n");
        tree
    }

    #[test]
    fn before_6_12_the_kernel_log_decides() {
        let tree = board("throttling-old", "950000\n", "6.6.30-rt\n");
        assert_eq!(no_throttling(&tree.root()).0, Ok);
        tree.file("dev/kmsg", format!("6,0,0,-;Booting\n4,1,5,-;{MESSAGE}\n"));
        assert_eq!(no_throttling(&tree.root()).0, Failed);
        tree.file("dev/kmsg", "6,9,0,-;late\n");
        assert_eq!(no_throttling(&tree.root()).0, Unknown);
    }

    #[test]
    fn a_limit_that_is_off_needs_no_log() {
        let tree = board("throttling-off", "-1\n", "6.1.0\n");
        tree.file("dev/kmsg", "");
        assert_eq!(no_throttling(&tree.root()).0, Ok);
    }

    #[test]
    fn from_6_12_on_the_fair_server_decides() {
        let tree = board("throttling-new", "-1\n", "6.12.117\n");
        assert_eq!(no_throttling(&tree.root()).0, Unknown);
        let runtime = "sys/kernel/debug/sched/fair_server/cpu0/runtime";
        tree.file(runtime, "50000000\n");
        let Finding(status, found) = no_throttling(&tree.root());
        assert_eq!(status, Unknown);
        assert!(found.contains("50000000"), "{found}");
        tree.file(runtime, "0\n");
        assert_eq!(no_throttling(&tree.root()).0, Ok);
    }
}
