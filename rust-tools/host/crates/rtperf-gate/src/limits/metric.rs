// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The metric pattern of a limit, with hints for mistyped statistics, and the
//! keys that select samples instead of measurements.

use super::Selection;
use crate::suggest::hint;
use rtperf_record::{Metric, phase};

/// Values of `phase=` in a pattern.
const PHASES: [(&str, u8); 3] = [
    ("begin", phase::BEGIN),
    ("middle", phase::MIDDLE),
    ("end", phase::END),
];

const STATS: [&str; 11] = [
    "n", "min", "mean", "max", "sd", "median", "mad", "lap_mean", "overruns", "lost", "rate",
];

/// What people call a statistic elsewhere.
const ALIASES: [(&str, &str); 11] = [
    ("avg", "mean"),
    ("average", "mean"),
    ("maximum", "max"),
    ("worst", "max"),
    ("minimum", "min"),
    ("stddev", "sd"),
    ("std", "sd"),
    ("count", "n"),
    ("overrun", "overruns"),
    ("p100", "max"),
    ("p0", "min"),
];

/// Reads a pattern. The keys `phase` and `task` leave it and become the
/// selection.
pub fn parse(text: &str) -> Result<(Metric, Selection), String> {
    let mut metric: Metric = text
        .parse()
        .map_err(|e: rtperf_record::RecordError| e.0 + &stat_hint(text))?;
    let selection = Selection {
        phase: metric
            .params
            .0
            .remove("phase")
            .map(read_phase)
            .transpose()?,
        task: metric.params.0.remove("task").map(read_task).transpose()?,
    };
    Ok((metric, selection))
}

impl Selection {
    /// Whether it takes all samples.
    pub fn is_all(&self) -> bool {
        *self == Selection::default()
    }

    /// The selecting keys as a pattern writes them.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let phase = self.phase.map(|p| ("phase", phase_name(p).to_owned()));
        let task = self.task.map(|t| ("task", t.to_string()));
        phase.into_iter().chain(task).collect()
    }
}

fn phase_name(value: u8) -> &'static str {
    let found = PHASES.iter().find(|(_, v)| *v == value);
    found.map_or("none", |(name, _)| name)
}

fn read_phase(text: String) -> Result<u8, String> {
    let found = PHASES.iter().find(|(name, _)| *name == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let hint = hint(&text, PHASES.map(|(name, _)| name));
        format!("'phase={text}' selects nothing; phases are begin, middle and end{hint}")
    })
}

fn read_task(text: String) -> Result<u16, String> {
    text.parse()
        .map_err(|_| format!("'task={text}' selects nothing; tasks are numbered from 0"))
}

/// What a mistyped statistic may have meant.
fn stat_hint(text: &str) -> String {
    let tail = text.rsplit('}').next().unwrap_or(text);
    let dots: Vec<&str> = tail.split('.').collect();
    let Some(last) = dots.last().filter(|_| dots.len() > 1) else {
        return String::new();
    };
    let meant = |s: &str| format!("; did you mean '{s}'?");
    if let Some((_, right)) = ALIASES.iter().find(|(wrong, _)| wrong == last) {
        return meant(right);
    }
    // p999 and p99,9 for p99.9
    let digits = last.strip_prefix(['p', 'P']).unwrap_or("");
    let plain: String = digits.chars().filter(char::is_ascii_digit).collect();
    let only = digits
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, ',' | '_'));
    if only && plain.len() > 2 {
        let guess = format!("p{}.{}", &plain[..2], &plain[2..]);
        if guess.parse::<rtperf_record::Stat>().is_ok() {
            return meant(&guess);
        }
    }
    hint(last, STATS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selecting_keys_leave_the_pattern() {
        let (metric, selection) = parse("ring{cpu=1,phase=middle,task=3}.p99").unwrap();
        assert_eq!(metric.to_string(), "ring{cpu=1}.p99");
        assert_eq!(selection.phase, Some(phase::MIDDLE));
        assert_eq!(selection.task, Some(3));
        assert_eq!(
            selection.pairs(),
            [("phase", "middle".to_owned()), ("task", "3".to_owned())]
        );
        assert!(parse("ring.p99").unwrap().1.is_all());
    }

    #[test]
    fn mistyped_names_get_a_hint() {
        for (wrong, meant) in [
            ("t{cpu=1}.p999", "'p99.9'"),
            ("t.p99,9", "'p99.9'"),
            ("t.avg", "'mean'"),
            ("t.p100", "'max'"),
            ("t.medain", "'median'"),
            ("t.lapmean", "'lap_mean'"),
            ("t{phase=midle}.max", "'middle'"),
        ] {
            let e = parse(wrong).unwrap_err();
            assert!(e.contains(&format!("did you mean {meant}")), "{wrong}: {e}");
        }
        for wrong in ["t", "t{task=x}.max", "t{task=65536}.max", "t.zzzzzz", ""] {
            let e = parse(wrong).unwrap_err();
            assert!(!e.contains("did you mean"), "{wrong}: {e}");
        }
    }
}
