// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Where results go: a folder that was asked for, else the partition labelled
//! `RTPERF`, else the configured folder if it survives power off.

mod label;
mod mounts;
mod partition;
mod run_dir;

pub use run_dir::new_run_dir;

use crate::durable::write_fault;
use crate::{FactsError, Root};
use nix::mount::{umount2, MntFlags};
use nix::sys::statfs::statfs;
use nix::sys::statvfs::{statvfs, FsFlags};
use partition::{Labelled, Partition};
use rtperf_record::RESULTS_LABEL;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often the card is looked for while it may still appear.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What is asked of a place.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// `--out`: taken as it is, on any file system.
    pub out: Option<&'a Path>,
    /// Taken where there is no labelled partition.
    pub configured: &'a Path,
    /// Bytes that will be written.
    pub need: u64,
    /// How long a labelled partition may take to appear after boot.
    pub wait: Duration,
}

/// A folder that takes results.
#[derive(Debug)]
pub struct Place {
    path: PathBuf,
    how: String,
    /// Mounted by us, so unmounted by us.
    mounted: bool,
}

/// Finds the place, mounts it if need be, and tries that it can be written.
pub fn resolve(root: &Root, request: &Request) -> Result<Place, FactsError> {
    let place = match request.out {
        Some(out) => folder(out, "asked for with --out")?,
        None => match wait_for_card(root, request.wait)? {
            Some(partition) => on_partition(root, &partition)?,
            None => lasting_folder(request.configured)?,
        },
    };
    place.try_writing()?;
    place.check_space(request.need)?;
    Ok(place)
}

impl Place {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why it is this folder, for the log.
    pub fn how(&self) -> &str {
        &self.how
    }

    /// Whether `need` bytes fit, now.
    pub fn check_space(&self, need: u64) -> Result<(), FactsError> {
        let stat = statvfs(&self.path).map_err(|e| write_fault(&self.path, &e.into()))?;
        // The fields' width differs between architectures.
        #[allow(clippy::unnecessary_cast)]
        let (blocks, size) = (stat.blocks_available() as u64, stat.fragment_size() as u64);
        let free = blocks.saturating_mul(size);
        if free >= need {
            return Ok(());
        }
        Err(FactsError(format!(
            "{} ({}) has {} free and the plan needs {}: free space there, use a larger card, \
             or give another folder with --out",
            self.path.display(),
            self.how,
            mebibytes(free),
            mebibytes(need)
        )))
    }

    /// Writes everything out and unmounts what we mounted, so that the card
    /// can be pulled.
    pub fn close(mut self) -> Result<(), FactsError> {
        self.release()
    }

    fn release(&mut self) -> Result<(), FactsError> {
        let synced = File::open(&self.path).and_then(|folder| Ok(nix::unistd::syncfs(folder)?));
        synced.map_err(|e| write_fault(&self.path, &e))?;
        if std::mem::take(&mut self.mounted) {
            umount2(&self.path, MntFlags::empty()).map_err(|e| {
                FactsError(format!(
                    "{} cannot be unmounted: {}; everything is written, but power the board off \
                     before the card is pulled",
                    self.path.display(),
                    e.desc()
                ))
            })?;
        }
        Ok(())
    }

    fn try_writing(&self) -> Result<(), FactsError> {
        let read_only =
            statvfs(&self.path).is_ok_and(|stat| stat.flags().contains(FsFlags::ST_RDONLY));
        if read_only {
            return Err(FactsError(format!(
                "{} ({}) is read-only: remount it, slide the card's lock, check it with fsck, \
                 or give another folder with --out",
                self.path.display(),
                self.how
            )));
        }
        let trial = self
            .path
            .join(format!(".rtperf-trial-{}", std::process::id()));
        let tried = File::create(&trial).and_then(|_| std::fs::remove_file(&trial));
        tried.map_err(|e| write_fault(&self.path, &e))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.mounted {
            // Nobody is left to tell; `close` is for those who listen.
            let _ = self.release();
        }
    }
}

fn folder(path: &Path, how: &str) -> Result<Place, FactsError> {
    if path.exists() && !path.is_dir() {
        return Err(FactsError(format!(
            "{} ({how}) is not a folder: give one with --out",
            path.display()
        )));
    }
    std::fs::create_dir_all(path).map_err(|e| write_fault(path, &e))?;
    Ok(Place {
        path: path.to_owned(),
        how: how.to_owned(),
        mounted: false,
    })
}

fn lasting_folder(path: &Path) -> Result<Place, FactsError> {
    // Before anything is created: the file system of what exists of it.
    let existing = path.ancestors().find(|part| part.exists());
    let on = existing.and_then(|part| statfs(part).ok());
    #[allow(clippy::unnecessary_cast)] // its width differs between architectures
    if let Some(kind) = on.and_then(|fs| volatile(fs.filesystem_type().0 as u32)) {
        return Err(FactsError(format!(
            "no partition is labelled {RESULTS_LABEL}, and on {} ({kind}) results would vanish at \
             power off: insert a card with such a partition, or give a folder with --out to insist",
            path.display()
        )));
    }
    folder(
        path,
        &format!("configured, as no partition is labelled {RESULTS_LABEL}"),
    )
}

/// File systems that forget, or (an overlay) may well forget.
fn volatile(magic: u32) -> Option<&'static str> {
    match magic {
        0x0102_1994 => Some("tmpfs"),
        0x8584_58f6 => Some("ramfs"),
        0x794c_7630 => Some("overlay"),
        _ => None,
    }
}

fn wait_for_card(root: &Root, wait: Duration) -> Result<Option<Partition>, FactsError> {
    let start = Instant::now();
    loop {
        let Labelled {
            mut found,
            unreadable,
        } = partition::labelled(root);
        match found.len() {
            0 if start.elapsed() >= wait => return none_seen(unreadable),
            0 => std::thread::sleep(LOOK_EVERY.min(wait)),
            1 => return Ok(found.pop()),
            _ => {
                let names: Vec<String> = found.iter().map(|p| format!("/dev/{}", p.name)).collect();
                return Err(FactsError(format!(
                    "{} partitions are labelled {RESULTS_LABEL} ({}): remove a card, or say with \
                     --out where results go",
                    names.len(),
                    names.join(" and ")
                )));
            }
        }
    }
}

/// No card, unless it is one that we may not look at.
fn none_seen(unreadable: Option<String>) -> Result<Option<Partition>, FactsError> {
    unreadable.map_or(Ok(None), |name| {
        Err(FactsError(format!(
            "no permission to read whether /dev/{name} is labelled {RESULTS_LABEL}: run as root, \
             or give a folder with --out"
        )))
    })
}

fn on_partition(root: &Root, partition: &Partition) -> Result<Place, FactsError> {
    let how = format!("partition /dev/{} labelled {RESULTS_LABEL}", partition.name);
    let table = root
        .text("proc/self/mountinfo", 1 << 20)
        .unwrap_or_default();
    if let Some(path) = mounts::mount_point(&table, partition.device) {
        return Ok(Place {
            path,
            how,
            mounted: false,
        });
    }
    let path = root.path("run/rtperf/card");
    std::fs::create_dir_all(&path).map_err(|e| write_fault(&path, &e))?;
    partition.mount(root, &path)?;
    Ok(Place {
        path,
        how,
        mounted: true,
    })
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests;
