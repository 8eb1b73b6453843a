// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whether something emulates this machine or shares it with others.

use crate::Root;

/// Signs of a machine under a hypervisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hypervisor {
    pub name: String,
    /// The file or instruction that gave it away.
    pub source: &'static str,
}

/// DMI vendors that make virtual machines only, and how they are known.
const DMI_VENDORS: [(&str, &str); 8] = [
    ("QEMU", "QEMU"),
    ("Bochs", "QEMU"),
    ("VMware", "VMware"),
    ("innotek", "VirtualBox"),
    ("Xen", "Xen"),
    ("Parallels", "Parallels"),
    ("BHYVE", "bhyve"),
    ("Apple Virtualization", "Apple Virtualization"),
];

const DMI_FILES: [&str; 3] = [
    "sys/class/dmi/id/sys_vendor",
    "sys/class/dmi/id/product_name",
    "sys/class/dmi/id/bios_vendor",
];

/// Device trees of QEMU's generic machines.
const VIRTUAL_MACHINES: [&str; 2] = ["linux,dummy-virt", "riscv-virtio"];

/// The virtual board is QEMU that emulates; a guest of KVM is not one.
pub(crate) fn is_virtual_board(root: &Root, command_line: &str) -> bool {
    let says_so = |word| word == "rtperf.board=virtual";
    command_line.split_whitespace().any(says_so)
        || device_tree_machine(root).is_some()
        || cpu_signature(root).is_some_and(|signature| signature == TCG)
        || cpuinfo(root).contains("QEMU TCG CPU")
}

/// The hypervisor this machine runs under, by the first sign found.
pub(crate) fn hypervisor(root: &Root) -> Option<Hypervisor> {
    let found = |name: &str, source| {
        Some(Hypervisor {
            name: name.to_owned(),
            source,
        })
    };
    if let Some(kind) = root.line("sys/hypervisor/type") {
        return found(&kind, "/sys/hypervisor/type");
    }
    if let Some(signature) = cpu_signature(root) {
        return found(known_signature(&signature), "CPUID");
    }
    if let Some(machine) = device_tree_machine(root) {
        return found(machine, "/proc/device-tree/compatible");
    }
    if let Some(kind) = root.line("proc/device-tree/hypervisor/compatible") {
        return found(&kind, "/proc/device-tree/hypervisor");
    }
    if let Some(name) = dmi_vendor(root) {
        return found(name, "/sys/class/dmi/id");
    }
    let flagged = |line: &str| {
        line.starts_with("flags") && line.split_whitespace().any(|flag| flag == "hypervisor")
    };
    if cpuinfo(root).lines().any(flagged) {
        return found("a hypervisor that gives no name", "/proc/cpuinfo");
    }
    if root.exists("sys/firmware/qemu_fw_cfg") {
        return found("QEMU", "/sys/firmware/qemu_fw_cfg");
    }
    None
}

fn device_tree_machine(root: &Root) -> Option<&'static str> {
    let compatible = root.text("proc/device-tree/compatible", 4096)?;
    let mut words = compatible.split('\0');
    words.find_map(|word| {
        VIRTUAL_MACHINES
            .into_iter()
            .find(|machine| *machine == word)
    })
}

fn dmi_vendor(root: &Root) -> Option<&'static str> {
    let lines: Vec<String> = DMI_FILES
        .iter()
        .filter_map(|file| root.line(file))
        .collect();
    let known = |(sign, name): (&str, &'static str)| {
        lines.iter().any(|line| line.contains(sign)).then_some(name)
    };
    DMI_VENDORS.into_iter().find_map(known)
}

/// The first CPU is enough: hypervisors do not differ between them.
fn cpuinfo(root: &Root) -> String {
    root.text("proc/cpuinfo", 16 * 1024).unwrap_or_default()
}

const TCG: &str = "TCGTCGTCGTCG";

fn known_signature(signature: &str) -> &str {
    match signature {
        TCG => "QEMU TCG",
        "KVMKVMKVM" => "KVM",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "" => "a hypervisor that gives no name",
        other => other,
    }
}

/// What the hypervisor calls itself to the CPU's own instruction, which
/// speaks of this machine only and not of a copied tree.
fn cpu_signature(root: &Root) -> Option<String> {
    root.is_machine().then(cpuid_signature).flatten()
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
#[allow(unused_unsafe)] // older compilers have it as an unsafe function
fn cpuid_signature() -> Option<String> {
    #[cfg(target_arch = "x86")]
    use std::arch::x86::__cpuid;
    #[cfg(target_arch = "x86_64")]
    use std::arch::x86_64::__cpuid;
    // SAFETY: every x86 CPU that runs this program has the instruction; leaf
    // 0x40000000 is there when bit 31 of leaf 1's ECX tells of a hypervisor.
    let leaf = unsafe {
        if __cpuid(1).ecx >> 31 == 0 {
            return None;
        }
        __cpuid(0x4000_0000)
    };
    let bytes = [leaf.ebx, leaf.ecx, leaf.edx]
        .map(u32::to_le_bytes)
        .concat();
    let text = String::from_utf8_lossy(&bytes);
    Some(text.chars().filter(|c| !c.is_control()).collect())
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86")))]
fn cpuid_signature() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    #[test]
    fn a_plain_board_has_no_hypervisor() {
        let tree = Tree::new("virt-none");
        tree.file(
            "proc/device-tree/compatible",
            "raspberrypi,4-model-b\0brcm,bcm2711\0",
        );
        tree.file("proc/cpuinfo", "Features : fp asimd\n");
        assert_eq!(hypervisor(&tree.root()), None);
        assert!(!is_virtual_board(
            &tree.root(),
            "quiet rtperf.board=virtually"
        ));
    }

    #[test]
    fn the_virtual_board_is_known_by_command_line_or_device_tree() {
        let tree = Tree::new("virt-qemu");
        assert!(is_virtual_board(&tree.root(), "quiet rtperf.board=virtual"));
        tree.file("proc/device-tree/compatible", "linux,dummy-virt\0");
        assert!(is_virtual_board(&tree.root(), ""));
        let found = hypervisor(&tree.root()).unwrap();
        assert_eq!(found.name, "linux,dummy-virt");
    }

    #[test]
    fn a_guest_of_kvm_has_a_hypervisor_but_is_no_virtual_board() {
        let tree = Tree::new("virt-kvm");
        tree.file(
            "proc/cpuinfo",
            "model name : Xeon\nflags\t\t: fpu hypervisor tsc\n",
        );
        assert!(!is_virtual_board(&tree.root(), ""));
        assert_eq!(hypervisor(&tree.root()).unwrap().source, "/proc/cpuinfo");
        tree.file("sys/class/dmi/id/sys_vendor", "QEMU\n");
        assert_eq!(hypervisor(&tree.root()).unwrap().name, "QEMU");
        assert!(!is_virtual_board(&tree.root(), ""));
    }

    #[test]
    fn emulated_x86_is_a_virtual_board() {
        let tree = Tree::new("virt-tcg");
        tree.file("proc/cpuinfo", "model name : QEMU TCG CPU version 2.5+\n");
        assert!(is_virtual_board(&tree.root(), ""));
    }
}
