// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs in a folder: a mounted card, a copy of one, or one run.

use crate::tree::{Entry, Kind, Tree, bounded, join};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

pub(crate) struct Folder {
    root: PathBuf,
    capacity: u64,
}

impl Folder {
    pub fn open(root: &Path) -> std::io::Result<Folder> {
        let stat = rustix::fs::statvfs(root)?;
        Ok(Folder {
            root: root.to_owned(),
            capacity: stat.f_blocks.saturating_mul(stat.f_frsize),
        })
    }
}

impl Tree for Folder {
    fn list(&self, folder: &str) -> Result<Vec<Entry>, String> {
        let path = self.root.join(folder);
        let unreadable = |e: std::io::Error| format!("cannot be read: {e}");
        // A link in the path would lead out of the folder that was given.
        if !folder.is_empty() && !is_real(&self.root, folder, true) {
            return Err("is no folder of its own".into());
        }
        let entries = fs::read_dir(&path).map_err(unreadable)?;
        bounded(entries.map(|entry| {
            let entry = entry.map_err(unreadable)?;
            Ok(Entry {
                name: entry.file_name().as_bytes().to_vec(),
                kind: kind(&entry),
            })
        }))
    }

    fn open(&self, file: &str) -> Result<Box<dyn Read + '_>, String> {
        if !is_real(&self.root, file, false) {
            return Err("is no regular file".into());
        }
        let file = fs::File::open(self.root.join(file));
        Ok(Box::new(file.map_err(|e| format!("cannot be read: {e}"))?))
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }
}

fn kind(entry: &fs::DirEntry) -> Kind {
    // Of the entry itself: a link is not followed.
    let meta = match entry.metadata() {
        Ok(meta) => meta,
        Err(e) => return Kind::Unreadable(format!("cannot be read: {e}")),
    };
    let kind = meta.file_type();
    if kind.is_file() {
        Kind::File { size: meta.len() }
    } else if kind.is_dir() {
        Kind::Folder
    } else if kind.is_symlink() {
        Kind::Other("a symbolic link")
    } else if kind.is_block_device() || kind.is_char_device() {
        Kind::Other("a device")
    } else {
        Kind::Other("a pipe or socket")
    }
}

/// Whether `path` below `root` is reached without any symbolic link and ends
/// at a folder, or else at a regular file.
fn is_real(root: &Path, path: &str, folder: bool) -> bool {
    let mut at = String::new();
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        at = join(&at, part);
        let Ok(meta) = fs::symlink_metadata(root.join(&at)) else {
            return false;
        };
        let wanted = parts.peek().is_some() || folder;
        if meta.is_dir() != wanted || (!wanted && !meta.is_file()) {
            return false;
        }
    }
    true
}
