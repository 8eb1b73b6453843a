// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What the kernel grants to our own process.

use super::{failed, first_few, ok, unknown, Finding};
use crate::Root;

const CAP_IPC_LOCK: u32 = 14;
const CAP_SYS_NICE: u32 = 23;

pub(super) fn memlock(root: &Root) -> Finding {
    if has_capability(root, CAP_IPC_LOCK) == Some(true) {
        return ok("CAP_IPC_LOCK (/proc/self/status)");
    }
    match soft_limit(root, "Max locked memory") {
        Some(limit) if limit == "unlimited" => ok("unlimited (/proc/self/limits)"),
        Some(limit) => failed(format!(
            "limit of {limit} bytes and no CAP_IPC_LOCK (/proc/self/limits)"
        )),
        None => unknown("the limit cannot be read (/proc/self/limits)"),
    }
}

pub(super) fn rt_permission(root: &Root) -> Finding {
    let granted = has_capability(root, CAP_SYS_NICE);
    if granted == Some(true) {
        return ok("CAP_SYS_NICE (/proc/self/status)");
    }
    match soft_limit(root, "Max realtime priority") {
        Some(limit) if limit == "0" && granted.is_none() => {
            unknown("no RLIMIT_RTPRIO, capabilities cannot be read (/proc/self)")
        }
        Some(limit) if limit == "0" => {
            failed("neither CAP_SYS_NICE nor RLIMIT_RTPRIO (/proc/self/status, limits)")
        }
        Some(limit) => ok(format!(
            "SCHED_FIFO up to priority {limit} (/proc/self/limits)"
        )),
        None => unknown("the limit cannot be read (/proc/self/limits)"),
    }
}

pub(super) fn timer_slack(root: &Root) -> Finding {
    match root.number("proc/self/timerslack_ns") {
        Some(ns) => ok(format!(
            "{ns} ns, ignored for real-time tasks (/proc/self/timerslack_ns)"
        )),
        None => unknown("cannot be read (/proc/self/timerslack_ns)"),
    }
}

pub(super) fn swap(root: &Root) -> Finding {
    let Some(areas) = root.text("proc/swaps", 16 * 1024) else {
        return match root.exists("proc/meminfo") {
            true => ok("the kernel has no swap (no /proc/swaps)"),
            false => unknown("cannot be read (/proc/swaps)"),
        };
    };
    let area = |line: &str| Some(line.split_whitespace().next()?.to_owned());
    let areas: Vec<String> = areas.lines().skip(1).filter_map(area).collect();
    match areas.is_empty() {
        true => ok("off (/proc/swaps)"),
        false => failed(format!("on: {} (/proc/swaps)", first_few(&areas))),
    }
}

fn has_capability(root: &Root, number: u32) -> Option<bool> {
    let status = root.text("proc/self/status", 16 * 1024)?;
    let set = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))?;
    let set = u64::from_str_radix(set.trim(), 16).ok()?;
    Some(set >> number & 1 == 1)
}

/// The soft limit in the first column behind the name.
fn soft_limit(root: &Root, name: &str) -> Option<String> {
    let limits = root.text("proc/self/limits", 16 * 1024)?;
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_whitespace().next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;
    use rtperf_record::CheckStatus::{Failed, Ok, Unknown};

    const LIMITS: &str =
        "Limit                     Soft Limit           Hard Limit           Units\n\
        Max locked memory         8388608              8388608              bytes\n\
        Max realtime priority     0                    0\n";

    #[test]
    fn a_plain_user_lacks_both_and_root_has_both() {
        let tree = Tree::new("process");
        assert_eq!(memlock(&tree.root()).0, Unknown);
        tree.file("proc/self/limits", LIMITS);
        assert_eq!(rt_permission(&tree.root()).0, Unknown);
        tree.file("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n");
        assert_eq!(memlock(&tree.root()).0, Failed);
        assert_eq!(rt_permission(&tree.root()).0, Failed);
        tree.file("proc/self/status", "CapEff:\t000001ffffffffff\n");
        assert_eq!(memlock(&tree.root()).0, Ok);
        assert_eq!(rt_permission(&tree.root()).0, Ok);
    }

    #[test]
    fn limits_can_grant_both() {
        let tree = Tree::new("process-limits");
        let granted = LIMITS
            .replace("8388608 ", "unlimited ")
            .replace("priority     0", "priority    95");
        tree.file("proc/self/limits", granted);
        assert_eq!(memlock(&tree.root()).0, Ok);
        assert!(rt_permission(&tree.root()).1.contains("95"));
    }

    #[test]
    fn swap_areas_are_named() {
        let tree = Tree::new("swap");
        assert_eq!(swap(&tree.root()).0, Unknown);
        tree.file("proc/swaps", "Filename Type Size Used Priority\n");
        assert_eq!(swap(&tree.root()).0, Ok);
        tree.file(
            "proc/swaps",
            "Filename Type\n/dev/zram0 partition 1 0 100\n",
        );
        assert!(swap(&tree.root()).1.contains("/dev/zram0"));
    }
}
