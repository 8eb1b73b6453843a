// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Statistics of one selection of samples, always from the samples
//! themselves: what the board wrote into its summary is not looked at.

use crate::figure::Number;
use crate::limits::Selection;
use rtperf_record::{Sample, Stat, flags};
use rtperf_stats::{describe, lower_rank, nearest_rank, upper_rank};
use std::collections::BTreeSet;

/// The samples that a limit is about.
pub struct Selected<'a> {
    /// All samples of the measurement, as recorded.
    all: &'a [Sample],
    selection: Selection,
    /// Latencies of the selection, in rising order.
    sorted: Vec<i64>,
}

/// A percentile and the samples that bound it from both sides, each at 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounded {
    pub value: i64,
    pub lower: i64,
    pub upper: i64,
}

impl<'a> Selected<'a> {
    pub fn new(all: &'a [Sample], selection: &Selection) -> Selected<'a> {
        let taken = all.iter().filter(|s| selection.takes(s));
        let mut sorted: Vec<i64> = taken.map(|s| s.latency_ns).collect();
        sorted.sort_unstable();
        Selected {
            all,
            selection: selection.clone(),
            sorted,
        }
    }

    /// Of values that come without anything else, in rising order.
    pub fn of_sorted(sorted: Vec<i64>) -> Selected<'static> {
        Selected {
            all: &[],
            selection: Selection::default(),
            sorted,
        }
    }

    pub fn n(&self) -> u64 {
        self.sorted.len() as u64
    }

    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.all.iter().filter(|s| self.selection.takes(s))
    }

    /// A percentile with its bounds, or how many samples it needs.
    pub fn percentile(&self, ppm: u32) -> Result<Bounded, u64> {
        let n = self.n();
        let (Some(lower), Some(upper)) = (lower_rank(n, ppm), upper_rank(n, ppm)) else {
            return Err(needed(ppm));
        };
        let at = |rank: u64| self.sorted[rank as usize - 1];
        Ok(Bounded {
            value: at(nearest_rank(n, ppm)),
            lower: at(lower),
            upper: at(upper),
        })
    }

    /// Any statistic that is no percentile. `expected_n` is what the plan
    /// asked for.
    pub fn plain(&self, stat: Stat, expected_n: u64) -> Result<Number, String> {
        let int = |n: u64| Number::Int(i64::try_from(n).unwrap_or(i64::MAX));
        match stat {
            Stat::N => return Ok(int(self.n())),
            Stat::Overruns => {
                let over = self.samples().filter(|s| s.flags & flags::OVERRUN != 0);
                return Ok(int(over.count() as u64));
            }
            Stat::Lost => return self.lost(expected_n).map(int),
            Stat::Rate => return self.rate().map(Number::Real),
            Stat::LapMean => return self.lap_mean().map(Number::Real),
            _ => {}
        }
        let d = describe(self.sorted.len(), |i| self.sorted[i]).ok_or("it has no sample")?;
        match stat {
            Stat::Min => Ok(Number::Int(d.min)),
            Stat::Max => Ok(Number::Int(d.max)),
            Stat::Mad => Ok(Number::Int(d.mad)),
            Stat::Mean => Ok(Number::Real(d.mean)),
            Stat::Sd if d.n < 2 => Err("a deviation needs 2 samples, it has 1".to_owned()),
            Stat::Sd => Ok(Number::Real(d.sd)),
            _ => Err(format!("'{stat}' is a percentile")),
        }
    }

    fn lost(&self, expected_n: u64) -> Result<u64, String> {
        if !self.selection.is_all() {
            return Err("'lost' is known of whole measurements only; \
                        leave 'phase' and 'task' out of the limit"
                .to_owned());
        }
        expected_n.checked_sub(self.n()).ok_or_else(|| {
            format!(
                "it has {} samples where the plan asked for {expected_n}",
                self.n()
            )
        })
    }

    /// Samples per second between the first and the last one.
    fn rate(&self) -> Result<f64, String> {
        let first = self.samples().map(|s| s.time_ns).min().unwrap_or(0);
        let last = self.samples().map(|s| s.time_ns).max().unwrap_or(0);
        let span = i128::from(last) - i128::from(first);
        if self.n() < 2 || span == 0 {
            return Err("a rate needs 2 samples at different times".to_owned());
        }
        Ok((self.n() - 1) as f64 * 1e9 / span as f64)
    }

    /// Mean latency over complete rounds: those with exactly one sample of
    /// every task that has any, all of them in the selection. A round that
    /// was cut off would weigh its tasks unevenly.
    fn lap_mean(&self) -> Result<f64, String> {
        let tasks: BTreeSet<u16> = self.all.iter().map(|s| s.task).collect();
        let mut by_round: Vec<&Sample> = self.all.iter().collect();
        by_round.sort_unstable_by_key(|s| (s.round, s.task));
        let complete = |round: &&[&Sample]| {
            round.iter().map(|s| s.task).eq(tasks.iter().copied())
                && round.iter().all(|s| self.selection.takes(s))
        };
        let (mut total, mut n) = (0i128, 0u64);
        for round in by_round
            .chunk_by(|a, b| a.round == b.round)
            .filter(complete)
        {
            total += round.iter().map(|s| i128::from(s.latency_ns)).sum::<i128>();
            n += round.len() as u64;
        }
        if n == 0 {
            return Err("it has no complete round".to_owned());
        }
        Ok(total as f64 / n as f64)
    }
}

