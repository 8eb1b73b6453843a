// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The gate: limits, what runs must be, verdicts and their reports.
//!
//! `docs/gate.md` is the prose of this crate. It opens no file: the caller
//! hands it the text of the limits file, a way to read samples and one to
//! analyse the trace.

mod clean;
mod figure;
mod figures;
mod judge;
mod limits;
mod missing;
mod notes;
mod output;
mod report;
mod require;
mod run;
mod suggest;
mod trace;

pub use clean::clean;
pub use figure::{Figure, Number, Unit};
pub use judge::{Judgement, Verdict};
pub use limits::{Bound, LARGEST, Limit, Limits, LimitsError, Require, Side};
pub use output::{json, junit, markdown, text};
pub use report::{About, CheckNote, Counts, Judged, Report, RunReport};
pub use run::{Reader, judge_run, unreadable};
pub use trace::{TraceFigures, TraceReader, TraceSeries};
