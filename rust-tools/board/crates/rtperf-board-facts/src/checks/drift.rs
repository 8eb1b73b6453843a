// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What only two readings can tell: stolen time, throttling by heat.

use super::cpus::CPUS;
use super::{failed, first_few, ok, unknown, Finding};
use crate::Root;

/// Counters before a run, for [`super::read_after`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    steal_ticks: Option<u64>,
    throttle_count: Option<u64>,
    firmware_flags: Option<u32>,
}

impl Baseline {
    pub fn take(root: &Root) -> Baseline {
        Baseline {
            steal_ticks: steal_ticks(root),
            throttle_count: throttle_count(root),
            firmware_flags: firmware_flags(root),
        }
    }
}

/// The kernel reports times in hundredths of a second, whatever its own tick.
const MS_PER_TICK: u64 = 10;

pub(super) fn steal_time(root: &Root, baseline: Option<&Baseline>) -> Finding {
    let Some(now) = steal_ticks(root) else {
        return unknown("cannot be read (/proc/stat)");
    };
    let ms = |ticks: u64| ticks.saturating_mul(MS_PER_TICK);
    let Some(baseline) = baseline else {
        return match now {
            0 => ok("none since boot (/proc/stat)"),
            _ => unknown(format!(
                "{} ms since boot, what the run loses shows after it (/proc/stat)",
                ms(now)
            )),
        };
    };
    match baseline
        .steal_ticks
        .map(|before| now.saturating_sub(before))
    {
        Some(0) => ok("none during the run (/proc/stat)"),
        Some(stolen) => failed(format!("{} ms during the run (/proc/stat)", ms(stolen))),
        None => unknown("could not be read before the run (/proc/stat)"),
    }
}

fn steal_ticks(root: &Root) -> Option<u64> {
    let text = root.text("proc/stat", 4096)?;
    let all = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    // user nice system idle iowait irq softirq steal
    all.split_whitespace().nth(7)?.parse().ok()
}

/// Raspberry Pi firmware: what limits the clock right now. The same bits
/// shifted by 16 say what has done so since boot.
const FIRMWARE: &str = "sys/devices/platform/soc/soc:firmware/get_throttled";
const FIRMWARE_BITS: [(u32, &str); 4] = [
    (0, "under-voltage"),
    (1, "frequency capped"),
    (2, "throttled"),
    (3, "soft temperature limit"),
];

pub(super) fn thermal(root: &Root, baseline: Option<&Baseline>) -> Finding {
    let (coolers, mut faults) = active_coolers(root);
    let count = throttle_count(root);
    let flags = firmware_flags(root);
    if coolers == 0 && count.is_none() && flags.is_none() {
        return unknown("the kernel shows no cooling device and no throttle counter");
    }
    if let (Some(now), Some(before)) = (count, baseline.and_then(|b| b.throttle_count)) {
        if now > before {
            faults.push(format!(
                "throttled {} times during the run (throttle_count)",
                now - before
            ));
        }
    }
    if let Some(now) = flags {
        let before = baseline.and_then(|b| b.firmware_flags).unwrap_or(now);
        for (bit, name) in FIRMWARE_BITS {
            let new = (now & !before) >> (bit + 16) & 1;
            if now >> bit & 1 == 1 || new == 1 {
                faults.push(format!("{name} (get_throttled)"));
            }
        }
    }
    match (faults.is_empty(), baseline, count) {
        (false, ..) => failed(first_few(&faults)),
        (_, Some(_), _) => ok("no cooling of a CPU and no throttling during the run"),
        (_, None, Some(count)) if count > 0 => ok(format!(
            "not now, {count} times since boot (throttle_count)"
        )),
        _ => ok("no cooling of a CPU is active (cooling_device, throttle_count)"),
    }
}

/// How many devices can slow a CPU, and which do.
fn active_coolers(root: &Root) -> (usize, Vec<String>) {
    let (mut coolers, mut active) = (0, Vec::new());
    for (_, device) in root.numbered("sys/class/thermal", "cooling_device") {
        let kind = root.line(&format!("{device}/type")).unwrap_or_default();
        let slows = ["Processor", "cpufreq", "thermal-cpufreq", "cpuidle", "idle"];
        if !slows.iter().any(|name| kind.starts_with(name)) {
            continue;
        }
        coolers += 1;
        let state = root.number(&format!("{device}/cur_state")).unwrap_or(0);
        if state > 0 {
            active.push(format!("{kind} at state {state} (cooling_device)"));
        }
    }
    (coolers, active)
}

