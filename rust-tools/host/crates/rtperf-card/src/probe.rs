// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which file system a partition has, and its label.

use crate::table::SECTOR;
use crate::vfat::Vfat;
use crate::window::Window;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FsKind {
    /// ext2, ext3 and ext4 share their superblock.
    Ext4,
    Vfat,
}

impl FsKind {
    pub fn name(self) -> &'static str {
        match self {
            FsKind::Ext4 => "ext4",
            FsKind::Vfat => "vfat",
        }
    }
}

/// The kind and label of a file system, without checking it any further.
pub(crate) fn probe(part: &Window) -> Option<(FsKind, String)> {
    if let Some(superblock) = part.bytes::<136>(1024)
        && superblock[0x38..0x3a] == [0x53, 0xef]
    {
        let label = &superblock[0x78..0x88];
        let end = label.iter().position(|b| *b == 0).unwrap_or(label.len());
        let label = String::from_utf8_lossy(&label[..end]).into_owned();
        return Some((FsKind::Ext4, label));
    }
    if is_fat(&part.bytes::<SECTOR>(0)?) {
        let label = Vfat::open(part).and_then(|fs| fs.label());
        return Some((FsKind::Vfat, label.unwrap_or_default()));
    }
    None
}

/// Whether a sector is the boot sector of a FAT file system. It has the same
/// signature as an MBR, so the name of the type and the sector size decide.
pub(crate) fn is_fat(sector: &[u8; SECTOR]) -> bool {
    let sector_size = u16::from_le_bytes([sector[11], sector[12]]);
    let named = |at: usize| sector[at..at + 3] == *b"FAT";
    sector[510..] == [0x55, 0xaa]
        && matches!(sector[0], 0xeb | 0xe9)
        && matches!(sector_size, 512 | 1024 | 2048 | 4096)
        && (named(54) || named(82))
}
