// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! One sample: a packed little-endian record of 24 bytes.

/// Size of one sample in a `.npy` file.
pub const SAMPLE_BYTES: usize = 24;

/// Bits of [`Sample::flags`].
pub mod flags {
    /// The task ran on another CPU than the one it is pinned to.
    pub const MIGRATED: u8 = 1;
    /// A page fault fell into this sample.
    pub const FAULTED: u8 = 1 << 1;
    /// Real-time throttling is suspected to have hit during this sample.
    pub const THROTTLED: u8 = 1 << 2;
    /// The sample's deadline had already passed when the task went to sleep
    /// for it: a missed period, which gets its own sample.
    pub const OVERRUN: u8 = 1 << 3;
    /// Another event came before this one was served, so that the stamp of
    /// its start may be that one's.
    pub const MERGED: u8 = 1 << 4;
}

/// Values of [`Sample::phase`].
pub mod phase {
    /// The measurement has no workload, so no phase.
    pub const NONE: u8 = 0;
    pub const BEGIN: u8 = 1;
    pub const MIDDLE: u8 = 2;
    pub const END: u8 = 3;
}

/// One measured latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Sample {
    /// CLOCK_MONOTONIC at the end of the measured interval, ns.
    pub time_ns: i64,
    /// The latency, ns. Negative where the event came early.
    pub latency_ns: i64,
    /// Round of the loop, from 0. A ring of n tasks has n samples a round.
    pub round: u32,
    /// Index into the measurement's tasks.
    pub task: u16,
    /// One of [`phase`].
    pub phase: u8,
    /// Union of [`flags`].
    pub flags: u8,
}

impl Sample {
    /// The record as it stands in the file.
    pub fn to_bytes(self) -> [u8; SAMPLE_BYTES] {
        let mut out = [0; SAMPLE_BYTES];
        out[0..8].copy_from_slice(&self.time_ns.to_le_bytes());
        out[8..16].copy_from_slice(&self.latency_ns.to_le_bytes());
        out[16..20].copy_from_slice(&self.round.to_le_bytes());
        out[20..22].copy_from_slice(&self.task.to_le_bytes());
        out[22] = self.phase;
        out[23] = self.flags;
        out
    }

    /// Reads one record back. Every bit pattern is a sample.
    pub fn from_bytes(b: &[u8; SAMPLE_BYTES]) -> Sample {
        let word = |at: usize| {
            let mut w = [0; 8];
            w.copy_from_slice(&b[at..at + 8]);
            i64::from_le_bytes(w)
        };
        Sample {
            time_ns: word(0),
            latency_ns: word(8),
            round: u32::from_le_bytes([b[16], b[17], b[18], b[19]]),
            task: u16::from_le_bytes([b[20], b[21]]),
            phase: b[22],
            flags: b[23],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_little_endian_in_field_order() {
        let s = Sample {
            time_ns: 0x0102_0304_0506_0708,
            latency_ns: -2,
            round: 0x0a0b_0c0d,
            task: 0x0e0f,
            phase: phase::END,
            flags: flags::OVERRUN | flags::FAULTED,
        };
        let b = s.to_bytes();
        assert_eq!(&b[..8], &[8, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!(&b[8..16], &[0xfe, 255, 255, 255, 255, 255, 255, 255]);
        assert_eq!(&b[16..], &[0x0d, 0x0c, 0x0b, 0x0a, 0x0f, 0x0e, 3, 0b1010]);
        assert_eq!(Sample::from_bytes(&b), s);
    }

    #[test]
    fn memory_layout_is_the_file_layout_on_little_endian() {
        assert_eq!(std::mem::size_of::<Sample>(), SAMPLE_BYTES);
    }
}
