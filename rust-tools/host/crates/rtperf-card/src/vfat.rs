// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs in a FAT12, FAT16 or FAT32 file system.

use crate::contain::contained;
use crate::tree::{Entry, Kind, Tree, bounded};
use crate::window::{Stream, Window};
use fatfs::{FileSystem, FsOptions};
use std::io::{self, Read};

pub(crate) struct Vfat {
    fs: FileSystem<Stream>,
    capacity: u64,
}

impl Vfat {
    pub fn open(part: &Window) -> Result<Vfat, String> {
        let fs = contained(|| {
            FileSystem::new(Stream::new(part.clone()), FsOptions::new()).map_err(unreadable)
        })?;
        Ok(Vfat {
            fs,
            capacity: part.len(),
        })
    }

    /// The label in the root folder, which tools change, else the one that
    /// the file system was made with.
    pub fn label(&self) -> Result<String, String> {
        let rooted = contained(|| {
            self.fs
                .read_volume_label_from_root_dir()
                .map_err(unreadable)
        })?;
        Ok(rooted
            .unwrap_or_else(|| self.fs.volume_label())
            .trim_end()
            .to_owned())
    }
}

fn unreadable(e: io::Error) -> String {
    format!("cannot be read: {e}")
}

impl Tree for Vfat {
    fn list(&self, folder: &str) -> Result<Vec<Entry>, String> {
        contained(|| {
            let root = self.fs.root_dir();
            let dir = match folder {
                "" => root,
                _ => root.open_dir(folder).map_err(unreadable)?,
            };
            bounded(dir.iter().map(|entry| {
                let entry = entry.map_err(unreadable)?;
                Ok(Entry {
                    name: entry.file_name().into_bytes(),
                    kind: match entry.is_dir() {
                        true => Kind::Folder,
                        false => Kind::File { size: entry.len() },
                    },
                })
            }))
        })
    }

    fn open(&self, file: &str) -> Result<Box<dyn Read + '_>, String> {
        let open = || self.fs.root_dir().open_file(file).map_err(unreadable);
        Ok(Box::new(Contained(contained(open)?)))
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }
}

/// A reader of a foreign parser whose panics are errors.
struct Contained<R>(R);

impl<R: Read> Read for Contained<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        contained(|| self.0.read(buf).map_err(|e| e.to_string())).map_err(io::Error::other)
    }
}
