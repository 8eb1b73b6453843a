// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a clock costs to read and how fine it is, measured on the board.

use crate::clock::{now_ns, Clock};
use crate::counter::{counter_frequency, read_counter};
use rtperf_record::ClockInfo;

const BATCHES: usize = 20;
const READS: usize = 500;

/// Measures `clock`; `None` where it cannot be read.
pub fn clock_info(clock: Clock) -> Option<ClockInfo> {
    let frequency = match clock {
        Clock::Counter => Some(counter_frequency()?),
        _ => None,
    };
    let ns_per_step = frequency.map_or(1.0, |f| 1e9 / f.hz);
    let step = match clock {
        // The counter counts exactly: the divisor of all its differences.
        Clock::Counter => differences(clock).into_iter().fold(0, gcd).max(1),
        _ => step_of(&differences(clock)),
    };
    Some(ClockInfo {
        name: clock.name().to_owned(),
        granularity_ns: step as f64 * ns_per_step,
        read_cost_ns: read_cost_ns(clock),
        frequency_hz: frequency.map(|f| f.hz),
        frequency_source: frequency.map(|f| f.source.to_owned()),
    })
}

/// Mean cost of a read in the cheapest of several batches, by a clock finer
/// than one read.
fn read_cost_ns(clock: Clock) -> f64 {
    let ruler = if read_counter().is_some() {
        Clock::Counter
    } else {
        Clock::Monotonic
    };
    let ns_per_step = match ruler {
        Clock::Counter => counter_frequency().map_or(1.0, |f| 1e9 / f.hz),
        _ => 1.0,
    };
    let batch = |_| {
        let start = ruler.stamp();
        for _ in 0..READS {
            std::hint::black_box(clock.stamp());
        }
        ruler.stamp() - start
    };
    let best = (0..BATCHES).map(batch).min().unwrap_or(0);
    best as f64 * ns_per_step / READS as f64
}

/// Positive differences between consecutive reads, for at most 50 ms: a clock
/// that ticks with the jiffies yields few.
fn differences(clock: Clock) -> Vec<u64> {
    let mut out = Vec::with_capacity(BATCHES * READS);
    let end = now_ns(libc::CLOCK_MONOTONIC) + 50_000_000;
    let mut last = clock.stamp();
    while out.len() < BATCHES * READS && now_ns(libc::CLOCK_MONOTONIC) < end {
        let mut next = clock.stamp();
        // A coarse clock shows its step only when it moves.
        while next == last {
            next = clock.stamp();
        }
        if next > last {
            out.push(next.abs_diff(last));
        }
        last = next;
    }
    out
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

/// The largest step of which all small differences are multiples, give or
/// take the 1 ns by which a clock rounds its steps.
fn step_of(differences: &[u64]) -> u64 {
    let Some(&least) = differences.iter().min() else {
        return 1;
    };
    // Rounded steps drift apart over many of them: look at few.
    let small = |d: &&u64| **d <= least.saturating_mul(4);
    let fits = |step: u64| {
        differences.iter().filter(small).all(|d| {
            let rest = d % step;
            rest.min(step - rest) <= 1
        })
    };
    // Any difference is within 1 of a multiple of 3 or less.
    (4..=least.min(1_000_000))
        .rev()
        .find(|s| fits(*s))
        .unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_found_through_rounding() {
        assert_eq!(step_of(&[20, 30, 40, 20, 31, 50]), 10);
        assert_eq!(step_of(&[1_000, 1_000, 2_000]), 1_000);
        assert_eq!(step_of(&[21, 22, 23, 24, 25, 30]), 1);
        assert_eq!(step_of(&[]), 1);
        assert_eq!([52u64, 78, 26].into_iter().fold(0, gcd), 26);
    }

    #[test]
    fn every_clock_has_a_cost_and_a_step() {
        for clock in Clock::ALL {
            if let Some(info) = clock_info(clock) {
                assert!(
                    info.read_cost_ns > 0.0 && info.granularity_ns > 0.0,
                    "{info:?}"
                );
            }
        }
        let micro = clock_info(Clock::Gettimeofday).unwrap();
        assert_eq!(micro.granularity_ns % 1_000.0, 0.0, "{micro:?}");
    }
}
