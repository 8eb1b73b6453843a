// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Why a limit matches nothing, and what it may have meant.

use crate::clean::clean;
use crate::suggest::{distance, hint, nearest};
use crate::trace::split;
use rtperf_record::{Metric, Params};
use std::collections::BTreeSet;

/// Most names that a message lists.
const MOST: usize = 3;

/// Explains why `pattern` matches none of what the judged `pass` has, given
/// with the parameters it was matched against. `lacking` says what the pass
/// has none of: `the run has no measurement`.
pub fn explain(
    pattern: &Metric,
    lacking: &str,
    pass: &str,
    available: &[(&str, Params)],
) -> String {
    if available.is_empty() {
        let pass = clean(pass);
        return format!("matches nothing: {lacking} in pass '{pass}'");
    }
    let path = pattern.path();
    let same: Vec<&Params> = of(&path, available);
    if same.is_empty() {
        let names: BTreeSet<&str> = available.iter().map(|(name, _)| *name).collect();
        let close = nearest(&path, names.iter().copied());
        let near = close.map_or_else(Vec::new, |name| {
            names_near(name, pattern, &of(name, available))
        });
        let list: Vec<String> = names.iter().take(20).map(|name| clean(name)).collect();
        return format!(
            "matches nothing: {lacking} '{path}', it has {}{}",
            list.join(", "),
            listed(&near),
        );
    }
    let near = names_near(&path, pattern, &same);
    format!(
        "matches nothing: {}{}",
        params_fault(&path, pattern, &same),
        listed(&near)
    )
}

fn of<'a>(name: &str, available: &'a [(&str, Params)]) -> Vec<&'a Params> {
    let named = available.iter().filter(|(n, _)| *n == name);
    named.map(|(_, params)| params).collect()
}

fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        _ => format!("; nearest: {}", names.join(", ")),
    }
}

/// What is wrong with the parameters of a pattern whose name is right.
fn params_fault(name: &str, pattern: &Metric, same: &[&Params]) -> String {
    for (key, value) in &pattern.params.0 {
        let values: BTreeSet<&str> = same.iter().filter_map(|p| p.get(key)).collect();
        if values.is_empty() {
            let keys: BTreeSet<&str> = same
                .iter()
                .flat_map(|p| p.0.keys().map(String::as_str))
                .collect();
            let list: Vec<String> = keys.iter().take(30).map(|k| clean(k)).collect();
            let hint = hint(key, keys.iter().copied());
            return format!(
                "'{name}' has no parameter '{key}', it has {}{hint}",
                list.join(", ")
            );
        }
        if !values.contains(value.as_str()) {
            let list: Vec<String> = values
                .iter()
                .take(10)
                .map(|v| clean(&format!("{key}={v}")))
                .collect();
            let hint = hint(value, values.iter().copied());
            return format!(
                "'{name}' has no {key}={value}, only {}{hint}",
                list.join(", ")
            );
        }
    }
    format!("no '{name}' has all of {}", pattern.params)
}

/// The nearest metric names that would match, each with only the parameters
/// that the pattern names or that tell the measurements apart.
fn names_near(name: &str, pattern: &Metric, same: &[&Params]) -> Vec<String> {
    let mut ranked: Vec<(usize, usize, String)> = Vec::new();
    let (measurement, part) = split(name);
    for params in same {
        let telling = |key: &String, value: &String| {
            pattern.params.0.contains_key(key) || same.iter().any(|p| p.get(key) != Some(value))
        };
        let mut shown = (*params).clone();
        shown.0.retain(|key, value| telling(key, value));
        let (mut wrong, mut far) = (0, 0);
        for (key, value) in &pattern.params.0 {
            let has = params.get(key).unwrap_or_default();
            wrong += usize::from(has != value);
            far += distance(has, value);
        }
        let metric = Metric {
            measurement: measurement.to_owned(),
            params: shown,
            part: part.map(str::to_owned),
            stat: pattern.stat,
        };
        let entry = (wrong, far, clean(&metric.to_string()));
        if !ranked.contains(&entry) {
            ranked.push(entry);
        }
    }
    ranked.sort();
    ranked
        .into_iter()
        .take(MOST)
        .map(|(_, _, name)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LACKING: &str = "the run has no measurement";

    fn explained(pattern: &str) -> String {
        let params = |text: &str| format!("x{{{text}}}.max").parse::<Metric>().unwrap().params;
        let available = [
            ("timer-latency", params("board=virtual,cpu=0,pass=measure")),
            ("timer-latency", params("board=virtual,cpu=1,pass=measure")),
            (
                "context-switch",
                params("board=virtual,clock=counter,pass=measure"),
            ),
        ];
        explain(&pattern.parse().unwrap(), LACKING, "measure", &available)
    }

    #[test]
    fn the_nearest_names_are_offered() {
        assert_eq!(
            explained("timr-latency.p99"),
            "matches nothing: the run has no measurement 'timr-latency', it has context-switch, \
             timer-latency; nearest: timer-latency{cpu=0}.p99, timer-latency{cpu=1}.p99"
        );
        assert_eq!(
            explained("timer-latency{board=virtual,cpu=9}.p99"),
            "matches nothing: 'timer-latency' has no cpu=9, only cpu=0, cpu=1; nearest: \
             timer-latency{board=virtual,cpu=0}.p99, timer-latency{board=virtual,cpu=1}.p99"
        );
        assert!(explained("timer-latency{cpus=1}.p99").contains("did you mean 'cpu'?"));
        assert!(explained("context-switch{clock=countr}.p99").contains("did you mean 'counter'?"));
        assert_eq!(
            explain(&"a.max".parse().unwrap(), LACKING, "measure", &[]),
            "matches nothing: the run has no measurement in pass 'measure'"
        );
    }
}
