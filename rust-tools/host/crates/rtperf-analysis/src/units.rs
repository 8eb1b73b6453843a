// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Times as people read them.

/// Three decimals of the unit that keeps the number short: `12.345 us`.
pub fn span(ns: i64) -> String {
    let size = ns.unsigned_abs();
    let (divisor, unit) = match size {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (1e3, "us"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{:.3} {unit}", ns as f64 / divisor)
}

/// A moment: seconds with nine decimals, as trace viewers print them.
pub fn seconds(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// Microseconds for columns: three decimals, none from a second on.
pub fn us(ns: f64) -> String {
    match ns.abs() < 1e9 {
        true => format!("{:.3}", ns / 1e3),
        false => format!("{:.0}", ns / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        assert_eq!(span(999), "999 ns");
        assert_eq!(span(12_345), "12.345 us");
        assert_eq!(span(-2_500_000), "-2.500 ms");
        assert_eq!(span(3_000_000_000), "3.000 s");
        assert_eq!(seconds(1_000_000_001), "1.000000001");
        assert_eq!(seconds(-1), "-0.000000001");
        assert_eq!(us(1500.0), "1.500");
        assert_eq!(us(7_555_826_270.0), "7555826");
    }
}
