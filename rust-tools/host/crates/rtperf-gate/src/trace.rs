// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Limits on `trace.…`: judged from what an analysis says of the run's trace,
//! by the rules of every other figure, and more strictly where events are
//! lacking.

use crate::clean::clean;
use crate::figure::{Number, thousands};
use crate::figures::{Bounded, Selected};
use crate::judge::{Judgement, Verdict, judge, observed, percentile};
use crate::limits::{Bound, Limit};
use crate::missing::explain;
use crate::report::Judged;
use rtperf_record::{Params, Stat};

/// The pass whose trace is judged.
pub const PASS: &str = "explain";

/// What an analysis says of a run's trace.
pub struct TraceFigures {
    pub lost_events: u64,
    /// Packets that are gone, and nobody knows how many events with them.
    pub lost_packets: u64,
    /// What is wrong with the trace itself, a sentence each.
    pub damage: Vec<String>,
    pub series: Vec<TraceSeries>,
}

/// The samples of one quantity in a trace.
pub struct TraceSeries {
    /// `trace.irq`
    pub measurement: String,
    pub params: Params,
    /// `exec`, where the measurement has several quantities.
    pub part: Option<String>,
    pub n: u64,
    pub mean_ns: f64,
    /// All samples in ns, ascending; asked for only if a limit is about them.
    pub sorted: Box<dyn Fn() -> Vec<i64>>,
    /// Otherwise each sample, but for the first and the last, stands for its
    /// class of three digits, at the class's upper end.
    pub exact: bool,
    /// How many samples touch a time in which events were lost.
    pub suspect: u64,
}

/// Analyses the run's trace; the error is a sentence that says why it cannot.
pub type TraceReader<'a> = dyn Fn() -> Result<TraceFigures, String> + 'a;

/// Whether a limit is about a trace.
pub fn is_trace(limit: &Limit) -> bool {
    limit.metric.measurement.starts_with("trace.")
}

/// `trace.irq` and `exec`, wherever the parameters stood.
pub fn split(path: &str) -> (&str, Option<&str>) {
    let mut dots = path.match_indices('.').map(|(at, _)| at);
    match (path.starts_with("trace."), dots.nth(1)) {
        (true, Some(at)) => (&path[..at], Some(&path[at + 1..])),
        _ => (path, None),
    }
}

/// Judges limits on a trace, given with their index. The trace is looked at
/// only if there are any.
pub fn judge_trace(
    limits: &[(usize, &Limit)],
    lost_allowed: Option<u64>,
    virtual_board: bool,
    read: &TraceReader,
) -> Vec<(usize, Judged)> {
    if limits.is_empty() {
        return Vec::new();
    }
    let mut figures = match read() {
        Ok(figures) => figures,
        Err(why) => return all_unusable(limits, &clean(&why)),
    };
    for series in &mut figures.series {
        // Patterns may name what goes without saying.
        series.params.set("pass", PASS);
        if virtual_board {
            series.params.set("board", "virtual");
        }
    }
    let trust = Trust::of(&figures, lost_allowed);
    let paths: Vec<String> = figures.series.iter().map(TraceSeries::path).collect();
    let mut out = Vec::new();
    for (at, limit) in limits {
        let path = limit.metric.path();
        let matches = |s: &&TraceSeries| s.path() == path && s.params.matches(&limit.metric.params);
        let mut matching = figures.series.iter().filter(matches).peekable();
        if matching.peek().is_none() {
            let params = figures.series.iter().map(|s| s.params.clone());
            let available: Vec<_> = paths.iter().map(String::as_str).zip(params).collect();
            let why = explain(&limit.metric, "the trace has no figure", PASS, &available);
            out.extend(all_unusable(&[(*at, *limit)], &why));
        }
        for series in matching {
            let selected = Selected::of_sorted((series.sorted)());
            let judged = |bound| (*at, series.judged(limit, bound, &selected, &trust));
            out.extend(limit.bounds.iter().map(judged));
        }
    }
    out
}

/// Every bound of these limits as one that matched nothing.
fn all_unusable(limits: &[(usize, &Limit)], why: &str) -> Vec<(usize, Judged)> {
    let each = |(at, limit): &(usize, &Limit)| {
        let of = |bound| (*at, Judged::unmatched(limit, bound, why));
        limit.bounds.iter().map(of).collect::<Vec<_>>()
    };
    limits.iter().flat_map(each).collect()
}

impl TraceSeries {
    fn path(&self) -> String {
        match &self.part {
            Some(part) => format!("{}.{part}", self.measurement),
            None => self.measurement.clone(),
        }
    }

    fn judged(&self, limit: &Limit, bound: &Bound, selected: &Selected, trust: &Trust) -> Judged {
        let mut params = self.params.clone();
        params.0.remove("pass");
        let mut judgement = self.judge(limit, bound, selected);
        if let Some(why) = trust.against(self, limit.metric.stat) {
            judgement.verdict = Verdict::Unusable;
            judgement.reason = why;
        }
        Judged {
            pattern: limit.pattern(),
            matched: true,
            measurement: clean(&self.measurement),
            params: limit.params(&params),
            part: self.part.as_deref().map(clean),
            stat: limit.metric.stat,
            bound: *bound,
            n: Some(self.n),
            judgement,
            notes: self.notes(trust),
        }
    }

