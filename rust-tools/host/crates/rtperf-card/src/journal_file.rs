// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Where the blocks of an ext4 journal are.

use crate::ext4_super::{Superblock, le32};
use crate::window::Window;

/// The only inode that mke2fs gives to a journal.
const JOURNAL_INODE: u32 = 8;
const EXTENTS_FLAG: u32 = 0x8_0000;
const EXTENT_MAGIC: [u8; 2] = [0x0a, 0xf3];
/// A journal is written in one go, so it has a handful of extents.
const EXTENTS_MAX: usize = 4096;
const NODES_MAX: usize = 1024;
const DEPTH_MAX: u16 = 5;

/// A stretch of the journal: its first block there, on the disk, and length.
#[derive(Debug, Clone, Copy)]
struct Extent {
    logical: u64,
    physical: u64,
    len: u64,
}

/// The journal as a row of blocks.
pub(crate) struct JournalFile {
    part: Window,
    block_size: u64,
    extents: Vec<Extent>,
}

fn damaged(what: &str) -> String {
    format!("cannot be read: its journal is damaged ({what})")
}

impl JournalFile {
    pub fn open(part: &Window, sb: &Superblock) -> Result<JournalFile, String> {
        if sb.journal_inode() != JOURNAL_INODE {
            return Err("cannot be read: its journal is on another device".into());
        }
        let inode = inode(part, sb).ok_or_else(|| damaged("its inode is out of reach"))?;
        if le32(&inode, 0x20) & EXTENTS_FLAG == 0 {
            return Err(
                "cannot be read: the power was cut and its journal is of the \
                        ext3 kind, which rtperf does not replay"
                    .into(),
            );
        }
        let mut file = JournalFile {
            part: part.clone(),
            block_size: sb.block_size(),
            extents: Vec::new(),
        };
        let mut nodes = 0;
        file.node(&inode[0x28..0x28 + 60], DEPTH_MAX, &mut nodes)?;
        Ok(file)
    }

    /// Reads one node of the extent tree, and what is below it.
    fn node(&mut self, node: &[u8], depth_max: u16, nodes: &mut usize) -> Result<(), String> {
        *nodes += 1;
        let half = |at: usize| u16::from_le_bytes([node[at], node[at + 1]]);
        let (entries, depth) = (usize::from(half(2)), half(6));
        let fits = 12 * (entries + 1) <= node.len();
        if node[..2] != EXTENT_MAGIC || !fits || depth > depth_max || *nodes > NODES_MAX {
            return Err(damaged("its extents"));
        }
        for i in 1..=entries {
            let entry = &node[12 * i..12 * (i + 1)];
            let half = |at: usize| u16::from_le_bytes([entry[at], entry[at + 1]]);
            if depth > 0 {
                let child = u64::from(half(8)) << 32 | u64::from(le32(entry, 4));
                let block = self.disk_block(child)?;
                self.node(&block, depth - 1, nodes)?;
                continue;
            }
            if self.extents.len() == EXTENTS_MAX {
                return Err(damaged("too many extents"));
            }
            self.extents.push(Extent {
                logical: le32(entry, 0).into(),
                physical: u64::from(half(6)) << 32 | u64::from(le32(entry, 8)),
                // Above 32768 the extent is allocated and not yet written.
                len: half(4).into(),
            });
        }
        Ok(())
    }

    pub fn block_size(&self) -> u64 {
        self.block_size
    }

    /// Block number on the disk of a block of the journal.
    pub fn locate(&self, block: u64) -> Result<u64, String> {
        let holds = |e: &&Extent| block >= e.logical && block - e.logical < e.len;
        let extent = self.extents.iter().find(holds);
        extent
            .map(|e| e.physical + (block - e.logical))
            .ok_or_else(|| damaged("it has holes"))
    }

    pub fn read(&self, block: u64) -> Result<Vec<u8>, String> {
        self.disk_block(self.locate(block)?)
    }

    pub fn disk_block(&self, block: u64) -> Result<Vec<u8>, String> {
        let mut buf = vec![0; self.block_size as usize];
        let at = block.checked_mul(self.block_size);
        let at = at.ok_or_else(|| damaged("it points past the end"))?;
        self.part
            .read_at(at, &mut buf)
            .map_err(|e| damaged(&e.to_string()))?;
        Ok(buf)
    }
}

/// The first 128 bytes of the journal's inode. It never changes after mke2fs,
/// so it is right whatever the journal holds.
fn inode(part: &Window, sb: &Superblock) -> Option<[u8; 128]> {
    let group = part.bytes::<64>(sb.first_group())?;
    let high = if sb.has_64bit() {
        le32(&group, 0x28)
    } else {
        0
    };
    let table = u64::from(high) << 32 | u64::from(le32(&group, 8));
    let at = table.checked_mul(sb.block_size())?;
    part.bytes(at.checked_add(u64::from(JOURNAL_INODE - 1) * sb.inode_size())?)
}
