// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reading the YAML. Keys are matched by hand rather than derived, so that
//! every mistake is named in the file's own words, where it stands.

use super::{Bound, LIMITS_VERSION, Limit, Limits, LimitsError, Require, Side, metric, value};
use crate::clean::clean;
use crate::suggest::hint;
use rtperf_record::{PASS_MEASURE, Stat};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Starts every message of ours: serde_yaml puts its own idea of the path
/// (`limits[0].metric`) before a message, which line and column say better.
const OURS: char = '\u{1}';

fn ours<E: Error>(text: impl fmt::Display) -> E {
    E::custom(format!("{OURS}{text}"))
}

pub fn read(text: &str) -> Result<Limits, LimitsError> {
    let fault = |line, column, text: &str| LimitsError {
        line,
        column,
        text: clean(text),
    };
    // What the YAML library would take for an empty document.
    let blank = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    if text.lines().all(blank) {
        return Err(fault(
            0,
            0,
            "is empty; a limits file starts with 'version: 1'",
        ));
    }
    FileSeed
        .deserialize(serde_yaml::Deserializer::from_str(text))
        .map_err(|e| {
            let place = e.location().map_or((0, 0), |l| (l.line(), l.column()));
            let said = e.to_string();
            let tail = format!(" at line {} column {}", place.0, place.1);
            let said = said.strip_suffix(&tail).unwrap_or(&said);
            let said = said.rsplit(OURS).next().unwrap_or(said);
            fault(place.0, place.1, said)
        })
}

/// A key out of `known`; anything else is named with a hint.
struct Key {
    what: &'static str,
    known: &'static [&'static str],
}

impl<'de> DeserializeSeed<'de> for Key {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<&'static str, D::Error> {
        d.deserialize_any(Read("a key", |text: &str| self.find(text)))
    }
}

impl Key {
    fn find(&self, text: &str) -> Result<&'static str, String> {
        let found = self.known.iter().find(|known| **known == text);
        found.copied().ok_or_else(|| match text {
            "drift" => "'drift' is not supported by this version of rtperf; \
                        it judges 'at_most' and 'at_least'"
                .to_owned(),
            _ => format!(
                "'{text}' is not a key of {}, which knows {}{}",
                self.what,
                self.known.join(", "),
                hint(text, self.known.iter().copied())
            ),
        })
    }
}

/// A scalar that is read by a function of its text, so that its faults carry
/// its place.
struct Read<F>(&'static str, F);

impl<'de, T, F: FnOnce(&str) -> Result<T, String>> DeserializeSeed<'de> for Read<F> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<T, D::Error> {
        d.deserialize_any(self)
    }
}

/// Reads any scalar as the text it is.
fn word(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

macro_rules! read_scalars {
    ($($visit:ident: $of:ty),*) => {$(
        fn $visit<E: Error>(self, v: $of) -> Result<T, E> {
            (self.1)(&v.to_string()).map_err(ours)
        }
    )*};
}

impl<T, F: FnOnce(&str) -> Result<T, String>> Visitor<'_> for Read<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "one word or number for '{}'", self.0)
    }
    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Err(ours(format!("'{}' has no value", self.0)))
    }
    read_scalars!(visit_str: &str, visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64);
}

/// Puts a value into its place; a second one is a mistake.
fn once<T, E: Error>(slot: &mut Option<T>, key: &str, value: T) -> Result<(), E> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(ours(format!("'{key}' stands twice"))),
    }
}

/// Implements both halves of a seed whose value is a mapping.
macro_rules! mapping {
    ($seed:ident => $value:ty, $what:literal, $read:ident) => {
        impl<'de> DeserializeSeed<'de> for $seed {
            type Value = $value;
            fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<$value, D::Error> {
                d.deserialize_any(self)
            }
        }
        impl<'de> Visitor<'de> for $seed {
            type Value = $value;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str($what)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$value, A::Error> {
                $read(map)
            }
        }
    };
}

/// Implements both halves of a seed whose value is a list of another seed's.
macro_rules! list {
    ($seed:ident => $value:ty, $what:literal, $item:expr) => {
        impl<'de> DeserializeSeed<'de> for $seed {
            type Value = Vec<$value>;
            fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<Self::Value, D::Error> {
                d.deserialize_any(self)
            }
        }
        impl<'de> Visitor<'de> for $seed {
            type Value = Vec<$value>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str($what)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut out = Vec::new();
                while let Some(item) = seq.next_element_seed($item)? {
                    out.push(item);
                }
                Ok(out)
            }
        }
    };
}

struct FileSeed;
struct RequireSeed;
struct LimitSeed;
struct ChecksSeed;
struct LimitsSeed;

mapping!(FileSeed => Limits, "a mapping that starts with 'version: 1'", read_file);
mapping!(RequireSeed => Require, "a mapping under 'require'", read_require);
mapping!(LimitSeed => Limit, "a mapping such as 'metric: timer-latency.p99.9' with 'at_most: 100us'", read_limit);
list!(ChecksSeed => String, "a list of checks such as [preempt_rt, no_throttling]", Read("a check", word));
list!(LimitsSeed => Limit, "a list of limits", LimitSeed);

