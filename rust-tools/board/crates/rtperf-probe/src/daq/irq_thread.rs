// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The kernel thread that runs the driver's threaded handler.

use std::fs::read_to_string;

/// Real-time priority of the driver's interrupt thread (`irq/<n>-rtperf-daq`);
/// `None` where there is no such thread.
pub fn irq_thread_priority() -> Option<i32> {
    let tasks = std::fs::read_dir("/proc").ok()?.flatten();
    tasks.map(|task| task.path()).find_map(|task| {
        let name = read_to_string(task.join("comm")).ok()?;
        let rest = name.strip_prefix("irq/")?;
        let (_, handler) = rest.split_once('-')?;
        // The kernel cuts names to 15 characters.
        let ours = !handler.trim().is_empty() && "rtperf-daq".starts_with(handler.trim());
        let stat = ours.then(|| read_to_string(task.join("stat")))?.ok()?;
        rt_priority(&stat)
    })
}

/// Field 40 of `/proc/<pid>/stat` (proc_pid_stat(5)). The second field, in
/// parentheses, may hold anything.
fn rt_priority(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(37)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_priority_is_found_behind_any_name() {
        let stat = "72 (irq/47 -) 5) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 -51 0 1 0 95 0 0 \
            18446744073709551615 0 0 0 0 0 0 0 2147483647 0 0 0 0 17 0 50 1 0 0 0";
        assert_eq!(rt_priority(stat), Some(50));
        assert_eq!(rt_priority("1 (x) S 2"), None);
        assert_eq!(rt_priority(""), None);
    }
}