/// How often any CPU or package was throttled since boot.
fn throttle_count(root: &Root) -> Option<u64> {
    let mut total = None;
    for (_, cpu) in root.numbered(CPUS, "cpu") {
        for file in ["core_throttle_count", "package_throttle_count"] {
            let count = root.number(&format!("{cpu}/thermal_throttle/{file}"));
            if let Some(count) = count.and_then(|count| u64::try_from(count).ok()) {
                total = Some(count.saturating_add(total.unwrap_or(0)));
            }
        }
    }
    total
}

fn firmware_flags(root: &Root) -> Option<u32> {
    let line = root.line(FIRMWARE)?;
    u32::from_str_radix(line.trim_start_matches("0x"), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;
    use rtperf_record::CheckStatus::{Failed, Ok, Unknown};

    #[test]
    fn only_time_stolen_during_the_run_fails() {
        let tree = Tree::new("steal");
        let root = tree.root();
        assert_eq!(steal_time(&root, None).0, Unknown);
        tree.file(
            "proc/stat",
            "cpu  1 2 3 4 5 6 7 0 0 0\ncpu0 1 2 3 4 5 6 7 0 0 0\n",
        );
        assert_eq!(steal_time(&root, None).0, Ok);
        tree.file("proc/stat", "cpu  1 2 3 4 5 6 7 80 0 0\n");
        assert_eq!(steal_time(&root, None).0, Unknown);
        let baseline = Baseline::take(&root);
        assert_eq!(steal_time(&root, Some(&baseline)).0, Ok);
        tree.file("proc/stat", "cpu  1 2 3 4 5 6 7 83 0 0\n");
        let Finding(status, found) = steal_time(&root, Some(&baseline));
        assert_eq!(status, Failed);
        assert!(found.starts_with("30 ms"), "{found}");
        assert_eq!(steal_time(&root, Some(&Baseline::default())).0, Unknown);
    }

    #[test]
    fn cooling_that_is_active_fails_at_once() {
        let tree = Tree::new("thermal");
        let root = tree.root();
        assert_eq!(thermal(&root, None).0, Unknown);
        tree.file("sys/class/thermal/cooling_device0/type", "gpio-fan\n");
        tree.file("sys/class/thermal/cooling_device0/cur_state", "1\n");
        assert_eq!(thermal(&root, None).0, Unknown);
        tree.file("sys/class/thermal/cooling_device1/type", "cpufreq-cpu0\n");
        tree.file("sys/class/thermal/cooling_device1/cur_state", "0\n");
        assert_eq!(thermal(&root, None).0, Ok);
        tree.file("sys/class/thermal/cooling_device1/cur_state", "3\n");
        assert_eq!(thermal(&root, None).0, Failed);
    }

    #[test]
    fn counters_fail_by_their_change() {
        let tree = Tree::new("thermal-count");
        let root = tree.root();
        let file = format!("{CPUS}/cpu0/thermal_throttle/core_throttle_count");
        tree.file(&file, "5\n");
        let baseline = Baseline::take(&root);
        assert_eq!(thermal(&root, None).0, Ok);
        assert_eq!(thermal(&root, Some(&baseline)).0, Ok);
        tree.file(&file, "7\n");
        assert!(thermal(&root, Some(&baseline)).1.contains("2 times"));
    }

    #[test]
    fn firmware_bits_fail_now_or_when_new() {
        let tree = Tree::new("thermal-firmware");
        let root = tree.root();
        tree.file(FIRMWARE, "50000\n");
        let baseline = Baseline::take(&root);
        assert_eq!(thermal(&root, Some(&baseline)).0, Ok);
        tree.file(FIRMWARE, "d0000\n");
        assert!(thermal(&root, Some(&baseline))
            .1
            .contains("soft temperature"));
        tree.file(FIRMWARE, "50005\n");
        assert!(thermal(&root, None).1.contains("under-voltage"));
    }
}
