// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a CPU does besides running our task: change speed, sleep, share.

use super::{failed, first_few, ok, unknown, Finding};
use crate::root::cpu_list;
use crate::{virtualization, Root};
use std::collections::BTreeSet;

pub(super) const CPUS: &str = "sys/devices/system/cpu";

pub(super) fn governor(root: &Root) -> Finding {
    let mut policies = root.numbered(&format!("{CPUS}/cpufreq"), "policy");
    if policies.is_empty() {
        let cpus = root.numbered(CPUS, "cpu").into_iter();
        policies = cpus.map(|(n, cpu)| (n, format!("{cpu}/cpufreq"))).collect();
        policies.retain(|(_, policy)| root.exists(policy));
    }
    if policies.is_empty() {
        return match virtualization::hypervisor(root) {
            Some(_) => unknown("left to the machine below this virtual one (no cpufreq)"),
            None => ok("the kernel offers no frequency scaling (no cpufreq)"),
        };
    }
    let (mut steady, mut moving) = (BTreeSet::new(), Vec::new());
    for (number, policy) in &policies {
        let read = |file| root.line(&format!("{policy}/{file}"));
        let governor = read("scaling_governor").unwrap_or_else(|| "unreadable".to_owned());
        match (read("scaling_min_freq"), read("scaling_max_freq")) {
            _ if governor == "performance" => steady.insert(governor),
            (Some(min), Some(max)) if min == max => steady.insert(format!("fixed at {min} kHz")),
            _ => {
                moving.push(format!("{governor} on CPU {number}"));
                false
            }
        };
    }
    match moving.is_empty() {
        true => ok(format!(
            "{} (scaling_governor)",
            Vec::from_iter(steady).join(", ")
        )),
        false => failed(format!("{} (scaling_governor)", first_few(&moving))),
    }
}

pub(super) fn idle_states(root: &Root) -> Finding {
    let bound = latency_bound(root);
    let (mut seen, mut held, mut deep) = (false, false, BTreeSet::new());
    for (_, cpu) in root.numbered(CPUS, "cpu") {
        // State 0 waits for the next interrupt without switching anything off.
        for (_, state) in root.numbered(&format!("{cpu}/cpuidle"), "state") {
            seen = true;
            let latency = root.number(&format!("{state}/latency")).unwrap_or(0);
            let off = root.number(&format!("{state}/disable")).unwrap_or(0) != 0;
            if state.ends_with("state0") || off {
                continue;
            }
            if bound.is_some_and(|bound| latency > bound) {
                held = true;
                continue;
            }
            let name = root.line(&format!("{state}/name"));
            deep.insert(format!(
                "{} ({latency} us)",
                name.unwrap_or_else(|| "unnamed".into())
            ));
        }
    }
    match (seen, deep.is_empty()) {
        (false, _) => ok("the kernel offers no idle states (no cpuidle)"),
        (_, false) => failed(format!(
            "{} enabled (cpuidle)",
            first_few(&Vec::from_iter(deep))
        )),
        _ if held => ok(format!(
            "deeper states held off by a bound of {} us (/dev/cpu_dma_latency)",
            bound.unwrap_or_default()
        )),
        _ => ok("deeper states disabled (cpuidle)"),
    }
}

/// The latency that the kernel currently promises to somebody, us. Reading it
/// asks for nothing.
fn latency_bound(root: &Root) -> Option<i64> {
    let bytes = root.bytes("dev/cpu_dma_latency", 4).ok()?;
    Some(i32::from_ne_bytes(bytes.try_into().ok()?).into())
}

pub(super) fn isolated_cpus(root: &Root) -> Finding {
    let list = |file| root.text(&format!("{CPUS}/{file}"), 4096);
    let Some(isolated) = list("isolated") else {
        return unknown(format!("the kernel does not tell (/{CPUS}/isolated)"));
    };
    let without_tick = list("nohz_full").filter(|text| !cpu_list(text).is_empty());
    let without_tick = without_tick.map_or_else(|| "none".into(), |text| text.trim().to_owned());
    if cpu_list(&isolated).is_empty() {
        return failed(format!(
            "none, nohz_full {without_tick} (isolated, nohz_full)"
        ));
    }
    ok(format!(
        "{}, nohz_full {without_tick} (isolated, nohz_full)",
        isolated.trim()
    ))
}

