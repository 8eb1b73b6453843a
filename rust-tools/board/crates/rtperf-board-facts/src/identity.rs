// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What the board is, without trusting its wall clock.

mod notes;
mod os_release;

use crate::durable::hex;
use crate::root::cpu_list;
use crate::{virtualization, Root};
use rtperf_record::Identity;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Most of `/etc/buildinfo` and `os-release` that goes into a run.
const TEXT_CAP: u64 = 64 * 1024;

/// Largest device tree that is hashed; real ones have some 100 KB.
const DEVICE_TREE_CAP: u64 = 4 << 20;

/// Longest command line of any architecture is 4 KiB.
const COMMAND_LINE_CAP: u64 = 16 * 1024;

const MODULES_CAP: u64 = 8 << 20;

/// Serial numbers that firmware vendors forgot to fill in.
const PLACEHOLDERS: [&str; 6] = [
    "none",
    "not specified",
    "default string",
    "to be filled by o.e.m.",
    "system serial number",
    "0",
];

/// Reads everything. What the board does not tell stays empty.
pub fn read(root: &Root) -> Identity {
    let os_release = os_release(root);
    let kernel_command_line = one_line(root.text("proc/cmdline", COMMAND_LINE_CAP));
    Identity {
        image: image_word(&os_release),
        virtual_board: virtualization::is_virtual_board(root, &kernel_command_line),
        model: model(root),
        serial: serial(root),
        architecture: architecture(),
        cpus: cpus_online(root),
        boot_id: root.line("proc/sys/kernel/random/boot_id"),
        machine_id: root.line("etc/machine-id"),
        os_release,
        buildinfo: ["etc/buildinfo", "etc/build"]
            .iter()
            .find_map(|f| root.text(f, TEXT_CAP)),
        kernel_release: root.line("proc/sys/kernel/osrelease").unwrap_or_default(),
        kernel_version: root.line("proc/sys/kernel/version").unwrap_or_default(),
        kernel_build_id: root
            .bytes("sys/kernel/notes", TEXT_CAP)
            .ok()
            .and_then(|bytes| notes::build_id(&bytes).map(hex)),
        kernel_command_line,
        device_tree_sha256: device_tree_sha256(root),
    }
}

/// Whether the image carries what the layer adds to it or to its kernel.
pub fn instrumented(root: &Root, kernel_release: &str) -> bool {
    if root.exists("usr/lib/rtperf/instrumented") {
        return true;
    }
    if kernel_release.is_empty() || kernel_release.contains('/') {
        return false;
    }
    let folder = format!("lib/modules/{kernel_release}");
    let added = |text: &str| {
        let name = text.replace('_', "-");
        name.contains("rtperf-daq") || name.contains("lttng-tracer")
    };
    let index = root.text(&format!("{folder}/modules.dep"), MODULES_CAP);
    if index.is_some_and(|index| index.lines().any(added)) {
        return true;
    }
    // modules.dep may be older than a module that was copied in by hand.
    ["extra", "updates"].iter().any(|sub| {
        let names = root.entries(&format!("{folder}/{sub}"));
        names.iter().any(|name| added(name))
    })
}

fn os_release(root: &Root) -> BTreeMap<String, String> {
    let files = ["etc/os-release", "usr/lib/os-release"];
    let text = files.iter().find_map(|file| root.text(file, TEXT_CAP));
    os_release::parse(&text.unwrap_or_default())
}

/// Name and version of the image as one word for file names: what the image
/// calls itself, else distribution and version.
fn image_word(os: &BTreeMap<String, String>) -> String {
    let named = |keys: &[&str]| {
        let words = keys.iter().filter_map(|key| os.get(*key));
        let words: Vec<&str> = words
            .map(|w| w.as_str())
            .filter(|w| !w.is_empty())
            .collect();
        words.join("-")
    };
    let keys: &[&str] = match os.get("IMAGE_ID") {
        Some(id) if !id.is_empty() => &["IMAGE_ID", "IMAGE_VERSION"],
        _ => &["ID", "VERSION_ID", "BUILD_ID"],
    };
    let word = word(&named(keys));
    if word.is_empty() {
        "unknown".to_owned()
    } else {
        word
    }
}

/// At most 64 characters of `[a-zA-Z0-9._-]`, not starting with `.` or `-`.
pub(crate) fn word(text: &str) -> String {
    let plain = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' => c,
        _ => '_',
    };
    let text: String = text.chars().map(plain).collect();
    text.trim_start_matches(['.', '-'])
        .chars()
        .take(64)
        .collect()
}

fn model(root: &Root) -> Option<String> {
    let dmi = || {
        let product = root.line("sys/class/dmi/id/product_name")?;
        let vendor = root.line("sys/class/dmi/id/sys_vendor");
        Some(vendor.map_or(product.clone(), |vendor| format!("{vendor} {product}")))
    };
    root.line("proc/device-tree/model")
        .or_else(dmi)
        .or_else(|| root.line("sys/devices/soc0/machine"))
        .or_else(|| root.line("proc/device-tree/compatible"))
}