    fn judge(&self, limit: &Limit, bound: &Bound, selected: &Selected) -> Judgement {
        let stat = limit.metric.stat;
        let refuse = |why: String| Judgement::unusable(why);
        if !limit.selection.is_all() {
            return refuse(
                "figures of a trace have no 'phase' and no 'task'; \
                           leave them out of the limit"
                    .to_owned(),
            );
        }
        match stat {
            Stat::Lost | Stat::Overruns | Stat::Rate | Stat::LapMean => refuse(format!(
                "'{stat}' is known of measurements only, not of a trace; \
                 it has n, min, mean, max, sd, median, mad and percentiles"
            )),
            Stat::Sd | Stat::Mad if !self.exact => refuse(format!(
                "'{stat}' needs every sample; of these {} only three digits each are kept",
                thousands(self.n)
            )),
            Stat::Mean if !self.exact => observed(stat, Number::Real(self.mean_ns), bound),
            Stat::Median if !self.exact => self.approximate(500_000, stat, bound, selected),
            Stat::Percentile(ppm) if !self.exact => self.approximate(ppm, stat, bound, selected),
            _ => judge(selected, stat, bound, self.n),
        }
    }

    /// A percentile known to three digits holds or misses its limit only if
    /// it does so at both ends of what it may be.
    fn approximate(&self, ppm: u32, stat: Stat, bound: &Bound, selected: &Selected) -> Judgement {
        let high = match selected.percentile(ppm) {
            Ok(high) => high,
            // The sentence about too few samples.
            Err(_) => return judge(selected, stat, bound, self.n),
        };
        let low = Bounded {
            value: lower_end(high.value),
            lower: lower_end(high.lower),
            upper: lower_end(high.upper),
        };
        let at = |bounded| percentile(bounded, self.n, bound);
        let (high, low) = (at(high), at(low));
        if high.verdict == low.verdict {
            return high;
        }
        Judgement {
            verdict: Verdict::Unusable,
            reason: format!(
                "too close to the limit: of {} samples only three digits each are kept",
                thousands(self.n)
            ),
            ..high
        }
    }

    /// What the reader should weigh, whether or not it decided.
    fn notes(&self, trust: &Trust) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(trust.lost.clone());
        if self.suspect > 0 {
            notes.push(format!(
                "{} samples beside lost events",
                thousands(self.suspect)
            ));
        }
        if !self.exact {
            notes.push("percentiles of three digits, up to 0.1 % too high".to_owned());
        }
        notes
    }
}

/// The least that a sample shown as `value` can be.
fn lower_end(value: i64) -> i64 {
    let width = value.unsigned_abs() / 1_000 + 1;
    value.saturating_sub_unsigned(width)
}

/// How far figures of a trace can be believed.
struct Trust {
    /// What was lost, if anything.
    lost: Option<String>,
    /// Why none of the figures can be used.
    void: Option<String>,
    /// The limits file has said how much may be lost.
    allowed: bool,
}

impl Trust {
    fn of(figures: &TraceFigures, allowed: Option<u64>) -> Trust {
        let (events, packets) = (figures.lost_events, figures.lost_packets);
        let lost = match (events, packets) {
            (0, 0) => None,
            (_, 0) => Some(format!(
                "{} events of the trace lost",
                thousands(events as i128)
            )),
            _ => Some(format!(
                "{} events and {} packets of the trace lost",
                thousands(events as i128),
                thousands(packets as i128)
            )),
        };
        let too_many = allowed.is_some_and(|most| events > most || packets > 0);
        let damage = figures.damage.first().map(|first| {
            let more = match figures.damage.len() {
                1 => String::new(),
                n => format!(" (and {} more)", n - 1),
            };
            format!("the trace is damaged: {}{more}", clean(first))
        });
        let over = || {
            let most = thousands(allowed.unwrap_or(0) as i128);
            format!(
                "{}, and the limits file allows {most} ('lost_events')",
                lost.as_deref().unwrap_or_default()
            )
        };
        let void = damage.or_else(|| too_many.then(over));
        Trust {
            lost,
            void,
            allowed: allowed.is_some(),
        }
    }

    /// Why a figure cannot be used, if so.
    fn against(&self, series: &TraceSeries, stat: Stat) -> Option<String> {
        if self.void.is_some() {
            return self.void.clone();
        }
        let remedy = "'lost_events' under 'require' can allow it";
        match &self.lost {
            Some(lost) if !self.allowed && series.suspect > 0 => Some(format!(
                "{lost}, {} of its {} samples beside them; {remedy}",
                thousands(series.suspect),
                thousands(series.n)
            )),
            Some(lost) if !self.allowed && stat == Stat::N => {
                Some(format!("{lost}, so that its number is not known; {remedy}"))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_split_where_the_grammar_puts_the_parameters() {
        assert_eq!(split("trace.irq.exec"), ("trace.irq", Some("exec")));
        assert_eq!(split("trace.chain"), ("trace.chain", None));
        assert_eq!(split("timer.a.b"), ("timer.a.b", None));
        assert_eq!(split("trace."), ("trace.", None));
    }

    #[test]
    fn the_lower_end_is_below_every_sample_of_a_class() {
        for (value, low) in [(0, -1), (500, 499), (2_047, 2_044), (-3_000, -3_004)] {
            assert_eq!(lower_end(value), low);
        }
        assert_eq!(lower_end(i64::MIN), i64::MIN);
    }
}
