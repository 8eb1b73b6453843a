// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The verdict on one bound of one figure.

use crate::figure::{Figure, Number, Unit, thousands};
use crate::figures::{Bounded, Selected};
use crate::limits::{Bound, Side};
use rtperf_record::Stat;

/// What became of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Pass,
    /// The data cannot tell.
    Unusable,
    /// Proven to be on the wrong side.
    Miss,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Miss => "miss",
            Verdict::Unusable => "unusable",
        }
    }
}

/// A verdict and what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    pub verdict: Verdict,
    /// Why it is no pass, in one sentence; empty for a pass.
    pub reason: String,
    pub value: Option<Figure>,
    /// Bounds of a percentile, 95 % each.
    pub confidence: Option<(Figure, Figure)>,
}

impl Judgement {
    pub fn unusable(reason: impl Into<String>) -> Judgement {
        Judgement {
            verdict: Verdict::Unusable,
            reason: reason.into(),
            value: None,
            confidence: None,
        }
    }
}

/// Judges `stat` of the selected samples against one bound.
pub fn judge(selected: &Selected, stat: Stat, bound: &Bound, expected_n: u64) -> Judgement {
    let ppm = match stat {
        Stat::Percentile(ppm) => ppm,
        Stat::Median => 500_000,
        _ => {
            return match selected.plain(stat, expected_n) {
                Ok(number) => observed(stat, number, bound),
                Err(why) => Judgement::unusable(why),
            };
        }
    };
    match selected.percentile(ppm) {
        Ok(bounded) => percentile(bounded, selected.n(), bound),
        Err(needed) => Judgement::unusable(format!(
            "{stat} needs {} samples for 95 % confidence, it has {}",
            thousands(needed),
            thousands(selected.n()),
        )),
    }
}

/// Everything but percentiles: the observed value is compared as it is.
pub fn observed(stat: Stat, number: Number, bound: &Bound) -> Judgement {
    let value = Figure::new(number, Unit::of(stat));
    let holds = bound.holds(number);
    Judgement {
        verdict: if holds { Verdict::Pass } else { Verdict::Miss },
        reason: if holds {
            String::new()
        } else {
            format!("{value} is {} {}", beyond(bound.side), bound.value)
        },
        value: Some(value),
        confidence: None,
    }
}

/// A percentile passes when it is proven to hold the bound and misses when it
/// is proven not to; between the two the samples cannot tell.
pub fn percentile(p: Bounded, n: u64, bound: &Bound) -> Judgement {
    let ns = |value| Figure::new(Number::Int(value), Unit::Ns);
    let (safe, worst) = match bound.side {
        Side::AtMost => (p.lower, p.upper),
        Side::AtLeast => (p.upper, p.lower),
    };
    let limit = bound.value;
    let (verdict, reason) = if bound.holds(Number::Int(worst)) {
        (Verdict::Pass, String::new())
    } else if bound.holds(Number::Int(safe)) {
        let (n, lower, upper) = (thousands(n), ns(p.lower), ns(p.upper));
        let why =
            format!("{n} samples place it between {lower} and {upper}, on both sides of {limit}");
        (Verdict::Unusable, format!("undecided: {why}; take more"))
    } else {
        let (value, safe, beyond) = (ns(p.value), ns(safe), beyond(bound.side));
        let least = if bound.side == Side::AtMost {
            "least"
        } else {
            "most"
        };
        let why =
            format!("{value} is {beyond} {limit}; with 95 % confidence it is at {least} {safe}");
        (Verdict::Miss, why)
    };
    Judgement {
        verdict,
        reason,
        value: Some(ns(p.value)),
        confidence: Some((ns(p.lower), ns(p.upper))),
    }
}

