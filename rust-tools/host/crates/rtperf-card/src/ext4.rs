// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs in an ext2, ext3 or ext4 file system.

use crate::contain::contained;
use crate::ext4_limits;
use crate::tree::{Entry, Kind, Tree, bounded};
use crate::window::Window;
use ext4_view::{DirEntry, Ext4, Ext4Error, Ext4Read, File, FileType};
use std::error::Error;
use std::io::{self, Read};

pub(crate) struct Ext4Tree {
    fs: Ext4,
    capacity: u64,
}

struct Device(Window);

impl Ext4Read for Device {
    fn read(
        &mut self,
        at: u64,
        buf: &mut [u8],
    ) -> Result<(), Box<dyn Error + Send + Sync + 'static>> {
        Ok(self.0.read_at(at, buf)?)
    }
}

impl Ext4Tree {
    pub fn open(part: &Window) -> Result<Ext4Tree, String> {
        ext4_limits::check(part)?;
        let fs = contained(|| Ext4::load(Box::new(Device(part.clone()))).map_err(unreadable))?;
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
