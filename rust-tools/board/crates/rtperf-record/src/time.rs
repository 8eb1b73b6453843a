// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Durations with a unit, as plans and limits write them.

use crate::RecordError;

const UNITS: [(&str, u32); 5] = [("ns", 0), ("us", 3), ("ms", 6), ("s", 9), ("min", 9)];

/// Nanoseconds of `100us`, `1.5ms`, `2s`, `30min`. The unit is required, the
/// result exact: a fraction of a nanosecond is refused.
pub fn parse_ns(text: &str) -> Result<i64, RecordError> {
    let fault = |why: &str| RecordError(format!("'{text}' {why}, write a duration such as 100us"));
    let at = text
        .find(|c: char| !matches!(c, '0'..='9' | '.' | '-'))
        .ok_or_else(|| fault("has no unit"))?;
    let (number, unit) = text.split_at(at);
    let &(name, power) = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or_else(|| fault("has an unknown unit (ns, us, ms, s, min)"))?;
    let (negative, digits) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |s: &str| s.bytes().all(|c| c.is_ascii_digit());
    if whole.is_empty() || !plain(whole) || !plain(fraction) || fraction.len() > power as usize {
        return Err(fault("is not a number of whole nanoseconds"));
    }
    let padded = format!("{whole}{fraction:0<width$}", width = power as usize);
    let value: i64 = padded
        .parse()
        .map_err(|_| fault("is not a number in range"))?;
    let scaled = value.checked_mul(if name == "min" { 60 } else { 1 });
    let value = scaled.ok_or_else(|| fault("is out of range"))?;
    Ok(if negative { -value } else { value })
}

/// The shortest exact text of a duration: `100us`, `1.5ms`, `0ns`.
pub fn format_ns(ns: i64) -> String {
    let (unit, power) = match ns.unsigned_abs() {
        0..=999 => ("ns", 0u32),
        1_000..=999_999 => ("us", 3),
        1_000_000..=999_999_999 => ("ms", 6),
        _ => ("s", 9),
    };
    let scale = 10u64.pow(power);
    let (whole, rest) = (ns.unsigned_abs() / scale, ns.unsigned_abs() % scale);
    let sign = if ns < 0 { "-" } else { "" };
    if rest == 0 {
        return format!("{sign}{whole}{unit}");
    }
    let fraction = format!("{rest:0width$}", width = power as usize);
    format!("{sign}{whole}.{}{unit}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_exact() {
        for (text, ns) in [
            ("100us", 100_000),
            ("1.5ms", 1_500_000),
            ("0ns", 0),
            ("2s", 2_000_000_000),
            ("30min", 1_800_000_000_000),
            ("1.234567891s", 1_234_567_891),
            ("-3us", -3_000),
        ] {
            assert_eq!(parse_ns(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_its_text() {
        for text in [
            "",
            "100",
            "us",
            "1,5ms",
            "1.5ns",
            "--1s",
            "1h",
            "1 ms",
            ".5ms",
            "1.2.3s",
            "99999999999999999999s",
            "9223372036854775807min",
            "1-0us",
        ] {
            let e = parse_ns(text).unwrap_err();
            assert!(e.0.contains(&format!("'{text}'")), "{e}");
        }
    }

    #[test]
    fn format_reads_back() {
        for ns in [
            0,
            1,
            999,
            1_000,
            1_500,
            123_456_789,
            -2_500,
            60_000_000_000,
            i64::MAX,
        ] {
            assert_eq!(parse_ns(&format_ns(ns)), Ok(ns));
        }
    }
}
