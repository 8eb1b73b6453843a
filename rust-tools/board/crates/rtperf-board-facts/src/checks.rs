// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Facts about the board that make figures trustworthy or not.
//!
//! Read them while the plan's settings are in force: before the first sample,
//! and again, against a [`Baseline`], after the last one. Names are stable:
//! gates require checks by them.

mod cpus;
mod drift;
mod interrupts;
mod kernel;
mod kernel_log;
mod process;
mod throttling;

pub use drift::Baseline;

use crate::{virtualization, Root};
use rtperf_record::{Check, CheckStatus};

/// Every check, as it stands before a run.
pub fn read(root: &Root) -> Vec<Check> {
    all(root, None)
}

/// Every check after a run; counters are compared with `baseline`, so that
/// only what happened during the run fails.
pub fn read_after(root: &Root, baseline: &Baseline) -> Vec<Check> {
    all(root, Some(baseline))
}

fn all(root: &Root, baseline: Option<&Baseline>) -> Vec<Check> {
    let checks = [
        ("preempt_rt", kernel::preempt_rt(root)),
        ("no_throttling", throttling::no_throttling(root)),
        ("governor", cpus::governor(root)),
        ("idle_states", cpus::idle_states(root)),
        ("isolated_cpus", cpus::isolated_cpus(root)),
        ("irq_affinity", interrupts::irq_affinity(root)),
        ("clocksource", kernel::clocksource(root)),
        ("smt", cpus::smt(root)),
        ("steal_time", drift::steal_time(root, baseline)),
        ("hypervisor", hypervisor(root)),
        ("thermal", drift::thermal(root, baseline)),
        ("memlock", process::memlock(root)),
        ("rt_permission", process::rt_permission(root)),
        ("timer_slack", process::timer_slack(root)),
        ("swap", process::swap(root)),
        ("debug_options", kernel::debug_options(root)),
    ];
    let named = |(name, Finding(status, found)): (&str, Finding)| Check {
        name: name.to_owned(),
        status,
        found,
    };
    checks.into_iter().map(named).collect()
}

/// A check without its name.
struct Finding(CheckStatus, String);

fn ok(found: impl Into<String>) -> Finding {
    Finding(CheckStatus::Ok, found.into())
}

fn failed(found: impl Into<String>) -> Finding {
    Finding(CheckStatus::Failed, found.into())
}

fn unknown(found: impl Into<String>) -> Finding {
    Finding(CheckStatus::Unknown, found.into())
}

fn hypervisor(root: &Root) -> Finding {
    match virtualization::hypervisor(root) {
        Some(h) => failed(format!("runs under {} ({})", h.name, h.source)),
        None => ok("no sign of one (CPU, device tree, DMI, /sys/hypervisor)"),
    }
}

/// The first few of a list, so that what was found stays one line.
fn first_few(items: &[String]) -> String {
    const FEW: usize = 6;
    let mut text = items
        .iter()
        .take(FEW)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if items.len() > FEW {
        text += &format!(" and {} more", items.len() - FEW);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{damage, Tree};

    #[test]
    fn names_are_unique_and_every_finding_is_one_line() {
        for root in [Tree::new("checks").root(), Root::default()] {
            let baseline = Baseline::take(&root);
            for checks in [read(&root), read_after(&root, &baseline)] {
                let mut names: Vec<&str> = checks.iter().map(|c| c.name.as_str()).collect();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), 16);
                for check in checks {
                    let line = !check.found.is_empty() && !check.found.contains('\n');
                    assert!(line, "{}: {:?}", check.name, check.found);
                }
            }
        }
    }

    #[test]
    fn a_board_that_tells_nothing_passes_nothing_that_needs_evidence() {
        let tree = Tree::new("checks-empty");
        let status = |name: &str| {
            let check = read(&tree.root()).into_iter().find(|c| c.name == name);
            check.map(|c| c.status)
        };
        for name in [
            "preempt_rt",
            "no_throttling",
            "clocksource",
            "memlock",
            "rt_permission",
        ] {
            assert_ne!(status(name), Some(CheckStatus::Ok), "{name}");
        }
    }

    /// All files that checks read, holding the same noise.
    #[test]
    fn damaged_files_never_panic() {
        let tree = Tree::new("checks-damaged");
        let cpu = "sys/devices/system/cpu";
        let files = [
            "proc/stat".to_owned(),
            "proc/self/limits".to_owned(),
            "proc/self/status".to_owned(),
            "proc/swaps".to_owned(),
            "proc/cmdline".to_owned(),
            "proc/cpuinfo".to_owned(),
            "dev/kmsg".to_owned(),
            "dev/cpu_dma_latency".to_owned(),
            "proc/sys/kernel/sched_rt_runtime_us".to_owned(),
            "proc/sys/kernel/osrelease".to_owned(),
            "proc/irq/24/smp_affinity_list".to_owned(),
            "proc/irq/24/eth0/x".to_owned(),
            "sys/class/thermal/cooling_device0/cur_state".to_owned(),
            format!("{cpu}/isolated"),
            format!("{cpu}/cpu0/cpuidle/state1/latency"),
            format!("{cpu}/cpu0/topology/thread_siblings_list"),
            format!("{cpu}/cpu0/thermal_throttle/core_throttle_count"),
        ];
        let good =
            b"cpu  1 2 3 4 5 6 7 8 9 0\nMax locked memory 0-3,5 unlimited 18446744073709551615\n";
        let mut round = 0;
        damage(good, |bytes| {
            round += 1;
            if round % 30 == 0 {
                files.iter().for_each(|file| tree.file(file, bytes));
                let baseline = Baseline::take(&tree.root());
                assert_eq!(read_after(&tree.root(), &baseline).len(), 16);
            }
        });
    }
}
