// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Samples of one quantity in bounded memory: all of them while they are few,
//! then counted in classes of three digits. Number, extremes, mean and the
//! worst instances are exact throughout.

use rtperf_stats::{nearest_rank, supported};

/// Samples kept one by one.
const EXACT: usize = 16_384;
/// Worst instances kept with their time.
const WORST: usize = 5;

/// One instance, with what is needed to find it in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instance {
    pub value_ns: i64,
    /// When it began.
    pub time_ns: i64,
    pub cpu: u32,
}

#[derive(Debug, Clone, Default)]
pub struct Series {
    n: u64,
    sum: i128,
    min: i64,
    max: i64,
    exact: Vec<i64>,
    bins: Option<Box<Bins>>,
    /// Longest first.
    worst: Vec<Instance>,
    /// Instances that overlap lost events: some may be two in truth.
    suspect: u64,
}

impl Series {
    pub fn record(&mut self, value_ns: i64, time_ns: i64, cpu: u32) {
        if self.n == 0 {
            (self.min, self.max) = (value_ns, value_ns);
        }
        self.n += 1;
        self.sum += i128::from(value_ns);
        self.min = self.min.min(value_ns);
        self.max = self.max.max(value_ns);
        match &mut self.bins {
            Some(bins) => bins.add(value_ns),
            None if self.exact.len() < EXACT => self.exact.push(value_ns),
            None => {
                let mut bins = Box::<Bins>::default();
                self.exact.drain(..).for_each(|v| bins.add(v));
                self.exact.shrink_to_fit();
                bins.add(value_ns);
                self.bins = Some(bins);
            }
        }
        let longer = |w: &Instance| value_ns > w.value_ns;
        if self.worst.len() < WORST || self.worst.last().is_some_and(longer) {
            self.keep(Instance {
                value_ns,
                time_ns,
                cpu,
            });
        }
    }

    fn keep(&mut self, instance: Instance) {
        let at = self
            .worst
            .partition_point(|w| w.value_ns >= instance.value_ns);
        self.worst.insert(at, instance);
        self.worst.truncate(WORST);
    }

    pub fn suspect(&mut self) {
        self.suspect += 1;
    }

    pub fn n(&self) -> u64 {
        self.n
    }

    pub fn suspects(&self) -> u64 {
        self.suspect
    }

    pub fn worst(&self) -> &[Instance] {
        &self.worst
    }

    /// Adds the samples of another series, as if recorded here.
    pub fn merge(&mut self, other: &Series) {
        if other.n == 0 {
            return;
        }
        let (n, sum, min, max) = (self.n, self.sum, self.min, self.max);
        let worst = std::mem::take(&mut self.worst);
        other.for_each(|value, count| (0..count).for_each(|_| self.record(value, 0, 0)));
        self.n = n + other.n;
        self.sum = sum + other.sum;
        self.min = if n == 0 {
            other.min
        } else {
            min.min(other.min)
        };
        self.max = if n == 0 {
            other.max
        } else {
            max.max(other.max)
        };
        self.worst = worst;
        other.worst.iter().for_each(|w| self.keep(*w));
        self.suspect += other.suspect;
    }

    /// Values in no order with how often each was seen.
    fn for_each(&self, mut take: impl FnMut(i64, u64)) {
        match &self.bins {
            Some(bins) => bins.for_each(take),
            None => self.exact.iter().for_each(|v| take(*v, 1)),
        }
    }

    /// Whether single samples are known, not only their class.
    pub fn is_exact(&self) -> bool {
        self.bins.is_none()
    }

    /// All samples in order; beyond 16,384 each stands for its class, at the
    /// class's upper end (at most 0.1 % above the sample).
    pub fn sorted(&self) -> Vec<i64> {
        let mut all = Vec::with_capacity(self.n as usize);
        self.for_each(|value, count| {
            all.extend(std::iter::repeat_n(value.min(self.max), count as usize))
        });
        all.sort_unstable();
        all
    }

    /// How many samples are above `bound`.
    pub fn above(&self, bound: i64) -> u64 {
        let mut n = 0;
        self.for_each(|value, count| n += if value > bound { count } else { 0 });
        n
    }

    pub fn summary(&self) -> Option<Summary> {
        if self.n == 0 {
            return None;
        }
        let mut classes = vec![];
        self.for_each(|value, count| classes.push((value, count)));
        classes.sort_unstable();
        let quantile = |ppm: u32| {
            let mut rank = nearest_rank(self.n, ppm);
            for (value, count) in &classes {
                if rank <= *count {
                    return (*value).min(self.max);
                }
                rank -= count;
            }
            self.max
        };
        Some(Summary {
            n: self.n,
            min_ns: self.min,
            mean_ns: self.sum as f64 / self.n as f64,
            max_ns: self.max,
            p50_ns: quantile(500_000),
            p99_ns: supported(self.n, 990_000).then(|| quantile(990_000)),
            exact: self.is_exact(),
            suspect: self.suspect,
        })
    }
}