impl Selection {
    pub fn takes(&self, sample: &Sample) -> bool {
        self.phase.is_none_or(|p| p == sample.phase) && self.task.is_none_or(|t| t == sample.task)
    }
}

/// Smallest sample count that bounds the percentile from both sides.
fn needed(ppm: u32) -> u64 {
    // Both bounds exist from some count on: pⁿ ≤ 0.05 and (1 − p)ⁿ ≤ 0.05.
    let enough = |n: &u64| lower_rank(*n, ppm).is_some() && upper_rank(*n, ppm).is_some();
    let mut high = 1u64;
    while !enough(&high) {
        high *= 2;
    }
    let (mut low, mut high) = (high / 2 + 1, high);
    while low < high {
        let middle = low + (high - low) / 2;
        if enough(&middle) {
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
    use rtperf_record::phase;

    fn samples(latencies: &[i64], tasks: u16) -> Vec<Sample> {
        let sample = |(i, &latency_ns): (usize, &i64)| Sample {
            time_ns: i as i64 * 1_000_000,
            latency_ns,
            round: i as u32 / u32::from(tasks),
            task: i as u16 % tasks,
            phase: if i % 2 == 0 { phase::BEGIN } else { phase::END },
            flags: if latency_ns < 0 { flags::OVERRUN } else { 0 },
        };
        latencies.iter().enumerate().map(sample).collect()
    }

    fn plain(all: &[Sample], stat: Stat) -> Result<Number, String> {
        Selected::new(all, &Selection::default()).plain(stat, 10)
    }

    #[test]
    fn known_answers() {
        let all = samples(&[2, 4, 4, 4, 5, 5, 7, 9], 1);
        for (stat, want) in [
            (Stat::N, Number::Int(8)),
            (Stat::Min, Number::Int(2)),
            (Stat::Max, Number::Int(9)),
            (Stat::Mean, Number::Real(5.0)),
            (Stat::Sd, Number::Real((32.0f64 / 7.0).sqrt())),
            (Stat::Mad, Number::Int(1)),
            (Stat::Lost, Number::Int(2)),
            (Stat::Overruns, Number::Int(0)),
            (Stat::LapMean, Number::Real(5.0)),
            (Stat::Rate, Number::Real(1_000.0)),
        ] {
            assert_eq!(plain(&all, stat), Ok(want), "{stat}");
        }
    }

    #[test]
    fn lap_mean_leaves_out_a_cut_off_round() {
        // Rounds (10, 20), (30, 40) and a lone 900 that would weigh task 0.
        let all = samples(&[10, 20, 30, 40, 900], 2);
        assert_eq!(plain(&all, Stat::LapMean), Ok(Number::Real(25.0)));
        let mut twice = samples(&[10, 20], 2);
        twice.push(twice[1]);
        assert!(plain(&twice, Stat::LapMean).is_err());
    }

    #[test]
    fn selections_take_their_samples_only() {
        let all = samples(&[1, 100, 3, 300], 2);
        let end = Selection {
            phase: Some(phase::END),
            task: None,
        };
        let selected = Selected::new(&all, &end);
        assert_eq!(selected.plain(Stat::Mean, 4), Ok(Number::Real(200.0)));
        assert!(
            selected
                .plain(Stat::Lost, 4)
                .is_err_and(|e| e.contains("'lost'"))
        );
        assert!(
            selected
                .plain(Stat::LapMean, 4)
                .is_err_and(|e| e.contains("no complete round"))
        );
        let none = Selection {
            phase: None,
            task: Some(7),
        };
        assert_eq!(
            Selected::new(&all, &none).plain(Stat::N, 4),
            Ok(Number::Int(0))
        );
    }

    #[test]
    fn too_few_samples_are_an_error() {
        for stat in [Stat::Min, Stat::Mean, Stat::Sd, Stat::LapMean, Stat::Rate] {
            assert!(plain(&[], stat).is_err(), "{stat}");
        }
        let one = samples(&[5], 1);
        assert!(plain(&one, Stat::Sd).is_err() && plain(&one, Stat::Rate).is_err());
        assert!(plain(&samples(&[1; 11], 1), Stat::Lost).is_err_and(|e| e.contains("11")));
    }

    #[test]
    fn hostile_samples_do_not_overflow() {
        let mut all = samples(&[i64::MIN, i64::MAX, i64::MAX], 1);
        (all[0].time_ns, all[1].time_ns) = (i64::MIN, i64::MAX);
        for stat in [Stat::Mean, Stat::Sd, Stat::Mad, Stat::LapMean, Stat::Rate] {
            assert!(
                plain(&all, stat).is_ok_and(|n| n.real().is_finite()),
                "{stat}"
            );
        }
    }

    #[test]
    fn percentiles_say_what_they_need() {
        for (ppm, n) in [
            (500_000, 5),
            (950_000, 59),
            (990_000, 299),
            (999_900, 29_956),
            (10_000, 299),
        ] {
            assert_eq!(needed(ppm), n, "{ppm}");
        }
        let latencies: Vec<i64> = (1..=20).collect();
        let all = samples(&latencies, 1);
        let selected = Selected::new(&all, &Selection::default());
        // Textbook bounds of the median of 20: ranks 6 and 15.
        let median = Bounded {
            value: 10,
            lower: 6,
            upper: 15,
        };
        assert_eq!(selected.percentile(500_000), Ok(median));
        assert_eq!(selected.percentile(990_000), Err(299));
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_samples_give_figures_within_them(
            bytes in proptest::collection::vec(proptest::array::uniform24(0u8..), 1..60),
            ppm in 1u32..1_000_000,
        ) {
            let all: Vec<Sample> = bytes.iter().map(Sample::from_bytes).collect();
            let selected = Selected::new(&all, &Selection::default());
            let (low, high) = (selected.sorted[0], selected.sorted[all.len() - 1]);
            if let Ok(p) = selected.percentile(ppm) {
                let order = [low, p.lower, p.value, p.upper, high];
                proptest::prop_assert!(order.is_sorted(), "{order:?}");
            }
            for stat in [Stat::Mean, Stat::LapMean] {
                if let Ok(number) = selected.plain(stat, 60) {
                    let (low, high) = (low as f64, high as f64);
                    proptest::prop_assert!((low..=high).contains(&number.real()), "{stat}");
                }
            }
            for stat in [Stat::Sd, Stat::Mad, Stat::Rate, Stat::Lost, Stat::Overruns] {
                let _ = selected.plain(stat, 60);
            }
        }
    }
}
