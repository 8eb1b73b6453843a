// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which partitions a card has.

use crate::contain::contained;
use crate::mbr;
use crate::probe;
use crate::window::{Stream, Window};
use gpt::disk::LogicalBlockSize;

/// Cards and the readers they are put into use sectors of this size.
pub(crate) const SECTOR: usize = 512;

/// More entries than any tool writes; the format would allow 4 billion.
const GPT_ENTRIES_MAX: u32 = 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Partition {
    /// As the kernel counts them: /dev/mmcblk0p<number>.
    pub number: u32,
    pub start: u64,
    pub len: u64,
    /// GPT only.
    pub name: Option<String>,
}

/// How a card or image is laid out.
#[derive(Debug)]
pub(crate) enum Layout {
    Partitions(Vec<Partition>),
    /// One file system over the whole of it.
    Bare,
}

/// Finds out the layout. A stale file system below a partition table loses,
/// and a stale GPT below an MBR, as with the kernel.
pub(crate) fn layout(card: &Window) -> Result<Layout, String> {
    let Some(first) = card.bytes::<SECTOR>(0) else {
        return Err(format!(
            "is too short for a card image: {} bytes",
            card.len()
        ));
    };
    if probe::is_fat(&first) {
        return Ok(Layout::Bare);
    }
    let slots = mbr::slots(&first);
    let protective = |s: &[mbr::Slot; 4]| s.iter().any(|s| s.kind == mbr::PROTECTIVE);
    let gpt_magic = card.bytes::<8>(SECTOR as u64) == Some(*b"EFI PART");
    match slots {
        Some(slots) if protective(&slots) => gpt(card).map(Layout::Partitions),
        Some(slots) if slots.iter().any(mbr::Slot::is_used) => {
            mbr::partitions(card, &slots).map(Layout::Partitions)
        }
        _ if gpt_magic => gpt(card).map(Layout::Partitions),
        _ if probe::probe(card).is_some() => Ok(Layout::Bare),
        _ => Err("has no partition table and no file system; \
                  is it the image of a whole card, written completely?"
            .into()),
    }
}

fn gpt(card: &Window) -> Result<Vec<Partition>, String> {
    contained(|| {
        let damaged = |e: &dyn std::fmt::Display| {
            format!("has a damaged GPT partition table ({e}); repair it with sgdisk or gdisk")
        };
        let size = LogicalBlockSize::Lb512;
        let mut stream = Stream::new(card.clone());
        let header = gpt::header::read_header_from_arbitrary_device(&mut stream, size)
            .map_err(|e| damaged(&e))?;
        // The crate would trust these: it allocates and asserts by them.
        if header.part_size != 128 || header.num_parts > GPT_ENTRIES_MAX {
            return Err(damaged(&format!(
                "{} entries of {} bytes",
                header.num_parts, header.part_size
            )));
        }
        let entries = gpt::partition::file_read_partitions(&mut stream, &header, size)
            .map_err(|e| damaged(&e))?;
        let used = entries.into_iter().filter(|(_, p)| p.is_used());
        used.map(|(number, p)| {
            let part = || Some((p.bytes_start(size).ok()?, p.bytes_len(size).ok()?));
            let (start, len) =
                part().ok_or_else(|| damaged(&format!("the borders of partition {number}")))?;
            Ok(Partition {
                number,
                start,
                len,
                name: Some(p.name),
            })
        })
        .collect()
    })
}