/// What is told of a series.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Summary {
    pub n: u64,
    pub min_ns: i64,
    pub mean_ns: f64,
    pub p50_ns: i64,
    /// Absent where there are too few samples to speak of it.
    pub p99_ns: Option<i64>,
    pub max_ns: i64,
    /// Percentiles are samples; else upper ends of classes of three digits.
    pub exact: bool,
    /// How many of `n` overlap lost events.
    pub suspect: u64,
}

/// Classes per power of two.
const PER_OCTAVE: u64 = 1024;

/// Counts by class. A power of two gets its 1024 classes when it is first
/// needed.
#[derive(Debug, Clone, Default)]
struct Bins {
    positive: Side,
    negative: Side,
}

type Side = Vec<Vec<u64>>;

impl Bins {
    fn add(&mut self, value: i64) {
        let side = if value < 0 {
            &mut self.negative
        } else {
            &mut self.positive
        };
        let (octave, class) = place(value.unsigned_abs());
        if side.len() <= octave {
            side.resize(octave + 1, vec![]);
        }
        if side[octave].is_empty() {
            side[octave] = vec![0; PER_OCTAVE as usize];
        }
        side[octave][class] += 1;
    }

    fn for_each(&self, mut take: impl FnMut(i64, u64)) {
        for (side, negative) in [(&self.negative, true), (&self.positive, false)] {
            for (octave, classes) in side.iter().enumerate() {
                for (class, count) in classes.iter().enumerate().filter(|(_, c)| **c > 0) {
                    let (low, high) = limits(octave, class as u64);
                    let clamp = |v: u64| i64::try_from(v).unwrap_or(i64::MAX);
                    // The upper end: nothing looks better than it was.
                    let value = if negative { -clamp(low) } else { clamp(high) };
                    take(value, *count);
                }
            }
        }
    }
}

/// Octave 0 holds 0 to 1023 one by one, octave k the classes of width
/// 2^(k−1) from 1024·2^(k−1) on.
fn place(value: u64) -> (usize, usize) {
    if value < PER_OCTAVE {
        return (0, value as usize);
    }
    let octave = 64 - value.leading_zeros() as usize - 10;
    let class = (value >> (octave - 1)) - PER_OCTAVE;
    (octave, class as usize)
}

fn limits(octave: usize, class: u64) -> (u64, u64) {
    if octave == 0 {
        return (class, class);
    }
    let low = (PER_OCTAVE + class) << (octave - 1);
    (low, low + ((1 << (octave - 1)) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_their_values_within_a_thousandth() {
        for value in [
            0,
            1,
            1023,
            1024,
            2047,
            2048,
            2049,
            123_456_789,
            u64::MAX / 2,
        ] {
            let (octave, class) = place(value);
            let (low, high) = limits(octave, class as u64);
            assert!(low <= value && value <= high, "{value}: {low} {high}");
            assert!(high - low <= value / 1000, "{value}: {low} {high}");
        }
    }

    #[test]
    fn many_samples_stay_near_the_truth() {
        let mut s = Series::default();
        let n = 100_000i64;
        for i in 0..n {
            s.record(i * 7919 % n * 10 - 1000, i, 0);
        }
        let sum = s.summary().unwrap();
        assert!(!sum.exact);
        assert_eq!(
            (sum.n, sum.min_ns, sum.max_ns),
            (n as u64, -1000, (n - 1) * 10 - 1000)
        );
        let p99 = (n * 99 / 100 - 1) * 10 - 1000;
        let got = sum.p99_ns.unwrap();
        assert!(got >= p99 && got <= p99 + p99 / 500, "{got} {p99}");
        assert_eq!(s.worst().len(), 5);
        assert_eq!(s.worst()[0].value_ns, sum.max_ns);
        assert_eq!(s.sorted().len(), n as usize);
        assert_eq!(s.sorted().last(), Some(&sum.max_ns));
    }

    #[test]
    fn few_samples_are_exact() {
        let mut s = Series::default();
        for v in [5, 3, 9, 1] {
            s.record(v, 100 + v, 2);
        }
        let sum = s.summary().unwrap();
        assert_eq!((sum.p50_ns, sum.p99_ns, sum.mean_ns), (3, None, 4.5));
        assert_eq!(s.sorted(), [1, 3, 5, 9]);
        assert_eq!(s.above(3), 2);
        assert_eq!(
            s.worst()[0],
            Instance {
                value_ns: 9,
                time_ns: 109,
                cpu: 2
            }
        );
        assert!(Series::default().summary().is_none());
    }

    #[test]
    fn merging_is_recording_together() {
        let (mut a, mut b, mut both) = (Series::default(), Series::default(), Series::default());
        for i in 0..20_000 {
            let s = if i % 2 == 0 { &mut a } else { &mut b };
            s.record(i * 31 % 977, i, 1);
            both.record(i * 31 % 977, i, 1);
        }
        a.merge(&b);
        let mut empty = Series::default();
        empty.merge(&a);
        assert_eq!(
            empty.summary().unwrap().p99_ns,
            both.summary().unwrap().p99_ns
        );
        assert_eq!(empty.sorted(), both.sorted());
        // Of equally long ones, others may be kept.
        let values = |s: &Series| s.worst().iter().map(|w| w.value_ns).collect::<Vec<_>>();
        assert_eq!(values(&empty), values(&both));
    }
}
