// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Integers of 1 to 64 bits at any bit position, in both byte orders.
//!
//! Bit positions count from the start of the packet. In little-endian traces
//! the first field of a byte takes its low bits, in big-endian ones its high.

/// Reads `size` (1 to 64) bits at bit `pos`; `None` past the end of `data`.
pub fn read_bits(data: &[u8], pos: u64, size: u8, big: bool) -> Option<u64> {
    let first = usize::try_from(pos / 8).ok()?;
    let shift = (pos % 8) as u32;
    let count = (shift + u32::from(size)).div_ceil(8);
    let bytes = data.get(first..first.checked_add(count as usize)?)?;
    let mask = u64::MAX >> (64 - u32::from(size.clamp(1, 64)));
    let mut word = 0u128;
    if big {
        for b in bytes {
            word = word << 8 | u128::from(*b);
        }
        word >>= count * 8 - shift - u32::from(size);
    } else {
        for (i, b) in bytes.iter().enumerate() {
            word |= u128::from(*b) << (8 * i);
        }
        word >>= shift;
    }
    Some(word as u64 & mask)
}

/// The value of a two's complement number of `size` bits.
pub fn sign_extend(value: u64, size: u8) -> i64 {
    let unused = 64 - u32::from(size.clamp(1, 64));
    ((value << unused) as i64) >> unused
}

/// How an integer is fetched: whole bytes at once where it can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    U8,
    U16,
    U32,
    U64,
    U16Big,
    U32Big,
    U64Big,
    /// Any other size or a position inside a byte.
    Bits {
        size: u8,
        big: bool,
    },
}

impl Load {
    /// `aligned`: the position is known to be a multiple of 8 bits.
    pub fn new(size: u8, big: bool, aligned: bool) -> Load {
        match (size, big, aligned) {
            (8, _, true) => Load::U8,
            (16, false, true) => Load::U16,
            (32, false, true) => Load::U32,
            (64, false, true) => Load::U64,
            (16, true, true) => Load::U16Big,
            (32, true, true) => Load::U32Big,
            (64, true, true) => Load::U64Big,
            _ => Load::Bits { size, big },
        }
    }

    /// The raw bits of the integer at bit `pos`.
    #[inline(always)]
    pub fn at(self, data: &[u8], pos: u64) -> Option<u64> {
        let i = (pos / 8) as usize;
        Some(match self {
            Load::U8 => u64::from(*data.get(i)?),
            Load::U16 => u64::from(u16::from_le_bytes(array(data, i)?)),
            Load::U32 => u64::from(u32::from_le_bytes(array(data, i)?)),
            Load::U64 => u64::from_le_bytes(array(data, i)?),
            Load::U16Big => u64::from(u16::from_be_bytes(array(data, i)?)),
            Load::U32Big => u64::from(u32::from_be_bytes(array(data, i)?)),
            Load::U64Big => u64::from_be_bytes(array(data, i)?),
            Load::Bits { size, big } => return read_bits(data, pos, size, big),
        })
    }
}

#[inline(always)]
pub fn array<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..)?.first_chunk().copied()
}

/// The next multiple of `align` (a power of two); saturates.
#[inline(always)]
pub fn align_up(pos: u64, align: u64) -> u64 {
    pos.saturating_add(align - 1) & !(align - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_header_bits() {
        let word = (0x0123_4567u32 << 5 | 17).to_le_bytes();
        assert_eq!(read_bits(&word, 0, 5, false), Some(17));
        assert_eq!(read_bits(&word, 5, 27, false), Some(0x0123_4567));
        let word = (17u32 << 27 | 0x0123_4567).to_be_bytes();
        assert_eq!(read_bits(&word, 0, 5, true), Some(17));
        assert_eq!(read_bits(&word, 5, 27, true), Some(0x0123_4567));
    }

    #[test]
    fn sixty_four_bits_over_nine_bytes() {
        let value = 0x8123_4567_89ab_cdefu64;
        let little = (u128::from(value) << 3).to_le_bytes();
        assert_eq!(read_bits(&little[..9], 3, 64, false), Some(value));
        let big = (u128::from(value) << (128 - 64 - 3)).to_be_bytes();
        assert_eq!(read_bits(&big[..9], 3, 64, true), Some(value));
        assert_eq!(read_bits(&big[..8], 3, 64, true), None);
    }

    #[test]
    fn signs() {
        assert_eq!(sign_extend(0b111, 3), -1);
        assert_eq!(sign_extend(0b011, 3), 3);
        assert_eq!(sign_extend(u64::MAX, 64), -1);
        assert_eq!(sign_extend(1, 1), -1);
    }

    #[test]
    fn fast_loads_agree_with_the_general_one() {
        let data: Vec<u8> = (0..32u8)
            .map(|i| i.wrapping_mul(37).wrapping_add(11))
            .collect();
        for size in [8, 16, 32, 64] {
            for big in [false, true] {
                for byte in 0..32 {
                    let fast = Load::new(size, big, true).at(&data, byte * 8);
                    assert_eq!(fast, read_bits(&data, byte * 8, size, big), "{size} {byte}");
                }
            }
        }
    }

    #[test]
    fn alignment() {
        assert_eq!(align_up(0, 32), 0);
        assert_eq!(align_up(1, 32), 32);
        assert_eq!(align_up(33, 8), 40);
        assert_eq!(align_up(7, 1), 7);
    }
}
