// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The value of a bound: a duration with its unit, a count or a rate,
//! whichever the statistic asks for.

use crate::figure::{Figure, Number, Unit};
use rtperf_record::{Stat, parse_ns};

/// Units that people write, and what the limits file calls them.
const ALIASES: [(&str, &str); 14] = [
    ("µs", "us"), // the micro sign
    ("μs", "us"), // the Greek letter
    ("usec", "us"),
    ("usecs", "us"),
    ("mus", "us"),
    ("nsec", "ns"),
    ("msec", "ms"),
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("m", "min"),
    ("minutes", "min"),
    ("u", "us"),
];
const UNITS: [&str; 5] = ["ns", "us", "ms", "s", "min"];

/// Reads the text of a bound on `stat`.
pub fn parse(text: &str, stat: Stat) -> Result<Figure, String> {
    let number = match Unit::of(stat) {
        Unit::Ns => Number::Int(parse_ns(text).map_err(|e| e.0 + &unit_hint(text))?),
        Unit::Count => Number::Int(count(text).ok_or_else(|| {
            format!("'{text}' is no count; a limit on '{stat}' is a whole number such as 0, without a unit")
        })?),
        Unit::PerSecond => Number::Real(rate(text).ok_or_else(|| {
            format!("'{text}' is no rate; a limit on 'rate' is samples per second, such as 1000 or 999.5")
        })?),
    };
    Ok(Figure::new(number, Unit::of(stat)))
}

fn count(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

fn rate(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    let value: f64 = plain.then(|| text.parse().ok())??;
    value.is_finite().then_some(value)
}

/// What a duration with a mistyped unit may have meant.
fn unit_hint(text: &str) -> String {
    let at = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-'));
    let Some(at) = at else { return String::new() };
    let (number, unit) = text.split_at(at);
    let unit = unit.trim().to_lowercase();
    let alias = ALIASES.iter().find(|(wrong, _)| *wrong == unit);
    let known = UNITS.iter().find(|known| **known == unit);
    let unit = alias.map(|(_, right)| *right).or(known.copied());
    match unit.map(|unit| format!("{number}{unit}")) {
        Some(meant) if meant != text && parse_ns(&meant).is_ok() => {
            format!("; did you mean {meant}?")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_statistic_has_its_unit() {
        let p99 = Stat::Percentile(990_000);
        assert_eq!(
            parse("1.5ms", p99).map(|f| f.number),
            Ok(Number::Int(1_500_000))
        );
        assert_eq!(parse("0", Stat::Lost).map(|f| f.number), Ok(Number::Int(0)));
        assert_eq!(
            parse("999.5", Stat::Rate).map(|f| f.number),
            Ok(Number::Real(999.5))
        );
        assert!(parse("100", p99).is_err_and(|e| e.contains("no unit")));
        assert!(parse("10us", Stat::N).is_err_and(|e| e.contains("no count")));
        for wrong in ["-1", "1.5", "", "1e3", "99999999999999999999"] {
            assert!(parse(wrong, Stat::Overruns).is_err(), "{wrong}");
        }
        for wrong in ["", ".", "nan", "inf", "1e3", "-1", "10/s"] {
            assert!(parse(wrong, Stat::Rate).is_err(), "{wrong}");
        }
    }

    #[test]
    fn mistyped_units_get_a_hint() {
        for (wrong, meant) in [
            ("100usec", "100us"),
            ("100µs", "100us"),
            ("100 us", "100us"),
            ("1.5MS", "1.5ms"),
            ("5sec", "5s"),
        ] {
            let e = parse(wrong, Stat::Max).unwrap_err();
            assert!(e.ends_with(&format!("did you mean {meant}?")), "{e}");
        }
        let e = parse("100furlong", Stat::Max).unwrap_err();
        assert!(!e.contains("did you mean"), "{e}");
    }
}
