// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Numbers of an ext4 superblock that decide how much memory and time the
//! parser takes. It trusts them, so they are held against the partition first.

use crate::window::Window;

/// mke2fs writes no smaller group.
const BLOCKS_PER_GROUP_MIN: u32 = 256;

/// A little-endian number of a structure on the card.
pub(crate) fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// What of the superblock the checks need.
#[derive(Debug, Clone, Copy)]
#[allow(dead_code)]
pub(crate) struct Geometry {
    pub block_size: u64,
    pub blocks: u64,
    /// Byte at which the table of group 0 is described.
    pub first_group: u64,
    pub inode_size: u64,
    pub has_64bit: bool,
    pub needs_recovery: bool,
}

pub(crate) fn geometry(part: &Window) -> Result<Geometry, String> {
    let sb = part.bytes::<1024>(1024).ok_or("is too short for ext4")?;
    let log = le32(&sb, 0x18);
    if log > 6 {
        return Err("cannot be read: its block size is out of range".into());
    }
    let block_size = 1024u64 << log;
    let incompatible = le32(&sb, 0x60);
    let has_64bit = incompatible & 0x80 != 0;
    let high = if has_64bit { le32(&sb, 0x150) } else { 0 };
    let geometry = Geometry {
        block_size,
        blocks: u64::from(high) << 32 | u64::from(le32(&sb, 4)),
        first_group: (u64::from(le32(&sb, 0x14)) + 1) * block_size,
        inode_size: u64::from(u16::from_le_bytes([sb[0x58], sb[0x59]])),
        has_64bit,
        needs_recovery: incompatible & 4 != 0,
    };
    if le32(&sb, 0x20) < BLOCKS_PER_GROUP_MIN || geometry.inode_size < 128 {
        return Err("cannot be read: its superblock is damaged".into());
    }
    Ok(geometry)
}

/// Whether the file system fits its partition and its journal fits it.
pub(crate) fn check(part: &Window) -> Result<(), String> {
    let geometry = geometry(part)?;
    let size = geometry.blocks.saturating_mul(geometry.block_size);
    if size > part.len() {
        return Err(format!(
            "is larger than its partition: {size} bytes in {}; copy the whole card again",
            part.len()
        ));
    }
    Ok(())
}
