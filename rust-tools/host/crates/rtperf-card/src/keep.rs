// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The folder that takes collected runs. A run appears in it whole or not at
//! all, and nothing that is already there is ever changed.

use crate::CardError;
use crate::folder::Folder;
use crate::take::{Contents, Take, sync_folder, unwritable};
use std::fs;
use std::path::{Path, PathBuf};

/// So many different runs of one id are kept.
const BESIDE_MAX: u32 = 99;

/// How a run was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    New,
    /// The same run, byte for byte, is there from before.
    AlreadyThere,
    /// Another run of this id is there; this one got a number to its name.
    Beside,
}

pub(crate) struct Target<'a> {
    dir: &'a Path,
}

impl<'a> Target<'a> {
    pub fn open(dir: &'a Path) -> Result<Target<'a>, CardError> {
        fs::create_dir_all(dir).map_err(|e| unwritable(dir, e))?;
        Ok(Target { dir })
    }

    /// An empty folder for the copy of a run. What an interrupted collect
    /// left there is removed.
    pub fn begin(&self, id: &str) -> Result<PathBuf, CardError> {
        let partial = self.dir.join(format!(".partial-{id}"));
        self.discard(&partial)?;
        fs::create_dir(&partial).map_err(|e| unwritable(&partial, e))?;
        Ok(partial)
    }

    pub fn discard(&self, partial: &Path) -> Result<(), CardError> {
        match fs::symlink_metadata(partial) {
            Err(_) => Ok(()),
            Ok(meta) if meta.is_dir() => fs::remove_dir_all(partial),
            Ok(_) => fs::remove_file(partial),
        }
        .map_err(|e| unwritable(partial, e))
    }

    /// Gives the copy its place.
    pub fn keep(
        &self,
        id: &str,
        partial: &Path,
        contents: &Contents,
    ) -> Result<(PathBuf, Kept), CardError> {
        for n in 1..=BESIDE_MAX {
            let (path, kept) = match n {
                1 => (self.dir.join(id), Kept::New),
                _ => (self.dir.join(format!("{id}~{n}")), Kept::Beside),
            };
            if fs::symlink_metadata(&path).is_err() {
                fs::rename(partial, &path).map_err(|e| unwritable(&path, e))?;
                sync_folder(self.dir)?;
                return Ok((path, kept));
            }
            if same(&path, partial, contents) {
                self.discard(partial)?;
                return Ok((path, Kept::AlreadyThere));
            }
        }
        self.discard(partial)?;
        let what = format!("has {BESIDE_MAX} different runs {id}; collect into another folder");
        Err(CardError::unusable(self.dir, what))
    }
}

/// Whether the run directory at `path` holds the same files as the copy. The
/// copy is read again where the card could not be read to the end of a file.
fn same(path: &Path, partial: &Path, contents: &Contents) -> bool {
    let files = |path: &Path| {
        let tree = Folder::open(path).ok()?;
        let take = Take {
            tree: &tree,
            root: "",
            copy_to: None,
            progress: &mut |_| (),
            budget: &mut u64::MAX.clone(),
        };
        take.run().ok().map(|c| c.files)
    };
    let Some(there) = files(path) else {
        return false;
    };
    if contents.files.values().all(Option::is_some) {
        return there == contents.files;
    }
    files(partial).is_some_and(|copy| copy == there)
}
