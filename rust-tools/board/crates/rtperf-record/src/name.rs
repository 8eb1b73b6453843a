// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Metric names: `<measurement>[{key=value,…}][.<part>].<stat>`.
//!
//! One grammar for `run.json`, limits, comparisons, reports and docs.

use crate::RecordError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Parameters of a measurement, in canonical (sorted) order.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Params(pub BTreeMap<String, String>);

impl Params {
    /// Sets a parameter. Characters that the grammar needs for itself are
    /// replaced by `-`, so that every name can be read back.
    pub fn set(&mut self, key: &str, value: impl fmt::Display) -> &mut Params {
        let clean = |c: char| if is_word(c) { c } else { '-' };
        let value = value.to_string().chars().map(clean).collect();
        self.0.insert(key.to_owned(), value);
        self
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Whether every key of `pattern` has the pattern's value here.
    pub fn matches(&self, pattern: &Params) -> bool {
        pattern.0.iter().all(|(k, v)| self.get(k) == Some(v))
    }

    /// File name of the samples of `measurement` with these parameters:
    /// `<measurement>-<8 hex>.npy`, the digits being FNV-1a of the full name.
    pub fn file_name(&self, measurement: &str) -> String {
        let fnv = |h: u32, b: u8| (h ^ u32::from(b)).wrapping_mul(0x0100_0193);
        let name = format!("{measurement}{self}");
        format!(
            "{measurement}-{:08x}.npy",
            name.bytes().fold(0x811c_9dc5, fnv)
        )
    }
}

impl fmt::Display for Params {
    /// `{a=1,b=2}`, or nothing at all when there are none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        let list: Vec<String> = self.0.iter().map(|(k, v)| format!("{k}={v}")).collect();
        write!(f, "{{{}}}", list.join(","))
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_graphic() && !matches!(c, ',' | '{' | '}' | '=')
}

/// Splits parameters into those that all share and, per item, the rest: a
/// table says the shared ones once.
pub fn split_common(all: &[&Params]) -> (Params, Vec<Params>) {
    let mut common = all.first().map_or_else(Params::default, |p| (*p).clone());
    if all.len() > 1 {
        common
            .0
            .retain(|k, v| all.iter().all(|p| p.get(k) == Some(v)));
    }
    let rest = all.iter().map(|p| {
        let own = p.0.iter().filter(|(k, _)| !common.0.contains_key(*k));
        Params(own.map(|(k, v)| (k.clone(), v.clone())).collect())
    });
    let rest = rest.collect();
    (common, rest)
}

/// The statistic at the end of a metric name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stat {
    N,
    Min,
    Mean,
    Max,
    Sd,
    Median,
    Mad,
    /// Parts per million: p99.9 is 999,000.
    Percentile(u32),
    LapMean,
    Overruns,
    Lost,
    Rate,
}

const STATS: [(&str, Stat); 11] = [
    ("n", Stat::N),
    ("min", Stat::Min),
    ("mean", Stat::Mean),
    ("max", Stat::Max),
    ("sd", Stat::Sd),
    ("median", Stat::Median),
    ("mad", Stat::Mad),
    ("lap_mean", Stat::LapMean),
    ("overruns", Stat::Overruns),
    ("lost", Stat::Lost),
    ("rate", Stat::Rate),
];

impl Stat {
    /// Whether its values are times (in ns; limits then need a unit).
    pub fn is_time(self) -> bool {
        !matches!(self, Stat::N | Stat::Overruns | Stat::Lost | Stat::Rate)
    }
}

impl fmt::Display for Stat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Stat::Percentile(ppm) = self {
            let (whole, rest) = (ppm / 10_000, ppm % 10_000);
            if rest == 0 {
                return write!(f, "p{whole}");
            }
            let fraction = format!("{rest:04}");
            return write!(f, "p{whole}.{}", fraction.trim_end_matches('0'));
        }
        let named = STATS.iter().find(|(_, s)| s == self);
        f.write_str(named.map_or("", |(name, _)| name))
    }
}

impl FromStr for Stat {
    type Err = RecordError;

    fn from_str(s: &str) -> Result<Stat, RecordError> {
        if let Some((_, stat)) = STATS.iter().find(|(name, _)| *name == s) {
            return Ok(*stat);
        }
        percentile(s).ok_or_else(|| {
            RecordError(format!(
                "'{s}' is no statistic; use n, min, mean, max, sd, median, mad, \
                 p50 to p99.9999, lap_mean, overruns, lost or rate"
            ))
        })
    }
}

fn percentile(s: &str) -> Option<Stat> {
    let digits = s.strip_prefix('p')?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let plain =
        |t: &str, max| (1..=max).contains(&t.len()) && t.bytes().all(|c| c.is_ascii_digit());
    if !plain(whole, 2) || !plain(fraction, 4) {
        return None;
    }
    let ppm: u32 = format!("{whole}{fraction:0<4}").parse().ok()?;
    (ppm > 0).then_some(Stat::Percentile(ppm))
}

/// A metric name, or (in a limit) a pattern: parameters left out match all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// What was measured: `timer-latency`, `trace.irq`.
    pub measurement: String,
    pub params: Params,
    /// Which quantity of it, where there are several: `exec`.
    pub part: Option<String>,
    pub stat: Stat,
}

impl Metric {
    /// The dotted name without parameters and statistic, for matching:
    /// `trace.irq.exec` wherever the parameters stand.
    pub fn path(&self) -> String {
        match &self.part {
            Some(part) => format!("{}.{part}", self.measurement),
            None => self.measurement.clone(),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.measurement, self.params)?;
        if let Some(part) = &self.part {
            write!(f, ".{part}")?;
        }
        write!(f, ".{}", self.stat)
    }
}