pub(super) fn smt(root: &Root) -> Finding {
    let (mut seen, mut shared) = (false, BTreeSet::new());
    for (_, cpu) in root.numbered(CPUS, "cpu") {
        let siblings = root.line(&format!("{cpu}/topology/thread_siblings_list"));
        if let Some(siblings) = siblings {
            seen = true;
            if cpu_list(&siblings).len() > 1 {
                shared.insert(siblings);
            }
        }
    }
    let shared = Vec::from_iter(shared);
    match (seen, shared.is_empty()) {
        (false, _) => unknown("the kernel does not tell (thread_siblings_list)"),
        (_, true) => ok("no CPU shares its core (thread_siblings_list)"),
        _ => failed(format!(
            "CPUs that share a core: {} (thread_siblings_list)",
            shared
                .iter()
                .take(6)
                .cloned()
                .collect::<Vec<_>>()
                .join("; ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;
    use rtperf_record::CheckStatus::{Failed, Ok, Unknown};

    #[test]
    fn governors() {
        let tree = Tree::new("governor");
        assert_eq!(governor(&tree.root()).0, Ok);
        tree.file("sys/hypervisor/type", "xen\n");
        assert_eq!(governor(&tree.root()).0, Unknown);
        let policy = format!("{CPUS}/cpufreq/policy0");
        tree.file(&format!("{policy}/scaling_governor"), "performance\n");
        assert_eq!(governor(&tree.root()).0, Ok);
        tree.file(
            &format!("{CPUS}/cpufreq/policy4/scaling_governor"),
            "schedutil\n",
        );
        let Finding(status, found) = governor(&tree.root());
        assert_eq!(
            (status, found.as_str()),
            (Failed, "schedutil on CPU 4 (scaling_governor)")
        );
        for file in ["scaling_min_freq", "scaling_max_freq"] {
            tree.file(&format!("{CPUS}/cpufreq/policy4/{file}"), "1800000\n");
        }
        assert_eq!(governor(&tree.root()).0, Ok);
    }

    #[test]
    fn idle_states_count_unless_disabled_or_held_off() {
        let tree = Tree::new("idle");
        assert_eq!(idle_states(&tree.root()).0, Ok);
        let state = |n: u32| format!("{CPUS}/cpu0/cpuidle/state{n}");
        for (n, name, latency) in [(0, "WFI", "1"), (1, "cpu-sleep", "700")] {
            tree.file(&format!("{}/name", state(n)), name);
            tree.file(&format!("{}/latency", state(n)), latency);
            tree.file(&format!("{}/disable", state(n)), "0\n");
        }
        let Finding(status, found) = idle_states(&tree.root());
        assert_eq!(
            (status, found.as_str()),
            (Failed, "cpu-sleep (700 us) enabled (cpuidle)")
        );
        tree.file("dev/cpu_dma_latency", 0i32.to_ne_bytes());
        assert_eq!(idle_states(&tree.root()).0, Ok);
        tree.file("dev/cpu_dma_latency", 2_000_000_000i32.to_ne_bytes());
        assert_eq!(idle_states(&tree.root()).0, Failed);
        tree.file(&format!("{}/disable", state(1)), "1\n");
        assert_eq!(idle_states(&tree.root()).0, Ok);
    }

    #[test]
    fn isolation_and_siblings() {
        let tree = Tree::new("isolated");
        assert_eq!(isolated_cpus(&tree.root()).0, Unknown);
        assert_eq!(smt(&tree.root()).0, Unknown);
        tree.file(&format!("{CPUS}/isolated"), "\n");
        assert_eq!(isolated_cpus(&tree.root()).0, Failed);
        tree.file(&format!("{CPUS}/isolated"), "2-3\n");
        tree.file(&format!("{CPUS}/nohz_full"), " (null)\n");
        let Finding(status, found) = isolated_cpus(&tree.root());
        assert_eq!(status, Ok);
        assert!(found.starts_with("2-3, nohz_full none"), "{found}");
        tree.file(&format!("{CPUS}/cpu0/topology/thread_siblings_list"), "0\n");
        assert_eq!(smt(&tree.root()).0, Ok);
        tree.file(
            &format!("{CPUS}/cpu1/topology/thread_siblings_list"),
            "1,3\n",
        );
        assert!(smt(&tree.root()).1.contains("1,3"));
    }
}