fn read_file<'de, A: MapAccess<'de>>(mut map: A) -> Result<Limits, A::Error> {
    const KEY: Key = Key {
        what: "a limits file",
        known: &["version", "require", "limits"],
    };
    let (mut version, mut require, mut limits) = (None, None, None);
    while let Some(key) = map.next_key_seed(KEY)? {
        match key {
            "version" => once(
                &mut version,
                key,
                map.next_value_seed(Read(key, known_version))?,
            )?,
            "require" => once(&mut require, key, map.next_value_seed(RequireSeed)?)?,
            _ => once(&mut limits, key, map.next_value_seed(LimitsSeed)?)?,
        }
    }
    if version.is_none() {
        return Err(ours(
            "has no 'version'; a limits file starts with 'version: 1'",
        ));
    }
    let limits = limits.filter(|l| !l.is_empty());
    Ok(Limits {
        require: require.unwrap_or_default(),
        limits: limits.ok_or_else(|| ours("holds no limit; list at least one under 'limits'"))?,
    })
}

fn known_version(text: &str) -> Result<(), String> {
    if text == LIMITS_VERSION.to_string() {
        return Ok(());
    }
    Err(format!(
        "limits file version '{text}' is not known, this rtperf reads version {LIMITS_VERSION}"
    ))
}

impl Default for Require {
    fn default() -> Require {
        Require {
            instrumented: None,
            pass: PASS_MEASURE.to_owned(),
            checks: Vec::new(),
            lost_events: None,
        }
    }
}

fn read_require<'de, A: MapAccess<'de>>(mut map: A) -> Result<Require, A::Error> {
    const KEY: Key = Key {
        what: "'require'",
        known: &["instrumented", "pass", "checks", "lost_events"],
    };
    let (mut instrumented, mut pass, mut checks) = (None, None, None);
    let mut lost_events = None;
    while let Some(key) = map.next_key_seed(KEY)? {
        match key {
            "instrumented" => {
                let read = Read(key, |text: &str| match text {
                    "any" => Ok(None),
                    "true" => Ok(Some(true)),
                    "false" => Ok(Some(false)),
                    _ => Err(format!("'{text}' is not any, true or false")),
                });
                once(&mut instrumented, key, map.next_value_seed(read)?)?;
            }
            "pass" => once(&mut pass, key, map.next_value_seed(Read(key, word))?)?,
            "lost_events" => {
                let read = Read(key, |text: &str| {
                    text.parse::<u64>().map_err(|_| {
                        format!("'{text}' is no number of events; write a whole number such as 0")
                    })
                });
                once(&mut lost_events, key, map.next_value_seed(read)?)?;
            }
            _ => once(&mut checks, key, map.next_value_seed(ChecksSeed)?)?,
        }
    }
    Ok(Require {
        instrumented: instrumented.flatten(),
        pass: pass.unwrap_or_else(|| PASS_MEASURE.to_owned()),
        checks: checks.unwrap_or_default(),
        lost_events,
    })
}

/// A bound's value, or its text while the metric is not known yet.
enum Value {
    Ready(Bound),
    Later(Side, String),
}

fn read_limit<'de, A: MapAccess<'de>>(mut map: A) -> Result<Limit, A::Error> {
    const KEY: Key = Key {
        what: "a limit",
        known: &["metric", "at_most", "at_least"],
    };
    let (mut pattern, mut at_most, mut at_least) = (None, None, None);
    while let Some(key) = map.next_key_seed(KEY)? {
        let stat = pattern
            .as_ref()
            .map(|(m, _): &(rtperf_record::Metric, _)| m.stat);
        match key {
            "metric" => once(
                &mut pattern,
                key,
                map.next_value_seed(Read(key, metric::parse))?,
            )?,
            "at_most" => once(&mut at_most, key, bound(&mut map, Side::AtMost, stat)?)?,
            _ => once(&mut at_least, key, bound(&mut map, Side::AtLeast, stat)?)?,
        }
    }
    let (metric, selection) = pattern.ok_or_else(|| ours("this limit has no 'metric'"))?;
    let mut bounds = Vec::new();
    for value in [at_most, at_least].into_iter().flatten() {
        bounds.push(match value {
            Value::Ready(bound) => bound,
            Value::Later(side, text) => Bound {
                side,
                value: value::parse(&text, metric.stat).map_err(ours)?,
            },
        });
    }
    match bounds[..] {
        [] => Err(ours(format!(
            "the limit on '{metric}' has neither 'at_most' nor 'at_least'"
        ))),
        [most, least] if !most.holds(least.value.number) => Err(ours(format!(
            "nothing can be both {most} and {least}; exchange 'at_most' and 'at_least'"
        ))),
        _ => Ok(Limit {
            metric,
            selection,
            bounds,
        }),
    }
}

fn bound<'de, A: MapAccess<'de>>(
    map: &mut A,
    side: Side,
    stat: Option<Stat>,
) -> Result<Value, A::Error> {
    let read = |text: &str| match stat {
        None => Ok(Value::Later(side, text.to_owned())),
        Some(stat) => value::parse(text, stat).map(|value| Value::Ready(Bound { side, value })),
    };
    map.next_value_seed(Read(side.word(), read))
}
