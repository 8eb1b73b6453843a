// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files that are whole or absent, whenever the power goes.

use crate::FactsError;
use nix::errno::Errno;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

/// What has reached the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// 64 lower-case hexadecimal digits.
    pub sha256: String,
    pub bytes: u64,
}

/// Writes `dir/name` beside its name, and puts it in place, replacing what
/// was there, only when all of it is on the disk. `fill` streams the content.
/// On any failure the old file stays and nothing else is left behind.
pub fn write_file(
    dir: &Path,
    name: &str,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Written, FactsError> {
    let path = dir.join(name);
    let beside = dir.join(format!(".{name}.tmp"));
    let written = write_beside(&beside, fill)
        .and_then(|written| std::fs::rename(&beside, &path).map(|()| written));
    match written {
        Ok(written) => {
            sync_dir(dir)?;
            Ok(written)
        }
        Err(e) => {
            // The first fault is the one to report.
            let _ = std::fs::remove_file(&beside);
            Err(write_fault(&path, &e))
        }
    }
}

fn write_beside(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<Written> {
    // A leftover of a run that lost power, or a link that somebody planted.
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let file = File::options().write(true).create_new(true).open(path)?;
    let hashing = Hashing {
        file,
        hash: Sha256::new(),
        bytes: 0,
    };
    let mut out = BufWriter::with_capacity(64 * 1024, hashing);
    fill(&mut out)?;
    let Hashing { file, hash, bytes } = out.into_inner().map_err(|e| e.into_error())?;
    file.sync_all()?;
    Ok(Written {
        sha256: hex(&hash.finalize()),
        bytes,
    })
}

/// SHA-256 of a file that somebody else has written, and which is on the disk
/// on return.
pub fn hash_file(path: &Path) -> Result<String, FactsError> {
    let hash = || {
        let mut file = File::open(path)?;
        let mut hash = Sha256::new();
        let mut room = vec![0; 64 * 1024];
        loop {
            match file.read(&mut room)? {
                0 => break,
                n => hash.update(&room[..n]),
            }
        }
        file.sync_all()?;
        Ok(hex(&hash.finalize()))
    };
    hash().map_err(|e: io::Error| FactsError(format!("{} cannot be read: {e}", path.display())))
}

/// Makes the names in a folder durable.
pub fn sync_dir(dir: &Path) -> Result<(), FactsError> {
    let synced = File::open(dir).and_then(|folder| folder.sync_all());
    synced.map_err(|e| write_fault(dir, &e))
}

struct Hashing {
    file: File,
    hash: Sha256,
    bytes: u64,
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.file.write(bytes)?;
        self.hash.update(&bytes[..n]);
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |n: u8| char::from(b"0123456789abcdef"[usize::from(n & 15)]);
    bytes
        .iter()
        .flat_map(|b| [digit(b >> 4), digit(*b)])
        .collect()
}

/// What the user can do about a write that failed.
pub(crate) fn write_fault(path: &Path, error: &io::Error) -> FactsError {
    let remedy = match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOSPC | Errno::EDQUOT) => {
            "; free space there or use a larger card, what was finished before is kept"
        }
        Some(Errno::EIO) => {
            "; the card is worn out or was pulled, take another one and collect from this one first"
        }
        Some(Errno::EROFS) => "; the file system is read-only, check the card with fsck",
        Some(Errno::EACCES | Errno::EPERM) => "; run as root, or give a folder of yours with --out",
        Some(Errno::ENOENT | Errno::ENODEV) => "; was the card pulled?",
        Some(Errno::EFBIG) => "; the file system takes no file that large, use an ext4 card",
        _ => "",
    };
    FactsError(format!(
        "{} cannot be written: {error}{remedy}",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    fn names(dir: &Path) -> Vec<String> {
        Root::new(dir).entries("")
    }
    use crate::Root;

    #[test]
    fn replaces_a_file_and_tells_its_hash() {
        let tree = Tree::new("durable");
        tree.file("run.json", "old");
        tree.file(".run.json.tmp", "left by a power loss");
        let written = write_file(tree.path(), "run.json", |out| out.write_all(b"abc")).unwrap();
        assert_eq!(tree.read("run.json"), "abc");
        assert_eq!(written.bytes, 3);
        assert_eq!(
            written.sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(names(tree.path()), ["run.json"]);
    }

    #[test]
    fn content_larger_than_the_buffer_is_hashed_whole() {
        let tree = Tree::new("durable-large");
        let bytes: Vec<u8> = (0..300_001u32).map(|n| n as u8).collect();
        let written = write_file(tree.path(), "a.npy", |out| out.write_all(&bytes)).unwrap();
        assert_eq!(written.sha256, hex(&Sha256::digest(&bytes)));
        let again = hash_file(&tree.path().join("a.npy"));
        assert_eq!(again, Ok(written.sha256));
        assert_eq!(std::fs::read(tree.path().join("a.npy")).unwrap(), bytes);
    }

    #[test]
    fn a_failure_keeps_the_old_file_and_leaves_nothing_beside_it() {
        let tree = Tree::new("durable-full");
        tree.file("run.json", "old");
        let full = |out: &mut dyn Write| {
            out.write_all(&[0; 100_000])?;
            Err(io::Error::from_raw_os_error(Errno::ENOSPC as i32))
        };
        let e = write_file(tree.path(), "run.json", full).unwrap_err();
        assert!(
            e.0.contains("run.json") && e.0.contains("larger card"),
            "{e}"
        );
        assert_eq!(tree.read("run.json"), "old");
        assert_eq!(names(tree.path()), ["run.json"]);
    }

    #[test]
    fn a_vanished_folder_is_a_sentence() {
        let e = write_file(Path::new("/nonexistent/card"), "run.json", |_| Ok(())).unwrap_err();
        assert!(e.0.contains("/nonexistent/card/run.json"), "{e}");
    }

    /// /dev/full refuses every write as a full disk does.
    #[test]
    fn a_full_disk_is_noticed_when_the_buffer_is_written() {
        let file = File::options().write(true).open("/dev/full").unwrap();
        let mut out = BufWriter::new(Hashing {
            file,
            hash: Sha256::new(),
            bytes: 0,
        });
        out.write_all(b"x").unwrap();
        let e = out.into_inner().map_err(|e| e.into_error()).err().unwrap();
        let e = write_fault(Path::new("/card/x"), &e);
        assert!(e.0.contains("larger card"), "{e}");
    }
}
