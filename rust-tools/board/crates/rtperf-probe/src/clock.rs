// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Clocks that a sample can be taken with.

use crate::counter::{counter_frequency, read_counter};
use crate::ProbeError;
use rtperf_record::ClockTuple;

/// A POSIX clock in ns. Fails for no clock used here, so it cannot fail.
#[inline(always)]
pub fn now_ns(clock: libc::clockid_t) -> i64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `t` is a valid timespec for the call to fill.
    unsafe { libc::clock_gettime(clock, &mut t) };
    // The casts matter where time_t or long has 32 bits.
    #[allow(clippy::unnecessary_cast)]
    let ns = t.tv_sec as i64 * 1_000_000_000 + t.tv_nsec as i64;
    ns
}

/// Which clock stamps a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// CLOCK_MONOTONIC, through the vDSO where the kernel offers it.
    Monotonic,
    /// CLOCK_MONOTONIC_RAW.
    Raw,
    /// The processor's counter.
    Counter,
    /// gettimeofday(2), in steps of 1 µs, for comparison with old results.
    Gettimeofday,
}

impl Clock {
    pub const ALL: [Clock; 4] = [
        Clock::Monotonic,
        Clock::Raw,
        Clock::Counter,
        Clock::Gettimeofday,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Clock::Monotonic => "monotonic",
            Clock::Raw => "raw",
            Clock::Counter => "counter",
            Clock::Gettimeofday => "gettimeofday",
        }
    }

    pub fn from_name(name: &str) -> Option<Clock> {
        Clock::ALL.into_iter().find(|c| c.name() == name)
    }

    /// A stamp in the clock's own unit: counts of the counter, ns otherwise.
    /// A counter that cannot be read gives 0; [`ToMonotonic::new`] has refused
    /// the clock before any sample is taken.
    #[inline(always)]
    pub fn stamp(self) -> i64 {
        match self {
            Clock::Monotonic => now_ns(libc::CLOCK_MONOTONIC),
            Clock::Raw => now_ns(libc::CLOCK_MONOTONIC_RAW),
            Clock::Counter => read_counter().unwrap_or(0) as i64,
            Clock::Gettimeofday => gettimeofday_ns(),
        }
    }
}

#[inline(always)]
fn gettimeofday_ns() -> i64 {
    let mut t = libc::timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    // SAFETY: `t` is a valid timeval; the time zone argument may be null.
    unsafe { libc::gettimeofday(&mut t, std::ptr::null_mut()) };
    #[allow(clippy::unnecessary_cast)]
    let ns = t.tv_sec as i64 * 1_000_000_000 + t.tv_usec as i64 * 1_000;
    ns
}

/// The clocks read one after the other, as quickly as they can be.
pub fn clock_tuple() -> ClockTuple {
    ClockTuple {
        counter: read_counter(),
        monotonic_ns: now_ns(libc::CLOCK_MONOTONIC),
        monotonic_raw_ns: now_ns(libc::CLOCK_MONOTONIC_RAW),
        realtime_ns: now_ns(libc::CLOCK_REALTIME),
    }
}

/// Turns stamps of a clock into CLOCK_MONOTONIC times and ns, after sampling.
#[derive(Clone, Copy)]
pub struct ToMonotonic {
    ns_per_step: f64,
    from: (i64, i64),
}

impl ToMonotonic {
    /// Ties `clock` to CLOCK_MONOTONIC now. The tightest of several readings
    /// is used, so that the tie is good to about the cost of one read.
    pub fn new(clock: Clock) -> Result<ToMonotonic, ProbeError> {
        let ns_per_step = match clock {
            Clock::Counter => {
                let f = counter_frequency().ok_or_else(|| {
                    ProbeError("this processor lets user space read no counter".into())
                })?;
                1e9 / f.hz
            }
            _ => 1.0,
        };
        let reading = |_| {
            let before = now_ns(libc::CLOCK_MONOTONIC);
            let stamp = clock.stamp();
            let after = now_ns(libc::CLOCK_MONOTONIC);
            (after - before, stamp, before + (after - before) / 2)
        };
        // The list is not empty, so the fallback is never taken.
        let best = (0..16).map(reading).min().unwrap_or((0, 0, 0));
        Ok(ToMonotonic {
            ns_per_step,
            from: (best.1, best.2),
        })
    }

    /// A difference of two stamps, ns.
    pub fn interval_ns(&self, steps: i64) -> i64 {
        (steps as f64 * self.ns_per_step).round() as i64
    }

    /// A stamp as CLOCK_MONOTONIC, ns.
    pub fn time_ns(&self, stamp: i64) -> i64 {
        self.from.1 + self.interval_ns(stamp.wrapping_sub(self.from.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for clock in Clock::ALL {
            assert_eq!(Clock::from_name(clock.name()), Some(clock));
        }
        assert_eq!(Clock::from_name("wall"), None);
    }

    #[test]
    fn every_clock_converts_to_monotonic() {
        for clock in Clock::ALL {
            let Ok(to) = ToMonotonic::new(clock) else {
                assert_eq!(read_counter(), None);
                continue;
            };
            let before = now_ns(libc::CLOCK_MONOTONIC);
            let stamp = clock.stamp();
            let after = now_ns(libc::CLOCK_MONOTONIC);
            // Generous: the host may deschedule this test at any point.
            let time = to.time_ns(stamp);
            assert!(time > before - 1_000_000_000 && time < after + 1_000_000_000);
        }
    }
}
