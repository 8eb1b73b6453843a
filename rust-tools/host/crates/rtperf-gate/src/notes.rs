// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What happened while sampling: not judged, but never hidden.

use crate::figure::thousands;
use crate::figures::Selected;
use rtperf_record::{Measurement, TaskRecord, flags};

/// Notes on a measurement and the samples a limit takes of it.
pub fn notes(m: &Measurement, selected: &Selected) -> Vec<String> {
    let total = |of: fn(&TaskRecord) -> u64| -> u64 {
        m.tasks
            .iter()
            .fold(0, |sum, task| sum.saturating_add(of(task)))
    };
    let flagged = |bit: u8| selected.samples().filter(|s| s.flags & bit != 0).count() as u64;
    let negative = selected.samples().filter(|s| s.latency_ns < 0).count() as u64;
    [
        (total(|t| t.major_faults), "major page faults"),
        (total(|t| t.minor_faults), "minor page faults"),
        (total(|t| t.allocations), "allocations"),
        (total(|t| t.involuntary_switches), "involuntary switches"),
        (flagged(flags::MIGRATED), "samples migrated"),
        (flagged(flags::FAULTED), "samples with a page fault"),
        (flagged(flags::THROTTLED), "samples throttled"),
        (flagged(flags::OVERRUN), "overruns"),
        (negative, "negative latencies"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{} {what}", thousands(count)))
    .collect()
}