impl FromStr for Metric {
    type Err = RecordError;

    fn from_str(s: &str) -> Result<Metric, RecordError> {
        let fault = |why: &str| {
            RecordError(format!(
                "'{s}' is no metric name: {why}; write <measurement>{{key=value,…}}.<stat>"
            ))
        };
        let (measurement, params, tail) = match s.split_once('{') {
            Some((name, rest)) => {
                let (list, tail) = rest
                    .split_once('}')
                    .ok_or_else(|| fault("'}' is missing"))?;
                let tail = tail
                    .strip_prefix('.')
                    .ok_or_else(|| fault("no statistic"))?;
                (
                    name,
                    parse_params(list).ok_or_else(|| fault("bad parameters"))?,
                    tail,
                )
            }
            None => {
                let stat = stat_start(s).ok_or_else(|| fault("no statistic"))?;
                (&s[..stat - 1], Params::default(), &s[stat..])
            }
        };
        let at = stat_start(tail).unwrap_or(0);
        let stat: Stat = tail[at..].parse()?;
        let part = (at > 0).then(|| tail[..at - 1].to_owned());
        let name_ok = |n: &str| {
            let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            n.split('.').all(|w| !w.is_empty() && w.chars().all(word))
        };
        if !name_ok(measurement) || !part.as_deref().map_or(true, name_ok) {
            return Err(fault("bad name"));
        }
        Ok(Metric {
            measurement: measurement.to_owned(),
            params,
            part,
            stat,
        })
    }
}

fn parse_params(list: &str) -> Option<Params> {
    let mut out = BTreeMap::new();
    for pair in list.split(',') {
        let (k, v) = pair.trim().split_once('=')?;
        let word = |w: &str| !w.is_empty() && w.chars().all(is_word);
        if !word(k) || !word(v) || out.insert(k.to_owned(), v.to_owned()).is_some() {
            return None;
        }
    }
    Some(Params(out))
}

/// Where the statistic starts in a dotted tail. `p99.9` has a dot of its own.
fn stat_start(tail: &str) -> Option<usize> {
    let last = tail.rfind('.')?;
    if tail[last + 1..].bytes().all(|c| c.is_ascii_digit()) {
        let before = tail[..last].rfind('.').map_or(0, |p| p + 1);
        if percentile(&tail[before..]).is_some() {
            return (before > 0).then_some(before);
        }
    }
    Some(last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_designs_examples_read_back() {
        for name in [
            "timer-latency{cpu=1}.p99.9",
            "context-switch{method=ring,phase=middle,tasks=6}.max",
            "interrupt-latency{stage=edge-hardirq}.p99",
            "trace.irq{name=rtperf-daq}.exec.p99",
            "trace.thread{comm=iperf3}.wakeup.max",
            "trace.chain{name=edge-i2c}.p99",
            "daq-stream.lost",
            "timer-latency.p99.9",
            "timer-latency.p99.9999",
            "a.lap_mean",
        ] {
            let m: Metric = name.parse().unwrap();
            assert_eq!(m.to_string(), name);
        }
        let m: Metric = "trace.irq{name=x}.exec.p99".parse().unwrap();
        assert_eq!(
            (m.path().as_str(), m.part.as_deref()),
            ("trace.irq.exec", Some("exec"))
        );
        let flat: Metric = "trace.irq.exec.p99.5".parse().unwrap();
        assert_eq!(
            (flat.path(), flat.stat),
            (m.path(), Stat::Percentile(995_000))
        );
    }

    #[test]
    fn mistakes_are_errors() {
        for name in [
            "",
            ".",
            "a",
            "a.",
            ".p99",
            "a.p100",
            "a.p0",
            "a.p99.99999",
            "a.median9",
            "a{b}.p50",
            "a{b=}.p50",
            "a{b=1,b=2}.p50",
            "a{b=1.p50",
            "a{b=1}p50",
            "a{}.p50",
            "a b.p50",
            "{a=1}.p50",
            "a{b=1}.",
            "a{b=1}..p50",
            "p99.9",
            "a.p-1",
        ] {
            assert!(name.parse::<Metric>().is_err(), "{name}");
        }
    }

    #[test]
    fn patterns_match_by_given_keys_only() {
        let mut p = Params::default();
        p.set("cpu", 1).set("load", "none");
        let pattern = |s: &str| s.parse::<Metric>().unwrap().params;
        assert!(p.matches(&pattern("x{cpu=1}.max")));
        assert!(p.matches(&Params::default()));
        assert!(!p.matches(&pattern("x{cpu=2}.max")));
        assert!(!p.matches(&pattern("x{mode=1}.max")));
    }

    #[test]
    fn hostile_values_still_make_a_readable_name() {
        let mut p = Params::default();
        p.set("load", "a,b}={\n ü");
        let name = format!("x{p}.max");
        assert_eq!(name.parse::<Metric>().unwrap().params, p);
    }

    #[test]
    fn file_names_are_stable() {
        let mut p = Params::default();
        p.set("cpu", 0);
        assert_eq!(p.file_name("timer-latency"), "timer-latency-f9020398.npy");
    }

    #[test]
    fn common_parameters_are_said_once() {
        let (mut a, mut b) = (Params::default(), Params::default());
        a.set("cpu", 0).set("load", "none");
        b.set("cpu", 1).set("load", "none");
        let (common, rest) = split_common(&[&a, &b]);
        assert_eq!(common.to_string(), "{load=none}");
        assert_eq!(rest[1].to_string(), "{cpu=1}");
    }
}
