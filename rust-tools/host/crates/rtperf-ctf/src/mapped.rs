// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files mapped into memory: the one place of this crate with unsafe code.

use memmap2::{Advice, Mmap};
use std::fs::File;
use std::io;
use std::path::Path;

pub struct Mapped(Option<Mmap>);

impl Mapped {
    pub fn bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

/// Maps a regular file to read.
#[allow(unsafe_code)]
pub fn map(path: &Path) -> io::Result<Mapped> {
    let file = File::open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    // An empty file cannot be mapped.
    if meta.len() == 0 {
        return Ok(Mapped(None));
    }
    // SAFETY: the mapping is private and only read. Bytes that another process
    // changes meanwhile are read as they are: every value in a packet is
    // checked at the moment of its use. A file that shrinks while we read ends
    // this process with SIGBUS; results are analysed from a copy, which does
    // not shrink.
    let map = unsafe { Mmap::map(&file)? };
    // A hint: reading works without it.
    let _ = map.advise(Advice::Sequential);
    Ok(Mapped(Some(map)))
}
