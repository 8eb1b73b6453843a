// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! A part of an image or device: the whole card or one partition.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::rc::Rc;

/// Bytes `start .. start + len` of a file. Nothing outside them is ever read.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    file: Rc<File>,
    start: u64,
    len: u64,
}

impl Window {
    pub fn new(file: File, len: u64) -> Window {
        Window {
            file: Rc::new(file),
            start: 0,
            len,
        }
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// A part of this window, or how many bytes of it are missing.
    pub fn part(&self, start: u64, len: u64) -> Result<Window, u64> {
        let end = start.saturating_add(len);
        if end > self.len {
            return Err(end - self.len);
        }
        Ok(Window {
            file: Rc::clone(&self.file),
            start: self.start + start,
            len,
        })
    }

    /// Fills `buf` from `at`; an error if that reaches past the end.
    pub fn read_at(&self, at: u64, buf: &mut [u8]) -> io::Result<()> {
        let end = at.checked_add(buf.len() as u64);
        if end.is_none_or(|end| end > self.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.file.read_exact_at(buf, self.start + at)
    }

    /// The first `N` bytes from `at`, if the window has them.
    pub fn bytes<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        let mut out = [0; N];
        self.read_at(at, &mut out).ok().map(|()| out)
    }
}

const PAGE: u64 = 4096;

/// A window as a stream, for parsers that want one. It keeps the last page,
/// refuses to write, and stops after `fuel` accesses: a parser that follows a
/// ring in a damaged table ends with an error instead of never.
pub(crate) struct Stream {
    window: Window,
    at: u64,
    page: Vec<u8>,
    page_at: u64,
    fuel: u64,
}

impl Stream {
    pub fn new(window: Window) -> Stream {
        // Reading everything sector by sector, with as many look-ups, takes
        // less than this.
        let fuel = window.len() / 64 + 1_000_000;
        Stream {
            window,
            at: 0,
            page: Vec::new(),
            page_at: 0,
            fuel,
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.fuel = self
            .fuel
            .checked_sub(1)
            .ok_or_else(|| io::Error::other("its tables run in circles"))?;
        if self.at >= self.window.len() || buf.is_empty() {
            return Ok(0);
        }
        let page_at = self.at / PAGE * PAGE;
        if self.page.is_empty() || self.page_at != page_at {
            let len = PAGE.min(self.window.len() - page_at);
            self.page.resize(len as usize, 0);
            if let Err(e) = self.window.read_at(page_at, &mut self.page) {
                self.page.clear();
                return Err(e);
            }
            self.page_at = page_at;
        }
        let rest = &self.page[(self.at - page_at) as usize..];
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for Stream {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.window.len().checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

impl Write for Stream {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(bytes: &[u8]) -> Window {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Window::new(file, bytes.len() as u64)
    }

    #[test]
    fn a_part_is_bounded() {
        let w = window(b"0123456789");
        let part = w.part(4, 4).unwrap();
        assert_eq!(part.bytes::<4>(0), Some(*b"4567"));
        assert_eq!(part.bytes::<4>(1), None);
        assert_eq!(part.bytes::<1>(u64::MAX), None);
        assert_eq!(w.part(8, 4).unwrap_err(), 2);
        assert!(w.part(u64::MAX, 4).is_err());
    }

    #[test]
    fn a_stream_reads_over_page_borders_and_ends() {
        let bytes: Vec<u8> = (0..10_000u32).map(|i| i as u8).collect();
        let mut s = Stream::new(window(&bytes));
        let mut out = Vec::new();
        s.read_to_end(&mut out).unwrap();
        assert_eq!(out, bytes);
        s.seek(SeekFrom::Start(4095)).unwrap();
        let mut two = [0; 2];
        s.read_exact(&mut two).unwrap();
        assert_eq!(two, [0xff, 0]);
        assert!(s.write(b"x").is_err());
    }

    #[test]
    fn a_ring_runs_out_of_fuel() {
        let mut s = Stream::new(window(&[7; 512]));
        let mut one = [0];
        let e = loop {
            s.seek(SeekFrom::Start(0)).unwrap();
            if let Err(e) = s.read(&mut one) {
                break e;
            }
        };
        assert!(e.to_string().contains("circles"));
    }
}
