// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What the user gave as source.

use crate::CardError;
use crate::window::Window;
use std::fs::{self, File};
use std::io::{ErrorKind, Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

pub(crate) enum Source {
    Folder,
    /// A card or an image of one.
    Card(Window),
}

/// Formats that hold a card image or runs, and how they are unpacked.
const PACKED: [(u64, &[u8], &str, &str); 11] = [
    (0, b"\x1f\x8b", "gzip", "gzip -dk"),
    (0, b"\xfd7zXZ\0", "xz", "xz -dk"),
    (0, b"\x28\xb5\x2f\xfd", "zstd", "zstd -d"),
    (0, b"BZh", "bzip2", "bzip2 -dk"),
    (0, b"\x04\x22\x4d\x18", "lz4", "lz4 -d"),
    (0, b"PK\x03\x04", "zip", "unzip"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z", "7z x"),
    (257, b"ustar", "tar", "tar -xf"),
    (0, b"\x3a\xff\x26\xed", "Android sparse image", "simg2img"),
    (0, b"QFI\xfb", "qcow2", "qemu-img convert -O raw"),
    (0, b"KDMV", "vmdk", "qemu-img convert -O raw"),
];

pub(crate) fn open(path: &Path) -> Result<Source, CardError> {
    if path.as_os_str().as_encoded_bytes().starts_with(b"ssh://") {
        let what = "cannot be read over ssh; fetch the run directories with scp -r, \
                    then give the folder";
        return Err(CardError::unusable(path, what));
    }
    let meta = fs::metadata(path).map_err(|e| match e.kind() {
        ErrorKind::NotFound => CardError::unusable(
            path,
            "does not exist; give a card image, a card's device or a mounted folder",
        ),
        _ => CardError::unusable(path, format!("cannot be read: {e}")),
    })?;
    if meta.is_dir() {
        return Ok(Source::Folder);
    }
    // Anything else could block forever when opened.
    if !meta.is_file() && !meta.file_type().is_block_device() {
        let what = "is neither a file, a block device nor a folder";
        return Err(CardError::unusable(path, what));
    }
    let mut file = File::open(path).map_err(|e| cannot_open(path, &e))?;
    let len = file
        .seek(SeekFrom::End(0))
        .map_err(|e| CardError::unusable(path, format!("cannot be read: {e}")))?;
    if len == 0 {
        let what = match meta.is_file() {
            true => "is empty",
            false => "has no size: is there a card in the reader?",
        };
        return Err(CardError::unusable(path, what));
    }
    let window = Window::new(file, len);
    match packed(&window) {
        Some(what) => Err(CardError::unusable(path, what)),
        None => Ok(Source::Card(window)),
    }
}

fn cannot_open(path: &Path, e: &std::io::Error) -> CardError {
    let hint = match e.kind() {
        ErrorKind::PermissionDenied => {
            "; reading a device takes its group (often 'disk') or sudo, \
             a mounted folder takes neither"
        }
        _ if e.raw_os_error() == Some(rustix::io::Errno::NOMEDIUM.raw_os_error()) => {
            "; put a card into the reader"
        }
        _ => "",
    };
    CardError::unusable(path, format!("cannot be opened: {e}{hint}"))
}

fn packed(window: &Window) -> Option<String> {
    let is = |at: u64, magic: &[u8]| {
        let mut head = vec![0; magic.len()];
        window.read_at(at, &mut head).is_ok() && head == magic
    };
    let (_, _, name, how) = PACKED.iter().find(|(at, magic, ..)| is(*at, magic))?;
    Some(format!("is packed ({name}); unpack it first: {how}"))
}
