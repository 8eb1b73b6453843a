// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The ext4 superblock: numbers of it decide how much memory and time the
//! parser takes. It trusts them, so they are held against the partition first.

use crate::window::Window;
use crc::{CRC_32_ISCSI, Crc};

pub(crate) const SUPERBLOCK_AT: u64 = 1024;
pub(crate) const SUPERBLOCK_LEN: usize = 1024;

/// mke2fs writes no smaller group.
const BLOCKS_PER_GROUP_MIN: u32 = 256;

const INCOMPATIBLE: usize = 0x60;
const NEEDS_RECOVERY: u8 = 4;
const HAS_64BIT: u32 = 0x80;
const READ_ONLY: usize = 0x64;
const METADATA_CHECKSUMS: u32 = 0x400;
const CHECKSUM: usize = 0x3fc;

const CRC32C: Crc<u32> = Crc::<u32>::new(&CRC_32_ISCSI);

/// CRC-32C as ext4 and its journal store it: not inverted at the end.
pub(crate) fn crc32c(parts: &[&[u8]]) -> u32 {
    let mut digest = CRC32C.digest();
    parts.iter().for_each(|part| digest.update(part));
    !digest.finalize()
}

/// A little-endian number of a structure on the card.
pub(crate) fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(crate) struct Superblock(pub [u8; SUPERBLOCK_LEN]);

impl Superblock {
    pub fn read(part: &Window) -> Result<Superblock, String> {
        let bytes = part.bytes(SUPERBLOCK_AT);
        Ok(Superblock(
            bytes.ok_or("cannot be read: it is too short for ext4")?,
        ))
    }

    /// Whether the numbers are possible in a partition of `len` bytes.
    pub fn check(&self, len: u64) -> Result<(), String> {
        let inode_size = self.inode_size();
        if le32(&self.0, 0x18) > 6 || le32(&self.0, 0x20) < BLOCKS_PER_GROUP_MIN || inode_size < 128
        {
            return Err("cannot be read: its superblock is damaged".into());
        }
        let high = if self.has_64bit() {
            le32(&self.0, 0x150)
        } else {
            0
        };
        let blocks = u64::from(high) << 32 | u64::from(le32(&self.0, 4));
        let size = blocks.saturating_mul(self.block_size());
        if size > len {
            return Err(format!(
                "is larger than its partition: {size} bytes in {len}; copy the whole card again"
            ));
        }
        Ok(())
    }

    /// Only of a checked superblock.
    pub fn block_size(&self) -> u64 {
        1024 << le32(&self.0, 0x18).min(6)
    }

    pub fn inode_size(&self) -> u64 {
        u64::from(u16::from_le_bytes([self.0[0x58], self.0[0x59]]))
    }

    pub fn has_64bit(&self) -> bool {
        le32(&self.0, INCOMPATIBLE) & HAS_64BIT != 0
    }

    pub fn needs_recovery(&self) -> bool {
        self.0[INCOMPATIBLE] & NEEDS_RECOVERY != 0
    }

    /// Byte at which block group 0 is described.
    pub fn first_group(&self) -> u64 {
        (u64::from(le32(&self.0, 0x14)) + 1) * self.block_size()
    }

    pub fn journal_inode(&self) -> u32 {
        le32(&self.0, 0xe0)
    }

    /// The superblock of a file system whose journal has been replayed.
    pub fn recovered(mut self) -> Superblock {
        self.0[INCOMPATIBLE] &= !NEEDS_RECOVERY;
        if le32(&self.0, READ_ONLY) & METADATA_CHECKSUMS != 0 {
            let sum = crc32c(&[&self.0[..CHECKSUM]]);
            self.0[CHECKSUM..].copy_from_slice(&sum.to_le_bytes());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc_is_the_uninverted_one() {
        // RFC 3720, B.4: 32 bytes of zeros give 8a9136aa.
        assert_eq!(crc32c(&[&[0; 16], &[0; 16]]), !0x8a91_36aa);
    }
}