fn beyond(side: Side) -> &'static str {
    match side {
        Side::AtMost => "over",
        Side::AtLeast => "under",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Selection;
    use rtperf_record::Sample;

    /// Latencies 1 ns to 1000 ns, one each: p90 is 900, its bounds are
    /// samples, so their rank is their value.
    fn ladder() -> Vec<Sample> {
        let sample = |latency_ns| Sample {
            latency_ns,
            ..Sample::default()
        };
        (1..=1_000).map(sample).collect()
    }

    fn verdict(stat: Stat, side: Side, limit: i64) -> Judgement {
        let all = ladder();
        let value = Figure::new(Number::Int(limit), Unit::of(stat));
        judge(
            &Selected::new(&all, &Selection::default()),
            stat,
            &Bound { side, value },
            1_000,
        )
    }

    #[test]
    fn percentiles_are_judged_by_their_bounds() {
        let p90 = Stat::Percentile(900_000);
        let (lower, upper) = (
            rtperf_stats::lower_rank(1_000, 900_000).unwrap() as i64,
            rtperf_stats::upper_rank(1_000, 900_000).unwrap() as i64,
        );
        assert!((870..900).contains(&lower) && (901..930).contains(&upper));
        for (side, limit, want) in [
            (Side::AtMost, upper, Verdict::Pass),
            (Side::AtMost, upper - 1, Verdict::Unusable),
            // The observed p90 holds this one, which proves nothing.
            (Side::AtMost, 900, Verdict::Unusable),
            (Side::AtMost, lower, Verdict::Unusable),
            (Side::AtMost, lower - 1, Verdict::Miss),
            (Side::AtLeast, lower, Verdict::Pass),
            (Side::AtLeast, lower + 1, Verdict::Unusable),
            (Side::AtLeast, upper, Verdict::Unusable),
            (Side::AtLeast, upper + 1, Verdict::Miss),
        ] {
            let j = verdict(p90, side, limit);
            assert_eq!(j.verdict, want, "{side:?} {limit}: {}", j.reason);
            assert_eq!(j.reason.is_empty(), want == Verdict::Pass);
            assert_eq!(j.value, Some(Figure::new(Number::Int(900), Unit::Ns)));
        }
        assert!(verdict(p90, Side::AtMost, 900).reason.contains("take more"));
    }

    #[test]
    fn the_median_is_p50() {
        for limit in [400, 500, 510, 600] {
            let p50 = verdict(Stat::Percentile(500_000), Side::AtMost, limit);
            assert_eq!(verdict(Stat::Median, Side::AtMost, limit), p50);
        }
    }

    #[test]
    fn an_unsupported_percentile_says_what_it_needs() {
        let j = verdict(Stat::Percentile(999_900), Side::AtMost, 1_000_000);
        assert_eq!(j.verdict, Verdict::Unusable);
        assert_eq!(
            j.reason,
            "p99.99 needs 29,956 samples for 95 % confidence, it has 1,000"
        );
        assert_eq!(j.value, None);
    }

    #[test]
    fn observed_values_are_compared_as_they_are() {
        for (stat, side, limit, want) in [
            (Stat::Max, Side::AtMost, 1_000, Verdict::Pass),
            (Stat::Max, Side::AtMost, 999, Verdict::Miss),
            (Stat::Mean, Side::AtMost, 500, Verdict::Miss), // 500.5
            (Stat::Mean, Side::AtMost, 501, Verdict::Pass),
            (Stat::N, Side::AtLeast, 1_000, Verdict::Pass),
            (Stat::N, Side::AtLeast, 1_001, Verdict::Miss),
            (Stat::Lost, Side::AtMost, 0, Verdict::Pass),
        ] {
            let j = verdict(stat, side, limit);
            assert_eq!(j.verdict, want, "{stat} {side:?} {limit}: {}", j.reason);
        }
        assert_eq!(
            verdict(Stat::Mean, Side::AtMost, 500).reason,
            "500.5ns is over 500ns"
        );
        assert_eq!(
            verdict(Stat::N, Side::AtLeast, 1_001).reason,
            "1,000 is under 1,001"
        );
    }

    #[test]
    fn a_verdict_never_passes_both_ways_nor_misses_what_it_observed() {
        for limit in 850..950 {
            let p90 = Stat::Percentile(900_000);
            let most = verdict(p90, Side::AtMost, limit).verdict;
            let least = verdict(p90, Side::AtLeast, limit).verdict;
            assert!(
                !(most == Verdict::Pass && least == Verdict::Pass),
                "{limit}"
            );
            assert!(limit < 900 || most != Verdict::Miss, "{limit}");
            assert!(limit > 900 || least != Verdict::Miss, "{limit}");
        }
    }
}
