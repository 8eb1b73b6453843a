// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whether a run is what the limits file (or the command line) requires.

use crate::clean::clean;
use crate::limits::Require;
use crate::report::CheckNote;
use crate::suggest::hint;
use rtperf_record::{Check, CheckStatus, Run};
use std::collections::BTreeSet;

/// What a run lacks, a sentence each. Figures of such a run are void.
pub fn unmet(require: &Require, expect_image: Option<&str>, run: &Run) -> Vec<String> {
    let mut out = Vec::new();
    let image = clean(&run.identity.image);
    if let Some(expected) = expect_image.filter(|e| *e != run.identity.image) {
        out.push(format!(
            "the run is of image '{image}', not of '{}'",
            clean(expected)
        ));
    }
    match require.instrumented {
        Some(true) if !run.instrumented => out
            .push("the image is not instrumented, the limits file requires one that is".to_owned()),
        Some(false) if run.instrumented => out
            .push("the image is instrumented, the limits file requires one that is not".to_owned()),
        _ => {}
    }
    out.extend(require.checks.iter().flat_map(|name| failed(name, run)));
    out
}

/// Why the required check `name` is not ok before and after.
fn failed(name: &str, run: &Run) -> Option<String> {
    let ends = [("before", &run.checks.before), ("after", &run.checks.after)];
    if ends.iter().all(|(_, checks)| find(checks, name).is_none()) {
        let known: BTreeSet<&str> = ends
            .iter()
            .flat_map(|(_, checks)| checks.iter().map(|c| c.name.as_str()))
            .collect();
        let known: Vec<&str> = known.into_iter().collect();
        return Some(format!(
            "the required check '{}' was not made; the run has {}{}",
            clean(name),
            list(known.iter().copied()),
            hint(name, known.iter().copied()),
        ));
    }
    ends.iter().find_map(|(when, checks)| {
        let name = clean(name);
        let Some(check) = find(checks, &name) else {
            return Some(format!("the required check '{name}' was not made {when} the measurements"));
        };
        let found = clean(&check.found);
        match check.status {
            CheckStatus::Ok => None,
            CheckStatus::Failed => Some(format!("the required check '{name}' failed {when} the measurements: {found}")),
            CheckStatus::Unknown => Some(format!("the board does not tell the required check '{name}' {when} the measurements: {found}")),
        }
    })
}

fn find<'a>(checks: &'a [Check], name: &str) -> Option<&'a Check> {
    // The worst, should a name stand twice.
    let named = checks.iter().filter(|c| c.name == name);
    named.max_by_key(|c| c.status != CheckStatus::Ok)
}

/// Checks that are not ok, for showing, each once if both ends agree.
pub fn not_ok(require: &Require, run: &Run) -> Vec<CheckNote> {
    let mut out: Vec<CheckNote> = Vec::new();
    for (when, checks) in [("before", &run.checks.before), ("after", &run.checks.after)] {
        for check in checks.iter().filter(|c| c.status != CheckStatus::Ok) {
            let note = CheckNote {
                name: clean(&check.name),
                when,
                status: check.status,
                found: clean(&check.found),
                required: require.checks.contains(&check.name),
            };
            let same = |n: &&mut CheckNote| {
                CheckNote {
                    when,
                    ..(**n).clone()
                } == note
            };
            match out.iter_mut().find(same) {
                Some(earlier) if earlier.when != when => earlier.when = "before and after",
                Some(_) => {}
                None => out.push(note),
            }
        }
    }
    out
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(clean).collect();
    if names.is_empty() {
        return "none".to_owned();
    }
    names.join(", ")
}
