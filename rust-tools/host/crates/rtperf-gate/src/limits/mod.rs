// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The limits file: what a run must be and what its figures must hold.

mod metric;
mod read;
#[cfg(test)]
mod tests;
mod value;

use crate::clean::clean;
use crate::figure::{Figure, Number};
use rtperf_record::Metric;
use std::cmp::Ordering;
use std::fmt;

/// Version of the limits file that this crate reads.
pub const LIMITS_VERSION: u64 = 1;

/// Larger files are refused: a limits file is written by hand.
pub const LARGEST: u64 = 1 << 20;

/// A limits file.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    pub require: Require,
    pub limits: Vec<Limit>,
}

/// What a run must be before its figures are judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Require {
    /// `None`: either will do.
    pub instrumented: Option<bool>,
    /// The pass whose measurements are judged.
    pub pass: String,
    /// Checks that must be ok before and after.
    pub checks: Vec<String>,
    /// Most events that a trace may have lost for its figures to count; `None`
    /// leaves it to whether a figure touches a gap.
    pub lost_events: Option<u64>,
}

/// One entry of `limits`.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    pub metric: Metric,
    /// Samples of one phase or task only.
    pub selection: Selection,
    /// One or two bounds, each judged by itself.
    pub bounds: Vec<Bound>,
}

/// Which samples of a measurement a limit is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Selection {
    /// One of `rtperf_record::phase`.
    pub phase: Option<u8>,
    pub task: Option<u16>,
}

/// `at_most: 100us`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    pub side: Side,
    pub value: Figure,
}

/// On which side of the value a figure must lie; the value itself is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    AtMost,
    AtLeast,
}

impl Bound {
    /// Whether a figure of the same unit holds the bound.
    pub fn holds(&self, number: Number) -> bool {
        match (self.side, number.order(self.value.number)) {
            (_, Ordering::Equal) => true,
            (Side::AtMost, order) => order == Ordering::Less,
            (Side::AtLeast, order) => order == Ordering::Greater,
        }
    }
}

impl Side {
    /// The key in the limits file, and the word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Side::AtMost => "at_most",
            Side::AtLeast => "at_least",
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.side {
            Side::AtMost => "≤",
            Side::AtLeast => "≥",
        };
        write!(f, "{sign} {}", self.value)
    }
}

/// Why a limits file cannot be used, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{text}", place(*.line, *.column))]
pub struct LimitsError {
    /// From 1; 0 where no place can be named.
    pub line: usize,
    pub column: usize,
    pub text: String,
}

fn place(line: usize, column: usize) -> String {
    match line {
        0 => String::new(),
        _ => format!("line {line}, column {column}: "),
    }
}

impl Limits {
    /// Both files' limits, each run held to both files' requirements.
    pub fn and(mut self, other: Limits) -> Result<Limits, String> {
        let require = &mut self.require;
        if require.pass != other.require.pass {
            return Err(format!(
                "'{}' and '{}' are required for 'pass'; judge them one after the other",
                clean(&require.pass),
                clean(&other.require.pass)
            ));
        }
        require.instrumented = match (require.instrumented, other.require.instrumented) {
            (Some(a), Some(b)) if a != b => {
                return Err("'instrumented' is required to be true and to be false".to_owned());
            }
            (a, b) => a.or(b),
        };
        for check in other.require.checks {
            if !require.checks.contains(&check) {
                require.checks.push(check);
            }
        }
        let lost = [require.lost_events, other.require.lost_events];
        require.lost_events = lost.into_iter().flatten().min();
        self.limits.extend(other.limits);
        Ok(self)
    }
}

impl std::str::FromStr for Limits {
    type Err = LimitsError;

    fn from_str(text: &str) -> Result<Limits, LimitsError> {
        read::read(text)
    }
}
