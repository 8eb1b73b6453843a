// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Clocks.

use crate::ir::Clock;

/// From ticks of a clock to nanoseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub struct ToNs {
    /// `None` when a tick is a nanosecond.
    frequency: Option<u64>,
    offset: i64,
}

impl ToNs {
    pub fn new(clock: Option<&Clock>) -> ToNs {
        let Some(clock) = clock else {
            return ToNs {
                frequency: None,
                offset: 0,
            };
        };
        let frequency = Some(clock.frequency).filter(|f| *f != 1_000_000_000);
        let ticks = i128::from(clock.offset_ticks) * 1_000_000_000 / i128::from(clock.frequency);
        let offset = i128::from(clock.offset_seconds) * 1_000_000_000 + ticks;
        ToNs {
            frequency,
            offset: clamp(offset),
        }
    }

    #[inline(always)]
    pub fn ns(self, ticks: u64) -> i64 {
        match self.frequency {
            None => self.offset.wrapping_add(ticks as i64),
            Some(f) => {
                let ns = i128::from(ticks) * 1_000_000_000 / i128::from(f);
                clamp(ns + i128::from(self.offset))
            }
        }
    }
}

fn clamp(ns: i128) -> i64 {
    ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
