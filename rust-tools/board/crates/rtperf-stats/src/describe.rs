// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Descriptive statistics of sorted samples, without allocating.

use crate::quantile::nearest_rank;

/// What a sample set looks like. All in the samples' unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Description {
    pub n: u64,
    pub min: i64,
    pub mean: f64,
    pub max: i64,
    /// Sample standard deviation (n − 1); 0 for one sample.
    pub sd: f64,
    /// The sample of rank ⌈n/2⌉.
    pub median: i64,
    /// Median of the absolute deviations from the median, unscaled.
    pub mad: i64,
}

/// Describes samples given by an accessor over their sorted order, so that a
/// caller need not copy them out of larger records.
///
/// Returns `None` for no samples. `at(i)` must not decrease with `i`.
pub fn describe(n: usize, at: impl Fn(usize) -> i64) -> Option<Description> {
    if n == 0 {
        return None;
    }
    let total: i128 = (0..n).map(|i| i128::from(at(i))).sum();
    let mean = total as f64 / n as f64;
    // Two passes: a running sum of squares would lose the digits of a small
    // spread around a large mean.
    let squares: f64 = (0..n).map(|i| (at(i) as f64 - mean).powi(2)).sum();
    let middle = nearest_rank(n as u64, 500_000) as usize - 1;
    Some(Description {
        n: n as u64,
        min: at(0),
        mean,
        max: at(n - 1),
        sd: if n > 1 {
            (squares / (n - 1) as f64).sqrt()
        } else {
            0.0
        },
        median: at(middle),
        mad: mad(n, middle, &at),
    })
}

/// The deviations grow on both sides of the median: merging the two sides
/// yields them in order, and the one of the median's rank is the MAD.
fn mad(n: usize, middle: usize, at: &impl Fn(usize) -> i64) -> i64 {
    let median = at(middle);
    // `left` samples remain below, `right` is the next one above.
    let (mut left, mut right) = (middle + 1, middle + 1);
    let mut deviation = 0;
    for _ in 0..=middle {
        let below = (left > 0).then(|| median.abs_diff(at(left - 1)));
        let above = (right < n).then(|| at(right).abs_diff(median));
        match (below, above) {
            (Some(b), Some(a)) if a < b => (deviation, right) = (a, right + 1),
            (Some(b), _) => (deviation, left) = (b, left - 1),
            (None, Some(a)) => (deviation, right) = (a, right + 1),
            (None, None) => break,
        }
    }
    i64::try_from(deviation).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[i64]) -> Description {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        describe(sorted.len(), |i| sorted[i]).unwrap()
    }

    #[test]
    fn small_sets_by_hand() {
        let d = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((d.n, d.min, d.max, d.median, d.mad), (8, 2, 9, 4, 1));
        assert_eq!(d.mean, 5.0);
        assert!((d.sd - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        let one = of(&[-7]);
        assert_eq!((one.min, one.median, one.mad, one.sd), (-7, -7, 0, 0.0));
        assert_eq!(describe(0, |_| 0), None);
    }

    #[test]
    fn mad_is_the_median_deviation() {
        let mut state = 7u64;
        for n in 1..200usize {
            let mut v: Vec<i64> = Vec::new();
            for _ in 0..n {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                v.push((state >> 50) as i64 - 5_000);
            }
            let d = of(&v);
            let mut deviations: Vec<u64> = v.iter().map(|x| x.abs_diff(d.median)).collect();
            deviations.sort_unstable();
            assert_eq!(d.mad as u64, deviations[n.div_ceil(2) - 1], "n={n}");
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        let d = of(&[i64::MIN, 0, i64::MAX]);
        assert_eq!((d.min, d.max, d.median), (i64::MIN, i64::MAX, 0));
        assert_eq!(d.mad, i64::MAX);
    }
}
