// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs for programs. `docs/collect.md` has every key.

use crate::runs_table::status;
use rtperf_card::RunReport;
use rtperf_record::Outcome;
use serde_json::{Value, json};
use std::path::Path;

pub fn run(report: &RunReport, path: &Path) -> Value {
    let run = report.run.as_ref();
    let identity = run.map(|r| &r.identity);
    let fault = |f: &rtperf_card::Fault| json!({"file": f.file, "what": f.what});
    json!({
        "id": report.id,
        "path": path.to_string_lossy(),
        "verdict": report.verdict.word(),
        "board": identity.and_then(|i| i.model.as_deref()),
        "virtual_board": identity.map(|i| i.virtual_board),
        "image": identity.map(|i| i.image.as_str()),
        "status": run.map(|r| status(r.status)),
        "measurements": {
            "done": report.count(Outcome::Done),
            "failed": report.count(Outcome::Failed),
            "skipped": report.count(Outcome::Skipped),
            "interrupted": report.count(Outcome::Interrupted),
        },
        "samples": report.samples(),
        "faults": report.faults.iter().map(fault).collect::<Vec<_>>(),
        "notes": report.notes,
    })
}

/// The text of a JSON document.
pub fn text(document: &Value) -> String {
    format!("{document:#}\n")
}
