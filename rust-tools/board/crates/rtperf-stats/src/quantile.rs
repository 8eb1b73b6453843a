// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which order statistic is a quantile, and which ones bound it.

use crate::binomial::binomial_cdf;

/// Confidence of every bound.
pub const CONFIDENCE: f64 = 0.95;

/// Percentiles that tables and summaries show, where supported, in ppm.
pub const PRINTED: [u32; 7] = [
    500_000, 900_000, 990_000, 999_000, 999_900, 999_990, 999_999,
];

const MILLION: u128 = 1_000_000;

/// Rank (from 1) of the quantile among `n` sorted samples: the smallest rank
/// with at least that share of the samples at or below it. `n` must not be 0.
pub fn nearest_rank(n: u64, ppm: u32) -> u64 {
    let rank = (u128::from(n) * u128::from(ppm)).div_ceil(MILLION);
    (rank as u64).clamp(1, n.max(1))
}

/// Smallest rank whose sample is at or above the true quantile with
/// [`CONFIDENCE`]; none if even the maximum does not prove that much.
pub fn upper_rank(n: u64, ppm: u32) -> Option<u64> {
    let p = share(ppm);
    // The sample of rank r lies below the quantile when at least r samples do.
    let proves = |rank: u64| binomial_cdf(rank - 1, n, p) >= CONFIDENCE;
    if n == 0 || !proves(n) {
        return None;
    }
    Some(first_true(1, n, proves))
}

/// Largest rank whose sample is at or below the true quantile with
/// [`CONFIDENCE`]; none if even the minimum does not prove that much.
pub fn lower_rank(n: u64, ppm: u32) -> Option<u64> {
    let p = share(ppm);
    let fails = |rank: u64| binomial_cdf(rank - 1, n, p) > 1.0 - CONFIDENCE;
    if n == 0 || fails(1) {
        return None;
    }
    Some(if fails(n) {
        first_true(1, n, fails) - 1
    } else {
        n
    })
}

/// Whether `n` samples say anything about this quantile at [`CONFIDENCE`]:
/// 1 − pⁿ ≥ 0.95. 10,000 samples reach p99.97, p99.99 needs 29,956.
pub fn supported(n: u64, ppm: u32) -> bool {
    -(n as f64 * share(ppm).ln()).exp_m1() >= CONFIDENCE
}

fn share(ppm: u32) -> f64 {
    f64::from(ppm) / 1e6
}

/// First value in `low..=high` for which the monotone `test` holds, given
/// that it holds for `high`.
fn first_true(mut low: u64, mut high: u64, test: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if test(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_exact() {
        assert_eq!(nearest_rank(10_000, 999_000), 9_990);
        assert_eq!(nearest_rank(10_001, 999_000), 9_991);
        assert_eq!(nearest_rank(1, 1), 1);
        assert_eq!(nearest_rank(3, 500_000), 2);
    }

    #[test]
    fn support_starts_where_the_design_says() {
        assert!(supported(10_000, 999_700) && !supported(10_000, 999_800));
        assert!(supported(29_956, 999_900) && !supported(29_955, 999_900));
        assert!(!supported(2_995_000, 999_999) && supported(2_996_000, 999_999));
        for (n, ppm) in [
            (10_000, 999_700),
            (29_956, 999_900),
            (59, 950_000),
            (58, 950_000),
        ] {
            assert_eq!(upper_rank(n, ppm).is_some(), supported(n, ppm), "{n} {ppm}");
        }
        assert!(!supported(0, 500_000));
    }

    #[test]
    fn bounds_enclose_the_quantile() {
        for n in [100, 1_000, 10_000, 1_000_000] {
            for ppm in [500_000, 900_000, 990_000] {
                let Some(upper) = upper_rank(n, ppm) else {
                    continue;
                };
                let rank = nearest_rank(n, ppm);
                let lower = lower_rank(n, ppm).unwrap();
                assert!(
                    lower <= rank && rank <= upper,
                    "{n} {ppm}: {lower} {rank} {upper}"
                );
            }
        }
    }

    #[test]
    fn textbook_bounds_of_the_median() {
        // n = 20, p = 0.5: P(X ≤ 13) = 0.942, P(X ≤ 14) = 0.979; symmetric.
        assert_eq!(upper_rank(20, 500_000), Some(15));
        assert_eq!(lower_rank(20, 500_000), Some(6));
    }

    #[test]
    fn bounds_cover_as_often_as_they_say() {
        // Uniform samples from a fixed generator: the true p90 is known.
        let (n, rounds) = (200, 2_000);
        let (upper, lower) = (
            upper_rank(n, 900_000).unwrap(),
            lower_rank(n, 900_000).unwrap(),
        );
        let mut state = 42u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let (mut above, mut below) = (0, 0);
        for _ in 0..rounds {
            let mut x: Vec<f64> = (0..n).map(|_| next()).collect();
            x.sort_unstable_by(f64::total_cmp);
            above += u32::from(x[upper as usize - 1] >= 0.9);
            below += u32::from(x[lower as usize - 1] <= 0.9);
        }
        assert!(
            above >= 1_880 && below >= 1_880,
            "{above} {below} of {rounds}"
        );
        assert!(above < rounds && below < rounds, "bounds say nothing");
    }
}
