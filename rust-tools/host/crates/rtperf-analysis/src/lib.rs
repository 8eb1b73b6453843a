// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a kernel trace says: interrupt handlers, softirqs, timers, threads,
//! and the way of a block through the sample driver. One pass, in memory
//! bounded by what there is to tell apart, not by the trace's length.

#![forbid(unsafe_code)]

mod daq;
mod fields;
mod findings;
mod gaps;
mod irq;
mod metrics;
mod model;
mod report;
mod sched;
mod series;
mod text;
mod units;

pub use findings::{Evidence, Finding, Kind, Options};
pub use metrics::MetricSamples;
pub use report::{Analysis, ChainReport, Cpu, HandlerReport, ThreadReport};
pub use series::{Instance, Series, Summary};

use model::Model;
use rtperf_ctf::{CtfError, Item, Trace};
use std::path::{Path, PathBuf};

/// Why a trace cannot be analysed. Figures that would mean nothing are not
/// given.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    #[error(transparent)]
    Trace(#[from] CtfError),
    #[error("{0}: the trace holds no events")]
    Empty(String),
    #[error(
        "{trace}: all {events} events have the same time {time_ns} ns: the trace's clock stands \
         still, no duration can be told"
    )]
    ClockStandsStill {
        trace: String,
        events: u64,
        time_ns: i64,
    },
    #[error(
        "{}: kernel traces of different recordings lie here ({} and {}): analyse one",
        dir.display(), one.display(), other.display()
    )]
    Several {
        dir: PathBuf,
        one: PathBuf,
        other: PathBuf,
    },
    #[error("{trace}: none of the events can be analysed: {reasons}")]
    Unusable { trace: String, reasons: String },
}

/// Reads the trace in `dir` and below, and analyses it.
pub fn analyze(dir: &Path, options: &Options) -> Result<Analysis, AnalysisError> {
    let trace = Trace::open(dir)?;
    one_recording(dir, &trace)?;
    let name = dir.display().to_string();
    let (handlers, problems) = fields::handlers(&trace);
    let usable = handlers
        .iter()
        .any(|h| !matches!(h, fields::Handler::Other));
    if !usable && !problems.is_empty() {
        let reasons = problems.join("; ");
        return Err(AnalysisError::Unusable {
            trace: name,
            reasons,
        });
    }
    let mut model = Model::new(handlers);
    let mut reader = trace.read();
    while let Some(item) = reader.next_item() {
        match item {
            Item::Event(event) => model.event(&event),
            Item::Lost(lost) => model.lost(&lost),
        }
    }
    model.finish();
    let diagnostics = reader.diagnostics();
    check(&name, &model)?;
    let mut notes = problems;
    notes.extend(match usable {
        true => missing(&model),
        false => vec![ONLY_COUNTED.to_owned()],
    });
    let findings = findings::find(&model, options);
    let mut analysis = Analysis::new(&trace, name, model, notes);
    analysis.findings = findings;
    for list in [trace.diagnostics(), diagnostics] {
        analysis
            .diagnostics
            .extend(list.list().iter().map(ToString::to_string));
        if list.more() > 0 {
            analysis
                .diagnostics
                .push(format!("and {} more", list.more()));
        }
    }
    Ok(analysis)
}

/// Chunks of one recording belong together; two recordings share CPU and
/// thread numbers by accident.
fn one_recording(dir: &Path, trace: &Trace) -> Result<(), AnalysisError> {
    let kernels = || {
        trace
            .folders()
            .filter(|(_, metadata)| fields::is_kernel(metadata))
    };
    let Some((one, first)) = kernels().next() else {
        return Ok(());
    };
    match kernels().find(|(_, metadata)| metadata.uuid != first.uuid) {
        Some((other, _)) => Err(AnalysisError::Several {
            dir: dir.to_owned(),
            one: one.to_owned(),
            other: other.to_owned(),
        }),
        None => Ok(()),
    }
}

fn check(trace: &str, model: &Model) -> Result<(), AnalysisError> {
    let events: u64 = model.counts.iter().sum();
    let Some(first) = model.first_ns else {
        return Err(AnalysisError::Empty(trace.to_owned()));
    };
    if events > 1 && first == model.last_ns {
        let trace = trace.to_owned();
        return Err(AnalysisError::ClockStandsStill {
            trace,
            events,
            time_ns: first,
        });
    }
    Ok(())
}

const ONLY_COUNTED: &str =
    "no event here is one of the kernel's that can be analysed; events are only counted";

/// Which tables stay empty because their events were not recorded.
fn missing(model: &Model) -> Vec<String> {
    let mut notes = vec![];
    let mut need = |there: bool, what: &str, events: &str| {
        if !there {
            notes.push(format!(
                "no figures of {what}: the trace has no {events} events"
            ));
        }
    };
    need(
        !model.irqs.list.is_empty(),
        "interrupt handlers",
        "irq_handler_entry",
    );
    need(
        !model.softirqs.list.is_empty(),
        "softirqs",
        "irq_softirq_entry",
    );
    need(!model.sched.list.is_empty(), "threads", "sched_switch");
    if model.no_cpu > 0 {
        let n = model.no_cpu;
        notes.push(format!(
            "{n} events do not say on which CPU they happened and are only counted"
        ));
    }
    notes
}
