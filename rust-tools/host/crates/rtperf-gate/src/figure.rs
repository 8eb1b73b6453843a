// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! A figure: a number that was measured or is a limit, and its unit.

use rtperf_record::{Stat, format_ns};
use std::cmp::Ordering;
use std::fmt;

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Ns,
    Count,
    PerSecond,
}

impl Unit {
    pub fn of(stat: Stat) -> Unit {
        match stat {
            Stat::N | Stat::Overruns | Stat::Lost => Unit::Count,
            Stat::Rate => Unit::PerSecond,
            _ => Unit::Ns,
        }
    }

    /// The word that JSON uses.
    pub fn word(self) -> &'static str {
        match self {
            Unit::Ns => "ns",
            Unit::Count => "count",
            Unit::PerSecond => "per_second",
        }
    }
}

/// A number, exact where the statistic is a sample or a count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Int(i64),
    Real(f64),
}

impl Number {
    pub fn real(self) -> f64 {
        match self {
            Number::Int(i) => i as f64,
            Number::Real(r) => r,
        }
    }

    /// Exact between integers. A number that cannot be ordered (it never is
    /// one that was computed from samples) is over every limit.
    pub fn order(self, other: Number) -> Ordering {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => a.cmp(&b),
            (a, b) => a.real().partial_cmp(&b.real()).unwrap_or(Ordering::Greater),
        }
    }

    pub fn json(self) -> serde_json::Value {
        match self {
            Number::Int(i) => i.into(),
            Number::Real(r) => r.into(),
        }
    }
}

/// A number with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    pub number: Number,
    pub unit: Unit,
}

impl Figure {
    pub fn new(number: Number, unit: Unit) -> Figure {
        Figure { number, unit }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.unit, self.number) {
            (Unit::Ns, Number::Int(ns)) => f.write_str(&format_ns(ns)),
            (Unit::Ns, Number::Real(ns)) => f.write_str(&real_ns(ns)),
            (Unit::Count, Number::Int(i)) => f.write_str(&thousands(i)),
            (Unit::Count, Number::Real(r)) => write!(f, "{r}"),
            (Unit::PerSecond, n) => write!(f, "{}/s", trim(format!("{:.3}", n.real()))),
        }
    }
}

/// A mean or deviation to three decimals of a nanosecond, in the unit that
/// [`format_ns`] would choose.
fn real_ns(ns: f64) -> String {
    let (scale, unit, digits) = match ns.abs() {
        a if a < 1e3 => (1.0, "ns", 3),
        a if a < 1e6 => (1e3, "us", 6),
        a if a < 1e9 => (1e6, "ms", 9),
        _ => (1e9, "s", 12),
    };
    format!("{}{unit}", trim(format!("{:.digits$}", ns / scale)))
}

fn trim(text: String) -> String {
    if !text.contains('.') {
        return text;
    }
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

/// `12,345`.
pub fn thousands(i: impl Into<i128>) -> String {
    let i = i.into();
    let digits = i.unsigned_abs().to_string();
    let mut out = String::from(if i < 0 { "-" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_as_people_write_them() {
        let show = |number, unit| Figure::new(number, unit).to_string();
        assert_eq!(show(Number::Int(15_900), Unit::Ns), "15.9us");
        assert_eq!(show(Number::Real(10_123.456_7), Unit::Ns), "10.123457us");
        assert_eq!(show(Number::Real(0.25), Unit::Ns), "0.25ns");
        assert_eq!(show(Number::Real(-0.0), Unit::Ns), "0ns");
        assert_eq!(show(Number::Int(10_000), Unit::Count), "10,000");
        assert_eq!(show(Number::Int(-1_234_567), Unit::Count), "-1,234,567");
        assert_eq!(show(Number::Real(999.999_96), Unit::PerSecond), "1000/s");
    }

    #[test]
    fn order_is_exact_where_f64_is_not() {
        let big = i64::MAX;
        assert_eq!(
            Number::Int(big).order(Number::Int(big - 1)),
            Ordering::Greater
        );
        assert_eq!(Number::Real(1.5).order(Number::Int(2)), Ordering::Less);
        assert_eq!(
            Number::Real(f64::NAN).order(Number::Int(2)),
            Ordering::Greater
        );
    }
}
