// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Memory for samples, present before the first one is taken.

use crate::ProbeError;
use rtperf_record::Sample;

/// A fixed array of samples in an anonymous mapping: written to when made,
/// given back to the kernel when dropped, shared with forked tasks.
pub struct SampleBuffer {
    start: *mut Sample,
    capacity: usize,
    len: usize,
}

// SAFETY: the mapping is owned by this value alone; tasks of a measurement
// that write through `start_ptr` have ended before it is read.
unsafe impl Send for SampleBuffer {}

impl SampleBuffer {
    /// Maps and populates room for `capacity` samples (24 bytes each).
    pub fn new(capacity: usize) -> Result<SampleBuffer, ProbeError> {
        let bytes = capacity.max(1).checked_mul(std::mem::size_of::<Sample>());
        let bytes = bytes.filter(|b| isize::try_from(*b).is_ok());
        let bytes = bytes.ok_or_else(|| ProbeError(format!("{capacity} samples do not fit")))?;
        // SAFETY: a new anonymous mapping; no existing memory is touched.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_POPULATE,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(ProbeError::os(&format!("no memory for {capacity} samples")));
        }
        let buffer = SampleBuffer {
            start: start.cast(),
            capacity,
            len: 0,
        };
        buffer.touch();
        Ok(buffer)
    }

    /// Writes to every page, so that no later write faults. Populating maps a
    /// shared page without its dirty bit, which processors that do not set it
    /// themselves fault on; and each process has its own page table, so a
    /// forked task calls this again before any sample is taken.
    pub(crate) fn touch(&self) {
        const PAGE: usize = 4096;
        let bytes = self.capacity.max(1) * std::mem::size_of::<Sample>();
        for at in (0..bytes).step_by(PAGE).chain([bytes - 1]) {
            // SAFETY: `at` is within the mapping. The value is put back as it
            // was; tasks touch before any of them writes a sample.
            unsafe {
                let byte = self.start.cast::<u8>().add(at);
                byte.write_volatile(byte.read_volatile());
            }
        }
    }

    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Appends a sample; `false` when the buffer is full.
    #[inline]
    pub fn push(&mut self, sample: Sample) -> bool {
        if self.len == self.capacity {
            return false;
        }
        // SAFETY: `len` is below the capacity of the mapping.
        unsafe { self.start.add(self.len).write(sample) };
        self.len += 1;
        true
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// For forked tasks, which fill the buffer by index.
    pub(crate) fn start_ptr(&self) -> *mut Sample {
        self.start
    }

    /// Says how many samples from the start the forked tasks have filled.
    pub(crate) fn set_len(&mut self, len: usize) {
        self.len = len.min(self.capacity);
    }

    pub fn as_slice(&self) -> &[Sample] {
        // SAFETY: the mapping starts zeroed (a valid sample) and `len` is
        // within it; nobody else writes to it any more.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    pub fn as_mut_slice(&mut self) -> &mut [Sample] {
        // SAFETY: as in `as_slice`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl Drop for SampleBuffer {
    fn drop(&mut self) {
        let bytes = self.capacity.max(1) * std::mem::size_of::<Sample>();
        // SAFETY: exactly the mapping made in `new`.
        unsafe { libc::munmap(self.start.cast(), bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_was_pushed_and_no_more() {
        let mut b = SampleBuffer::new(2).unwrap();
        let s = |round| Sample {
            round,
            ..Sample::default()
        };
        assert!(b.push(s(0)) && b.push(s(1)) && !b.push(s(2)));
        assert_eq!(b.as_slice(), &[s(0), s(1)]);
        b.clear();
        assert!(b.as_slice().is_empty());
    }

    #[test]
    fn an_absurd_size_is_an_error() {
        assert!(SampleBuffer::new(usize::MAX).is_err());
        assert!(SampleBuffer::new(usize::MAX / 48).is_err());
    }
}
