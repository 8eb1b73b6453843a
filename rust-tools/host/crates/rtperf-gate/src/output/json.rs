// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The report for programs. `docs/gate.md` documents the shape; keys are only
//! ever added under one version.

use crate::figure::Figure;
use crate::report::{About, Judged, Report, RunReport, VIRTUAL};
use rtperf_record::CheckStatus;
use serde_json::{Value, json};

/// Version of the shape.
const VERSION: u32 = 1;

/// The report as one JSON object, with its line end.
pub fn json(report: &Report) -> String {
    let counts = report.counts();
    let value = json!({
        "format": "rtperf-gate",
        "version": VERSION,
        "verdict": report.verdict().word(),
        "exit_status": report.exit_status(),
        "counts": {
            "pass": counts.pass,
            "miss": counts.miss,
            "unusable": counts.unusable,
            "problems": counts.problems,
        },
        "caution": report.is_virtual().then_some(VIRTUAL),
        "limits_file": report.limits_file,
        "require": {
            "instrumented": report.require.instrumented,
            "pass": report.require.pass,
            "checks": report.require.checks,
            "lost_events": report.require.lost_events,
        },
        "runs": report.runs.iter().map(run).collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

fn run(run: &RunReport) -> Value {
    let mut out = json!({
        "path": run.path,
        "problems": run.problems,
        "limits": run.judged.iter().map(judged).collect::<Vec<_>>(),
    });
    if let (Some(about), Value::Object(map)) = (&run.about, &mut out) {
        map.extend(identity(about));
    }
    out
}

fn identity(about: &About) -> serde_json::Map<String, Value> {
    let i = &about.identity;
    let check = |c: &crate::report::CheckNote| {
        json!({
            "name": c.name,
            "when": c.when,
            "status": match c.status {
                CheckStatus::Ok => "ok",
                CheckStatus::Failed => "failed",
                CheckStatus::Unknown => "unknown",
            },
            "found": c.found,
            "required": c.required,
        })
    };
    let value = json!({
        "id": about.id,
        "status": about.status,
        "instrumented": about.instrumented,
        "virtual_board": about.virtual_board,
        "image": i.image,
        "model": i.model,
        "serial": i.serial,
        "architecture": i.architecture,
        "boot_id": i.boot_id,
        "kernel_release": i.kernel_release,
        "checks_not_ok": about.checks.iter().map(check).collect::<Vec<_>>(),
    });
    match value {
        Value::Object(map) => map,
        _ => serde_json::Map::new(),
    }
}

fn judged(judged: &Judged) -> Value {
    let figure = |f: &Figure| f.number.json();
    let j = &judged.judgement;
    json!({
        "limit": judged.pattern,
        "metric": judged.metric(),
        "measurement": judged.measurement,
        "params": judged.params,
        "part": judged.part,
        "stat": judged.stat.to_string(),
        "unit": judged.bound.value.unit.word(),
        "bound": judged.bound.side.word(),
        "limit_value": figure(&judged.bound.value),
        "value": j.value.as_ref().map(figure),
        "lower_95": j.confidence.as_ref().map(|(lower, _)| figure(lower)),
        "upper_95": j.confidence.as_ref().map(|(_, upper)| figure(upper)),
        "n": judged.n,
        "verdict": j.verdict.word(),
        "reason": (!j.reason.is_empty()).then_some(&j.reason),
        "notes": judged.notes,
    })
}
