// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! How the kernel was built and started.

use super::{failed, ok, unknown, Finding};
use crate::Root;

pub(super) fn preempt_rt(root: &Root) -> Finding {
    if root.number("sys/kernel/realtime") == Some(1) {
        return ok("PREEMPT_RT (/sys/kernel/realtime)");
    }
    let Some(version) = root.line("proc/sys/kernel/version") else {
        return unknown("the kernel does not tell its version (/proc/sys/kernel/version)");
    };
    let words: Vec<&str> = version.split_whitespace().collect();
    // Kernels before 5.4 wrote it as two words.
    let spelled_apart = words.windows(2).any(|pair| pair == ["PREEMPT", "RT"]);
    if words.contains(&"PREEMPT_RT") || spelled_apart {
        return ok("PREEMPT_RT (/proc/sys/kernel/version)");
    }
    match words.iter().find(|word| word.starts_with("PREEMPT")) {
        Some(&"PREEMPT_DYNAMIC") => match root.line("sys/kernel/debug/sched/preempt") {
            Some(chosen) => failed(format!(
                "PREEMPT_DYNAMIC, {chosen} (/sys/kernel/debug/sched/preempt)"
            )),
            None => failed("PREEMPT_DYNAMIC (/proc/sys/kernel/version)"),
        },
        Some(model) => failed(format!("{model} (/proc/sys/kernel/version)")),
        None => failed("no preemption, or voluntary (/proc/sys/kernel/version)"),
    }
}

/// Counters that user space reads in the vDSO, or nearly as fast.
const GOOD_CLOCKS: [&str; 9] = [
    "arch_sys_counter",
    "tsc",
    "riscv_clocksource",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arm_global_timer",
    "timebase",
    "tod",
    "tsc-early",
];

const SLOW_CLOCKS: [&str; 5] = ["jiffies", "refined-jiffies", "hpet", "acpi_pm", "pit"];

pub(super) fn clocksource(root: &Root) -> Finding {
    const FILE: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    let Some(clock) = root.line(FILE) else {
        return unknown(format!("the kernel does not tell (/{FILE})"));
    };
    let found = format!("{clock} (current_clocksource)");
    if GOOD_CLOCKS.contains(&clock.as_str()) {
        ok(found)
    } else if SLOW_CLOCKS.contains(&clock.as_str()) {
        failed(format!("{found}: coarse or slow to read"))
    } else {
        unknown(format!("{found}: see its measured granularity and cost"))
    }
}

/// Words of the command line that slow everything, with the values that don't.
const DEBUG_WORDS: [(&str, &[&str]); 7] = [
    ("slub_debug", &["-", "0"]),
    ("slab_debug", &["-", "0"]),
    ("kmemleak", &["off"]),
    ("kasan", &["off"]),
    ("page_poison", &["0", "off"]),
    ("debug_pagealloc", &["0", "off"]),
    ("debug_objects", &[]),
];

/// Files that only kernels with such an option have.
const DEBUG_FILES: [(&str, &str); 3] = [
    ("proc/lockdep", "lockdep"),
    ("proc/lock_stat", "lock_stat"),
    ("sys/kernel/debug/kmemleak", "kmemleak"),
];

pub(super) fn debug_options(root: &Root) -> Finding {
    let files = DEBUG_FILES
        .into_iter()
        .filter(|(file, _)| root.exists(file));
    let mut on: Vec<String> = files
        .map(|(file, name)| format!("{name} (/{file})"))
        .collect();
    let Some(line) = root.text("proc/cmdline", 16 * 1024) else {
        return match on.is_empty() {
            true => unknown("the command line cannot be read (/proc/cmdline)"),
            false => failed(on.join(", ")),
        };
    };
    for word in line.split_whitespace() {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let slows =
            |(known, harmless): &(&str, &[&str])| key == *known && !harmless.contains(&value);
        if DEBUG_WORDS.iter().any(slows) {
            on.push(format!(
                "{} (/proc/cmdline)",
                word.replace(char::is_control, "")
            ));
        }
    }
    match on.is_empty() {
        true => ok("no sign of lockdep, kmemleak, KASAN or slab debugging (/proc)"),
        false => failed(super::first_few(&on)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;
    use rtperf_record::CheckStatus::{self, Failed, Ok, Unknown};

    fn with(file: &str, content: &str, check: fn(&Root) -> Finding) -> (CheckStatus, String) {
        let tree = Tree::new(&format!("kernel-{}", content.len()));
        tree.file(file, content);
        let Finding(status, found) = check(&tree.root());
        (status, found)
    }

    #[test]
    fn preemption_model_by_file_or_version() {
        let version = |v: &str| with("proc/sys/kernel/version", v, preempt_rt);
        assert_eq!(with("sys/kernel/realtime", "1\n", preempt_rt).0, Ok);
        assert_eq!(version("#1 SMP PREEMPT_RT Debian 6.12\n").0, Ok);
        assert_eq!(version("#1 SMP PREEMPT RT Sat\n").0, Ok);
        assert_eq!(version("#1 SMP PREEMPT_DYNAMIC Mon\n").0, Failed);
        assert!(version("#1 SMP PREEMPT Sun\n").1.starts_with("PREEMPT ("));
        assert_eq!(version("#1 SMP Sun\n").0, Failed);
        assert_eq!(with("none", "", preempt_rt).0, Unknown);
    }

    #[test]
    fn clocksources() {
        let current = "sys/devices/system/clocksource/clocksource0/current_clocksource";
        let clock = |name: &str| with(current, name, clocksource).0;
        assert_eq!(clock("arch_sys_counter\n"), Ok);
        assert_eq!(clock("refined-jiffies\n"), Failed);
        assert_eq!(clock("new_one\n"), Unknown);
    }

    #[test]
    fn debugging_is_named_with_its_source() {
        let line = |l: &str| with("proc/cmdline", l, debug_options);
        assert_eq!(line("quiet kasan=off slub_debug=-").0, Ok);
        let (status, found) = line("quiet slub_debug=FZP");
        assert_eq!(
            (status, found.as_str()),
            (Failed, "slub_debug=FZP (/proc/cmdline)")
        );
        assert_eq!(with("proc/lockdep", "", debug_options).0, Failed);
    }
}
