// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs as a table for people.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use rtperf_card::{RunReport, printable};
use rtperf_record::{Outcome, RunStatus};
use std::fmt::Write;

const HEAD: [&str; 7] = [
    "run", "board", "image", "status", "measured", "samples", "verdict",
];
const SAMPLES: usize = 5;

/// A row for each run, and below it what is wrong or worth knowing.
pub fn render<'a>(reports: impl Iterator<Item = &'a RunReport> + Clone) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(HEAD);
    if let Some(column) = table.column_mut(SAMPLES) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for report in reports.clone() {
        table.add_row(row(report));
    }
    let mut out = format!("{}\n", table.trim_fmt());
    // Writing to a String cannot fail.
    for report in reports.clone() {
        let id = printable(&report.id);
        for fault in &report.faults {
            let _ = writeln!(out, "{id}: {fault}");
        }
        for note in &report.notes {
            let _ = writeln!(out, "{id}: {}", printable(note));
        }
    }
    let is_virtual = |r: &RunReport| r.run.as_ref().is_some_and(|r| r.identity.virtual_board);
    if reports.clone().any(is_virtual) {
        let _ = writeln!(out, "virtual board: figures say nothing of a real one");
    }
    out
}

fn row(report: &RunReport) -> [String; 7] {
    let text = |s: &str| printable(s).into_owned();
    let Some(run) = &report.run else {
        let unknown = || "?".to_owned();
        return [
            text(&report.id),
            unknown(),
            unknown(),
            unknown(),
            unknown(),
            unknown(),
            report.verdict.word().to_owned(),
        ];
    };
    let identity = &run.identity;
    let model = identity.model.as_deref().unwrap_or(&identity.architecture);
    [
        text(&report.id),
        match identity.virtual_board {
            true => text(&format!("{model} (virtual)")),
            false => text(model),
        },
        text(&identity.image),
        status(run.status).to_owned(),
        outcomes(report),
        report.samples().to_string(),
        report.verdict.word().to_owned(),
    ]
}

pub fn status(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "running",
        RunStatus::Complete => "complete",
        RunStatus::Interrupted => "interrupted",
    }
}

/// `3 done, 1 failed`: what did not happen is left out.
fn outcomes(report: &RunReport) -> String {
    let all = [
        (Outcome::Done, "done"),
        (Outcome::Failed, "failed"),
        (Outcome::Skipped, "skipped"),
        (Outcome::Interrupted, "interrupted"),
    ];
    let counts = all.map(|(outcome, word)| (report.count(outcome), word));
    let some: Vec<String> = counts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| format!("{n} {word}"))
        .collect();
    match some.is_empty() {
        true => "none".to_owned(),
        false => some.join(", "),
    }
}
