// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `rtperf verify`.

use crate::progress::Display;
use crate::{EXIT_BAD, EXIT_GOOD, EXIT_UNUSABLE, Format, output, runs_json, runs_table};
use rtperf_card::{RunReport, Verdict};
use serde_json::json;
use std::path::PathBuf;

/// Check run directories against their checksums
#[derive(clap::Args)]
#[command(after_help = "\
Exit status: 0 every run is good, 1 a run is damaged or unfinished, \
2 something given is no run directory.")]
pub struct Args {
    /// Run directories
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    let display = Display::new();
    let mut reports = Vec::new();
    let mut unusable = Vec::new();
    for path in &args.runs {
        match rtperf_card::verify(path, &mut |progress| display.show(progress)) {
            Ok(report) => reports.push((path, report)),
            Err(e) => unusable.push(e.to_string()),
        }
    }
    drop(display);
    let good = |(_, r): &(_, RunReport)| r.verdict == Verdict::Good;
    let all_good = unusable.is_empty() && reports.iter().all(good);
    match args.format {
        Format::Text if reports.is_empty() => {}
        Format::Text => output::emit(&runs_table::render(reports.iter().map(|(_, r)| r)))?,
        Format::Json => {
            let runs: Vec<_> = reports.iter().map(|(p, r)| runs_json::run(r, p)).collect();
            let all = json!({"good": all_good, "runs": runs, "unusable": unusable});
            output::emit(&runs_json::text(&all))?;
        }
    }
    unusable.iter().for_each(|e| output::complain(e));
    Ok(match (all_good, unusable.is_empty()) {
        (true, _) => EXIT_GOOD,
        (false, true) => EXIT_BAD,
        (false, false) => EXIT_UNUSABLE,
    })
}
