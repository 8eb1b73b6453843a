// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The samples of one measurement, as the board wrote them.

use rtperf_record::{Measurement, NPY_HEADER_LEN, SAMPLE_BYTES, Sample, parse_npy_header};
use sha2::{Digest, Sha256};
use std::io::Read;

/// All samples of a measurement, in order. They are read, not mapped: a card
/// that is pulled out must give an error, not end the program.
#[derive(Debug, Clone)]
pub struct Samples {
    records: Vec<u8>,
}

impl Samples {
    pub(crate) fn read(
        mut file: impl Read,
        size: u64,
        measurement: &Measurement,
    ) -> Result<Samples, String> {
        let mut head = [0; NPY_HEADER_LEN];
        let unreadable = |e: std::io::Error| format!("cannot be read: {e}");
        if size < NPY_HEADER_LEN as u64 {
            return Err(format!("is damaged: {size} bytes are no sample file"));
        }
        file.read_exact(&mut head).map_err(unreadable)?;
        let n = parse_npy_header(&head, size).map_err(|e| e.to_string())?;
        if n != measurement.n {
            return Err(format!(
                "is damaged: it holds {n} samples, run.json says {}",
                measurement.n
            ));
        }
        let records = read_records(&mut file, n).map_err(unreadable)?;
        if let Some(want) = &measurement.sha256 {
            let mut sum = Sha256::new();
            sum.update(head);
            sum.update(&records);
            if hex(&sum.finalize()) != *want {
                return Err("is damaged: its SHA-256 is not the one in run.json".into());
            }
        }
        Ok(Samples { records })
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.records.len() / SAMPLE_BYTES
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The samples in the order they were taken.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Sample> + '_ {
        let (records, _) = self.records.as_chunks::<SAMPLE_BYTES>();
        records.iter().map(Sample::from_bytes)
    }

    /// The latencies in the order they were taken, ns.
    pub fn latencies(&self) -> Vec<i64> {
        self.iter().map(|s| s.latency_ns).collect()
    }
}

/// Reads exactly `n` records. The buffer grows with what is really there, so
/// that a size which is only claimed takes no memory.
fn read_records(file: &mut impl Read, n: u64) -> std::io::Result<Vec<u8>> {
    let bytes = n.saturating_mul(SAMPLE_BYTES as u64);
    let mut out = Vec::new();
    file.take(bytes).read_to_end(&mut out)?;
    if out.len() as u64 != bytes {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(out)
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut out, b| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{b:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_has_two_digits_a_byte() {
        assert_eq!(hex(&[0, 0x0f, 0xa0]), "000fa0");
    }
}
