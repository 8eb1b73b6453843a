// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs in an ext2, ext3 or ext4 file system.

use crate::contain::contained;
use crate::ext4_super::{SUPERBLOCK_AT, SUPERBLOCK_LEN, Superblock};
use crate::journal::Replay;
use crate::journal_file::JournalFile;
use crate::tree::{Entry, Kind, Tree, bounded};
use crate::window::Window;
use ext4_view::{DirEntry, Ext4, Ext4Error, Ext4Read, File, FileType};
use std::error::Error;
use std::io::{self, Read};

pub(crate) struct Ext4Tree {
    fs: Ext4,
    capacity: u64,
}

/// The partition as it would be after the kernel's recovery.
struct Device {
    part: Window,
    superblock: Superblock,
    replay: Option<Replay>,
}

impl Device {
    fn open(part: &Window) -> Result<Device, String> {
        let superblock = Superblock::read(part)?;
        superblock.check(part.len())?;
        let mut device = Device {
            part: part.clone(),
            superblock,
            replay: None,
        };
        if device.superblock.needs_recovery() {
            let journal = JournalFile::open(part, &device.superblock)?;
            device.replay = Some(Replay::new(journal)?);
            let mut newest = device.superblock.0;
            device.patch(SUPERBLOCK_AT, &mut newest)?;
            device.superblock = Superblock(newest).recovered();
            device.superblock.check(part.len())?;
        }
        Ok(device)
    }

    /// Puts what the journal has over what the disk has.
    fn patch(&self, at: u64, buf: &mut [u8]) -> Result<(), String> {
        let Some(replay) = &self.replay else {
            return Ok(());
        };
        let size = replay.block_size();
        let end = at + buf.len() as u64;
        for block in at / size..end.div_ceil(size) {
            let Some(data) = replay.block(block) else {
                continue;
            };
            let (data, block_at) = (data?, block * size);
            let (from, to) = (at.max(block_at), end.min(block_at + size));
            buf[(from - at) as usize..(to - at) as usize]
                .copy_from_slice(&data[(from - block_at) as usize..(to - block_at) as usize]);
        }
        Ok(())
    }
}

impl Ext4Read for Device {
    fn read(
        &mut self,
        at: u64,
        buf: &mut [u8],
    ) -> Result<(), Box<dyn Error + Send + Sync + 'static>> {
        self.part.read_at(at, buf)?;
        self.patch(at, buf)?;
        let whole = at == SUPERBLOCK_AT && buf.len() == SUPERBLOCK_LEN;
        if whole {
            buf.copy_from_slice(&self.superblock.0);
        }
        Ok(())
    }
}

impl Ext4Tree {
    pub fn open(part: &Window) -> Result<Ext4Tree, String> {
        let fs = contained(|| {
            let device = Device::open(part)?;
            Ext4::load(Box::new(device)).map_err(unreadable)
        })?;
        Ok(Ext4Tree {
            fs,
            capacity: part.len(),
        })
    }
}

fn unreadable(e: Ext4Error) -> String {
    format!("cannot be read: {e}")
}

fn kind(entry: &DirEntry) -> Kind {
    let file_type = match entry.file_type() {
        Ok(file_type) => file_type,
        Err(e) => return Kind::Unreadable(unreadable(e)),
    };
    match file_type {
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Other("a symbolic link"),
        FileType::BlockDevice | FileType::CharacterDevice => Kind::Other("a device"),
        FileType::Regular => match entry.metadata() {
            Ok(meta) if meta.file_type().is_regular_file() => Kind::File { size: meta.len() },
            Ok(_) => Kind::Unreadable("is not what its folder says it is".into()),
            Err(e) => Kind::Unreadable(unreadable(e)),
        },
        _ => Kind::Other("a pipe or socket"),
    }
}

impl Tree for Ext4Tree {
    fn list(&self, folder: &str) -> Result<Vec<Entry>, String> {
        contained(|| {
            let entries = self
                .fs
                .read_dir(&*format!("/{folder}"))
                .map_err(unreadable)?;
            bounded(entries.map(|entry| {
                let entry = entry.map_err(unreadable)?;
                Ok(Entry {
                    name: entry.file_name().as_ref().to_vec(),
                    kind: kind(&entry),
                })
            }))
        })
    }

    fn open(&self, file: &str) -> Result<Box<dyn Read + '_>, String> {
        let open = || self.fs.open(&*format!("/{file}")).map_err(unreadable);
        Ok(Box::new(Contents(contained(open)?)))
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }
}

struct Contents(File);

impl Read for Contents {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        contained(|| self.0.read_bytes(buf).map_err(|e| e.to_string())).map_err(io::Error::other)
    }
}
