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
}

/// Devices that are no cards, and that may be slow or harmed by reading.
const NOT_CARDS: [&str; 4] = ["ram", "zram", "mtdblock", "fd"];

/// Every device so labelled, by its file system or in a GPT.
pub(super) fn labelled(root: &Root) -> Vec<Partition> {
    let names = root.entries("sys/class/block").into_iter();
    names
        .filter_map(|name| labelled_device(root, name))
        .collect()
}

fn labelled_device(root: &Root, name: String) -> Option<Partition> {
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
    let device = (major.parse().ok()?, minor.parse().ok()?);
    let uevent = root
        .text(&format!("{folder}/uevent"), 4096)
        .unwrap_or_default();
    let in_gpt = uevent
        .lines()
        .any(|line| line.strip_prefix("PARTNAME=") == Some(RESULTS_LABEL));
    match File::open(root.path(&format!("dev/{name}"))) {
        Ok(file) => {
            let found = file_system(&|offset, length| {
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, offset).ok()?;
                Some(bytes)
            });
            let kind = found.as_ref().map(|fs| fs.kind);
            let label = found.and_then(|fs| fs.label);
            let ours = in_gpt || label.as_deref() == Some(RESULTS_LABEL);
            ours.then_some(Partition { name, device, kind })
        }
        // Not root: udev has read the label for us, where there is udev.
        Err(_) => {
            let by_label = root.path(&format!("dev/disk/by-label/{RESULTS_LABEL}"));
            let target = std::fs::read_link(by_label).ok();
            let ours = in_gpt || target.is_some_and(|t| t.ends_with(&name));
            ours.then_some(Partition {
                name,
                device,
                kind: None,
            })
        }
    }
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
            Errno::EPERM | Errno::EACCES => "run as root, or mount it first",
            Errno::ENODEV => "this kernel lacks its driver; use ext4 or give a folder with --out",
            Errno::EROFS => "the card is write-protected; slide its lock",
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
