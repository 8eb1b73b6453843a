// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! MBR partition tables, read only, with every number distrusted.

use crate::table::{Partition, SECTOR};
use crate::window::Window;

/// No card has more logical partitions than a kernel shows.
const LOGICAL_MAX: u32 = 60;

const EXTENDED: [u8; 3] = [0x05, 0x0f, 0x85];
pub(crate) const PROTECTIVE: u8 = 0xee;

/// One of the four entries of a boot record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub kind: u8,
    start: u32,
    sectors: u32,
}

/// The four entries of a boot record, if this sector is one.
pub(crate) fn slots(sector: &[u8; SECTOR]) -> Option<[Slot; 4]> {
    if sector[510..] != [0x55, 0xaa] {
        return None;
    }
    let word = |at: usize| {
        u32::from_le_bytes([sector[at], sector[at + 1], sector[at + 2], sector[at + 3]])
    };
    let slot = |i: usize| Slot {
        kind: sector[446 + 16 * i + 4],
        start: word(446 + 16 * i + 8),
        sectors: word(446 + 16 * i + 12),
    };
    let flags_ok = (0..4).all(|i| sector[446 + 16 * i] & 0x7f == 0);
    flags_ok.then(|| [slot(0), slot(1), slot(2), slot(3)])
}

impl Slot {
    pub fn is_used(&self) -> bool {
        self.kind != 0 && self.sectors != 0
    }

    fn partition(&self, number: u32, base: u64) -> Partition {
        Partition {
            number,
            start: (base + u64::from(self.start)) * SECTOR as u64,
            len: u64::from(self.sectors) * SECTOR as u64,
            name: None,
        }
    }
}

/// Primary partitions (1 to 4) and logical ones (from 5).
pub(crate) fn partitions(card: &Window, slots: &[Slot; 4]) -> Result<Vec<Partition>, String> {
    let mut out = Vec::new();
    for (slot, number) in slots.iter().zip(1..) {
        if slot.is_used() && !EXTENDED.contains(&slot.kind) {
            out.push(slot.partition(number, 0));
        }
    }
    let extended = slots.iter().find(|s| EXTENDED.contains(&s.kind));
    if let Some(extended) = extended {
        logical(card, u64::from(extended.start), &mut out)?;
    }
    Ok(out)
}

/// Follows the chain of extended boot records.
fn logical(card: &Window, base: u64, out: &mut Vec<Partition>) -> Result<(), String> {
    let mut at = base;
    for number in 5..5 + LOGICAL_MAX {
        let Some(sector) = card.bytes::<SECTOR>(at * SECTOR as u64) else {
            return Err(format!(
                "has an extended partition that reaches past its end, at sector {at}"
            ));
        };
        let Some([own, next, ..]) = slots(&sector) else {
            return Ok(());
        };
        if own.is_used() {
            out.push(own.partition(number, at));
        }
        if !EXTENDED.contains(&next.kind) || next.start == 0 {
            return Ok(());
        }
        at = base + u64::from(next.start);
    }
    Err(format!(
        "has more than {LOGICAL_MAX} logical partitions, so its partition table is damaged"
    ))
}
