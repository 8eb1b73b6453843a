// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Block devices that carry the label of results.

use super::label::{file_system, Kind};
use crate::{FactsError, Root};
use nix::errno::Errno;
use nix::mount::{mount, MsFlags};
use rtperf_record::RESULTS_LABEL;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Partition {
    /// As in `/dev` and `/sys/class/block`.
    pub name: String,
    /// Major and minor number.
    pub device: (u32, u32),
    /// `None` where the label is the partition table's and the content is
    /// neither ext nor FAT.
    kind: Option<Kind>,
    write_protected: bool,
}

/// Devices that are no cards, and that may be slow or harmed by reading.
const NOT_CARDS: [&str; 4] = ["ram", "zram", "mtdblock", "fd"];

/// What a look at all devices has brought.
#[derive(Debug, Default)]
pub(super) struct Labelled {
    pub found: Vec<Partition>,
    /// A device whose label we may not read.
    pub unreadable: Option<String>,
}

/// Every device so labelled, by its file system or in a GPT.
pub(super) fn labelled(root: &Root) -> Labelled {
    let names = root.entries("sys/class/block");
    let mut all = Labelled::default();
    for partition in names.iter().filter_map(|name| candidate(root, name)) {
        match with_label(root, partition) {
            Ok(partition) => all.found.extend(partition),
            Err(name) => all.unreadable = Some(name),
        }
    }
    all
}

/// A device that could be the one, from what the kernel says of it.
fn candidate(root: &Root, name: &str) -> Option<Partition> {
    let folder = format!("sys/class/block/{name}");
    let number = |file| root.number(&format!("{folder}/{file}"));
    if NOT_CARDS.iter().any(|kind| name.starts_with(kind)) || number("size")? == 0 {
        return None;
    }
    // Below a mapped device or a RAID; that one is looked at by its own name.
    if !root.entries(&format!("{folder}/holders")).is_empty() || has_partitions(root, &folder) {
        return None;
    }
    let device = root.line(&format!("{folder}/dev"))?;
    let (major, minor) = device.split_once(':')?;
    Some(Partition {
        name: name.to_owned(),
        device: (major.parse().ok()?, minor.parse().ok()?),
        kind: None,
        write_protected: number("ro") == Some(1),
    })
}

/// The device if it is labelled; its name if nobody can tell us.
fn with_label(root: &Root, mut partition: Partition) -> Result<Option<Partition>, String> {
    let name = &partition.name;
    let uevent = root.text(&format!("sys/class/block/{name}/uevent"), 4096);
    let in_gpt = |line: &str| line.strip_prefix("PARTNAME=") == Some(RESULTS_LABEL);
    let in_gpt = uevent.is_some_and(|uevent| uevent.lines().any(in_gpt));
    let label = match File::open(root.path(&format!("dev/{name}"))) {
        Ok(file) => {
            let found = file_system(&|offset, length| {
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, offset).ok()?;
                Some(bytes)
            });
            partition.kind = found.as_ref().map(|fs| fs.kind);
            found.and_then(|fs| fs.label)
        }
        Err(e) if e.raw_os_error() == Some(Errno::EACCES as i32) && !in_gpt => {
            let ours = labelled_by_udev(root, name).ok_or_else(|| name.clone())?;
            ours.then(|| RESULTS_LABEL.to_owned())
        }
        // No medium in the drive, or a container that hides it.
        Err(_) => None,
    };
    let ours = in_gpt || label.as_deref() == Some(RESULTS_LABEL);
    Ok(ours.then_some(partition))
}

/// udev, where there is one, has read the labels for those who may not.
fn labelled_by_udev(root: &Root, name: &str) -> Option<bool> {
    if !root.exists("dev/disk") {
        return None;
    }
    let target = std::fs::read_link(root.path(&format!("dev/disk/by-label/{RESULTS_LABEL}")));
    Some(target.is_ok_and(|target| target.ends_with(name)))
}

fn has_partitions(root: &Root, folder: &str) -> bool {
    let names = root.entries(folder);
    names
        .iter()
        .any(|name| root.exists(&format!("{folder}/{name}/partition")))
}

impl Partition {
    /// Mounts it without anything that a card could harm the board with.
    pub(super) fn mount(&self, root: &Root, target: &Path) -> Result<(), FactsError> {
        let device = root.path(&format!("dev/{}", self.name));
        let kinds: &[&str] = match self.kind {
            Some(Kind::Ext) => &["ext4", "ext2"],
            Some(Kind::Fat) => &["vfat"],
            None => &["ext4", "vfat"],
        };
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        let mut fault = Errno::ENODEV;
        for kind in kinds {
            match mount(Some(&device), target, Some(*kind), flags, None::<&str>) {
                Ok(()) => return Ok(()),
                // The first driver is the right one; a later one only says
                // that it is not there.
                Err(e) if fault == Errno::ENODEV => fault = e,
                Err(_) => {}
            }
        }
        let remedy = match fault {
            _ if self.write_protected => "it is write-protected; slide the card's lock",
            Errno::EPERM | Errno::EACCES => "run as root, or mount it first",
            Errno::ENODEV => "this kernel lacks its driver; use ext4 or give a folder with --out",
            _ => "check it with fsck, or format it as ext4 with this label",
        };
        Err(FactsError(format!(
            "/dev/{}, labelled {RESULTS_LABEL}, cannot be mounted as {}: {}; {remedy}",
            self.name,
            kinds.join(" or "),
            fault.desc()
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    #[test]
    fn udev_tells_users_what_they_may_not_read() {
        let tree = Tree::new("udev");
        let root = tree.root();
        assert_eq!(labelled_by_udev(&root, "mmcblk0p2"), None);
        tree.folder("dev/disk/by-label");
        assert_eq!(labelled_by_udev(&root, "mmcblk0p2"), Some(false));
        let link = tree.path().join("dev/disk/by-label/RTPERF");
        std::os::unix::fs::symlink("../../mmcblk0p2", link).unwrap();
        assert_eq!(labelled_by_udev(&root, "mmcblk0p2"), Some(true));
        assert_eq!(labelled_by_udev(&root, "p2"), Some(false));
    }
}
