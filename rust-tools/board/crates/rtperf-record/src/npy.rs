// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The `.npy` container of raw samples (NumPy's "NPY format", version 1.0).
//!
//! A sample file always has the same header length, so that the writer can
//! put the count in last and the reader can check the size without parsing.

use crate::sample::SAMPLE_BYTES;

/// Length of the header, magic included. A multiple of 64, as NumPy aligns it.
pub const NPY_HEADER_LEN: usize = 256;

const MAGIC: &[u8; 8] = b"\x93NUMPY\x01\x00";
const PREFIX: &str = "{'descr': [('time_ns', '<i8'), ('latency_ns', '<i8'), \
('round', '<u4'), ('task', '<u2'), ('phase', '|u1'), ('flags', '|u1')], \
'fortran_order': False, 'shape': (";
const SUFFIX: &str = ",), }";

/// Why a sample file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NpyError {
    /// Not a sample file of this format.
    Header,
    /// The header's count and the file's size disagree: (samples, bytes).
    Length(u64, u64),
}

impl std::fmt::Display for NpyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NpyError::Header => f.write_str("is not a sample file of run format 1"),
            NpyError::Length(n, bytes) => write!(
                f,
                "is damaged: its header says {n} samples, its size is {bytes} bytes"
            ),
        }
    }
}

impl std::error::Error for NpyError {}

/// The header of a file of `n` samples.
pub fn npy_header(n: u64) -> [u8; NPY_HEADER_LEN] {
    let mut out = [b' '; NPY_HEADER_LEN];
    let dict = format!("{PREFIX}{n}{SUFFIX}");
    out[..8].copy_from_slice(MAGIC);
    let rest = (NPY_HEADER_LEN - 10) as u16;
    out[8..10].copy_from_slice(&rest.to_le_bytes());
    out[10..10 + dict.len()].copy_from_slice(dict.as_bytes());
    out[NPY_HEADER_LEN - 1] = b'\n';
    out
}

/// Checks a header against the file's size and returns the sample count.
/// Only headers that [`npy_header`] writes are accepted: anything else on a
/// card is not ours.
pub fn parse_npy_header(head: &[u8], file_bytes: u64) -> Result<u64, NpyError> {
    if head.len() < NPY_HEADER_LEN || head[..8] != *MAGIC {
        return Err(NpyError::Header);
    }
    let text = std::str::from_utf8(&head[10..NPY_HEADER_LEN]).map_err(|_| NpyError::Header)?;
    let digits = text
        .trim_end()
        .strip_prefix(PREFIX)
        .and_then(|t| t.strip_suffix(SUFFIX))
        .ok_or(NpyError::Header)?;
    let n: u64 = digits.parse().map_err(|_| NpyError::Header)?;
    if npy_header(n) != head[..NPY_HEADER_LEN] {
        return Err(NpyError::Header);
    }
    let want = n
        .checked_mul(SAMPLE_BYTES as u64)
        .and_then(|b| b.checked_add(NPY_HEADER_LEN as u64));
    if want != Some(file_bytes) {
        return Err(NpyError::Length(n, file_bytes));
    }
    Ok(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_round_trips_and_fits_the_largest_count() {
        for n in [0, 1, 10_000, u64::from(u32::MAX)] {
            let h = npy_header(n);
            assert_eq!(parse_npy_header(&h, 256 + 24 * n), Ok(n));
        }
        assert!(PREFIX.len() + 20 + SUFFIX.len() + 11 <= NPY_HEADER_LEN);
    }

    #[test]
    fn wrong_size_is_named() {
        assert_eq!(
            parse_npy_header(&npy_header(2), 256 + 24),
            Err(NpyError::Length(2, 280))
        );
        let huge = npy_header(u64::MAX);
        assert!(matches!(
            parse_npy_header(&huge, 256),
            Err(NpyError::Length(..))
        ));
    }

    #[test]
    fn every_changed_byte_is_refused() {
        let good = npy_header(12);
        for at in 0..NPY_HEADER_LEN {
            for flip in [1u8, 0x20, 0x80] {
                let mut bad = good;
                bad[at] ^= flip;
                // A changed digit is still a header, but not of this size.
                assert!(parse_npy_header(&bad, 256 + 24 * 12).is_err(), "byte {at}");
            }
        }
        assert_eq!(parse_npy_header(&good[..100], 100), Err(NpyError::Header));
    }
}