fn serial(root: &Root) -> Option<String> {
    let files = [
        "proc/device-tree/serial-number",
        "sys/devices/soc0/serial_number",
        "sys/class/dmi/id/product_serial",
    ];
    let real = |line: &String| !PLACEHOLDERS.contains(&line.to_lowercase().as_str());
    files.iter().filter_map(|file| root.line(file)).find(real)
}

fn architecture() -> String {
    let machine = nix::sys::utsname::uname().ok();
    let machine = machine.map(|u| u.machine().to_string_lossy().into_owned());
    machine.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

fn cpus_online(root: &Root) -> u32 {
    let online = root.line("sys/devices/system/cpu/online");
    online.map_or(0, |list| cpu_list(&list).len() as u32)
}

fn device_tree_sha256(root: &Root) -> Option<String> {
    let tree = root.bytes("sys/firmware/fdt", DEVICE_TREE_CAP + 1).ok()?;
    let whole = !tree.is_empty() && tree.len() as u64 <= DEVICE_TREE_CAP;
    whole.then(|| hex(&Sha256::digest(&tree)))
}

fn one_line(text: Option<String>) -> String {
    let text = text.unwrap_or_default();
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    fn board(name: &str) -> Tree {
        let tree = Tree::new(name);
        tree.file("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\0");
        tree.file("proc/device-tree/serial-number", "10000000abcdef01\0");
        tree.file("proc/cmdline", "console=ttyAMA0\tquiet\n");
        tree.file("proc/sys/kernel/osrelease", "6.12.117-rt\n");
        tree.file("proc/sys/kernel/version", "#1 SMP PREEMPT_RT\n");
        tree.file(
            "proc/sys/kernel/random/boot_id",
            "0123abcd-0000-4000-8000-000000000000\n",
        );
        tree.file("sys/devices/system/cpu/online", "0-3\n");
        tree.file("sys/firmware/fdt", "abc");
        tree.file(
            "etc/os-release",
            "ID=poky\nVERSION_ID=\"5.0\"\nIMAGE_ID=my image\n",
        );
        tree.file("etc/build", "layer = main:1234\n");
        tree
    }

    #[test]
    fn a_board_is_read_from_its_files() {
        let tree = board("identity");
        let identity = read(&tree.root());
        assert_eq!(identity.image, "my_image");
        assert_eq!(
            identity.model.as_deref(),
            Some("Raspberry Pi 4 Model B Rev 1.4")
        );
        assert_eq!(identity.serial.as_deref(), Some("10000000abcdef01"));
        assert_eq!(identity.cpus, 4);
        assert_eq!(identity.kernel_command_line, "console=ttyAMA0 quiet");
        assert_eq!(identity.buildinfo.as_deref(), Some("layer = main:1234\n"));
        assert!(identity.device_tree_sha256.unwrap().starts_with("ba7816bf"));
        assert!(!identity.virtual_board);
    }

    #[test]
    fn an_empty_board_is_an_empty_identity() {
        let tree = Tree::new("identity-empty");
        let identity = read(&tree.root());
        assert_eq!(identity.image, "unknown");
        assert_eq!(
            (identity.cpus, identity.model, identity.boot_id),
            (0, None, None)
        );
    }

    #[test]
    fn the_image_word_is_safe_in_file_names() {
        let os = |pairs: &[(&str, &str)]| {
            image_word(
                &pairs
                    .iter()
                    .map(|(k, v)| (k.to_string(), v.to_string()))
                    .collect(),
            )
        };
        assert_eq!(os(&[("ID", "poky"), ("VERSION_ID", "5.0.1")]), "poky-5.0.1");
        assert_eq!(
            os(&[("ID", "a"), ("VERSION_ID", "1"), ("BUILD_ID", "2")]),
            "a-1-2"
        );
        assert_eq!(
            os(&[("IMAGE_ID", "bsp"), ("IMAGE_VERSION", "7"), ("ID", "x")]),
            "bsp-7"
        );
        assert_eq!(os(&[("IMAGE_ID", "../../etc"), ("ID", "x")]), "_.._etc");
        assert_eq!(os(&[("ID", &"é".repeat(500))]).len(), 64);
    }

    #[test]
    fn placeholders_are_no_serial_numbers() {
        let tree = Tree::new("identity-serial");
        tree.file(
            "sys/class/dmi/id/product_serial",
            "To Be Filled By O.E.M.\n",
        );
        assert_eq!(serial(&tree.root()), None);
    }

    #[test]
    fn instrumented_by_marker_index_or_module() {
        let tree = Tree::new("instrumented");
        let root = tree.root();
        tree.file("lib/modules/6.12/modules.dep", "kernel/fs/ext4/ext4.ko:\n");
        assert!(!instrumented(&root, "6.12"));
        assert!(!instrumented(&root, "../6.12"));
        tree.file("lib/modules/6.12/extra/rtperf_daq.ko.xz", "");
        assert!(instrumented(&root, "6.12"));
        tree.file(
            "lib/modules/6.13/modules.dep",
            "updates/lttng-tracer.ko: a.ko\n",
        );
        assert!(instrumented(&root, "6.13"));
        tree.file("usr/lib/rtperf/instrumented", "");
        assert!(instrumented(&root, "5.4"));
    }
}
