// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `rtperf analyze`.

use crate::{EXIT_BAD, EXIT_GOOD, Format, output};
use anyhow::{Context, bail};
use rtperf_analysis::{Analysis, Options};
use rtperf_card::printable;
use std::path::{Path, PathBuf};

/// Tell from a kernel trace what interrupt handlers and threads did
///
/// Findings come first, each with the time and CPU to look it up by; then
/// tables of interrupt handlers, softirqs, DAQ stages, threads and timers.
#[derive(clap::Args)]
#[command(after_help = "\
Exit status: 0 the whole trace was analysed, 1 parts of it are damaged or \
events were lost (they are named), 2 it cannot be analysed.")]
pub struct Args {
    /// A trace as LTTng wrote it, or a run directory with one
    #[arg(value_name = "TRACE|RUN")]
    path: PathBuf,
    /// Handlers that run longer are findings; without it, those that run ten
    /// times their median and 50us more than it
    #[arg(long, value_name = "TIME", value_parser = time)]
    handler_bound: Option<i64>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    let options = Options {
        handler_bound_ns: args.handler_bound,
        ..Options::default()
    };
    let analysis = rtperf_analysis::analyze(&trace_of(&args.path)?, &options)
        .map_err(|e| anyhow::anyhow!("{}", printable(&e.to_string())))?;
    let text = match args.format {
        Format::Text => analysis.to_string(),
        Format::Json => {
            let json = serde_json::to_string_pretty(&analysis);
            json.context("the analysis cannot be written as JSON")? + "\n"
        }
    };
    output::emit(&text)?;
    Ok(if whole(&analysis) {
        EXIT_GOOD
    } else {
        EXIT_BAD
    })
}

fn whole(analysis: &Analysis) -> bool {
    let lost = analysis.lost_events + analysis.lost_packets;
    lost == 0 && analysis.diagnostics.is_empty()
}

/// Where the trace is: in a run, the pass `explain` holds it.
fn trace_of(path: &Path) -> anyhow::Result<PathBuf> {
    let trace = path.join("explain").join("trace");
    if trace.is_dir() {
        return Ok(trace);
    }
    if path.join("run.json").is_file() {
        bail!(
            "{}: this run has no trace; its board must measure with --pass measure,explain",
            printable(&path.to_string_lossy())
        );
    }
    Ok(path.to_owned())
}

/// A whole number with its unit.
fn time(text: &str) -> Result<i64, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let scale = match &text[digits.len()..] {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return Err("write a whole number with its unit, such as 100us".into()),
    };
    let number: i64 = digits
        .parse()
        .map_err(|_| "the number before the unit is no whole number")?;
    number
        .checked_mul(scale)
        .filter(|ns| *ns > 0)
        .ok_or_else(|| "out of range".into())
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_need_a_unit() {
        assert_eq!(time("100us"), Ok(100_000));
        assert_eq!(time("2s"), Ok(2_000_000_000));
        for wrong in [
            "",
            "100",
            "us",
            "1.5us",
            "-1us",
            "0us",
            "9999999999999s",
            "1 us",
            "1m",
        ] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
