// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which interrupts may come to the CPUs that are meant to be quiet.

use super::{failed, first_few, ok, unknown, Finding};
use crate::root::cpu_list;
use crate::Root;

pub(super) fn irq_affinity(root: &Root) -> Finding {
    let isolated = root.line("sys/devices/system/cpu/isolated");
    let quiet = isolated.as_deref().map(cpu_list).unwrap_or_default();
    let mask = root.line("proc/irq/default_smp_affinity");
    let default = mask.map_or_else(|| "unknown".into(), |mask| format!("mask {mask}"));
    if quiet.is_empty() {
        return ok(format!(
            "no isolated CPUs to keep interrupts from, default {default}"
        ));
    }
    let interrupts = root.numbered("proc/irq", "");
    if interrupts.is_empty() {
        return unknown("the interrupts cannot be listed (/proc/irq)");
    }
    let mut strays = Vec::new();
    for (number, folder) in interrupts {
        let Some(handler) = handler(root, &folder) else {
            continue;
        };
        let comes_here = |cpu: &u32| quiet.contains(cpu);
        if !is_per_cpu(root, number) && target(root, &folder).iter().any(comes_here) {
            strays.push(format!("{number} ({handler})"));
        }
    }
    let isolated = isolated.unwrap_or_default();
    match strays.is_empty() {
        true => ok(format!(
            "no interrupt on the isolated CPUs {isolated}, default {default}"
        )),
        false => failed(format!(
            "on the isolated CPUs {isolated}: interrupts {} (/proc/irq), default {default}",
            first_few(&strays)
        )),
    }
}

/// Interrupts without a handler have no folder of its name.
fn handler(root: &Root, folder: &str) -> Option<String> {
    let entries = root.entries(folder).into_iter();
    let mut folders = entries.filter(|name| root.path(&format!("{folder}/{name}")).is_dir());
    folders.next()
}

/// CPUs that the interrupt is really sent to, else those it may be sent to.
fn target(root: &Root, folder: &str) -> Vec<u32> {
    let files = ["effective_affinity_list", "smp_affinity_list"];
    let lists = files
        .iter()
        .filter_map(|file| root.line(&format!("{folder}/{file}")));
    lists
        .map(|list| cpu_list(&list))
        .find(|list| !list.is_empty())
        .unwrap_or_default()
}

/// Timers and the like, of which every CPU has its own: the first 32 inputs
/// of Arm's GIC and all of RISC-V's local controller.
fn is_per_cpu(root: &Root, number: u32) -> bool {
    let read = |file| root.line(&format!("sys/kernel/irq/{number}/{file}"));
    let chip = read("chip_name").unwrap_or_default();
    let input = read("hwirq").and_then(|input| input.parse::<u32>().ok());
    chip == "RISC-V INTC" || (chip.starts_with("GIC") && input.is_some_and(|input| input < 32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;
    use rtperf_record::CheckStatus::{Failed, Ok, Unknown};

    #[test]
    fn interrupts_on_isolated_cpus_are_named() {
        let tree = Tree::new("irq");
        assert_eq!(irq_affinity(&tree.root()).0, Ok);
        tree.file("sys/devices/system/cpu/isolated", "2-3\n");
        assert_eq!(irq_affinity(&tree.root()).0, Unknown);
        // Without a handler, on a per-CPU input, and away from CPUs 2 and 3.
        tree.file("proc/irq/5/smp_affinity_list", "0-3\n");
        tree.file("proc/irq/11/smp_affinity_list", "0-3\n");
        tree.folder("proc/irq/11/arch_timer");
        tree.file("sys/kernel/irq/11/chip_name", "GICv3\n");
        tree.file("sys/kernel/irq/11/hwirq", "27\n");
        tree.file("proc/irq/40/smp_affinity_list", "0-3\n");
        tree.file("proc/irq/40/effective_affinity_list", "0\n");
        tree.folder("proc/irq/40/mmc0");
        assert_eq!(irq_affinity(&tree.root()).0, Ok);
        tree.file("proc/irq/41/smp_affinity_list", "0-3\n");
        tree.folder("proc/irq/41/eth0");
        let Finding(status, found) = irq_affinity(&tree.root());
        assert_eq!(status, Failed);
        assert!(
            found.contains("41 (eth0)") && !found.contains("mmc0"),
            "{found}"
        );
    }
}
