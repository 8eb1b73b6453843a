// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `rtperf gate`.

use crate::{EXIT_BAD, EXIT_UNUSABLE, output};
use anyhow::{Context, bail};
use rtperf_analysis::MetricSamples;
use rtperf_card::{Fault, RunDir, printable};
use rtperf_gate::{Limits, Report, RunReport, TraceFigures, TraceSeries, Verdict};
use rtperf_record::{Measurement, Run};
use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

/// Judge runs by a limits file
///
/// Every figure is computed from the raw samples. A percentile passes when it
/// is proven to hold its limit with 95 % confidence, and misses when it is
/// proven not to. Limits on trace.… are judged from the trace of the pass
/// explain.
#[derive(clap::Args)]
#[command(after_help = "\
Exit status: 0 every limit holds, 1 a limit is missed, 2 the data, the limits \
file or the arguments cannot be used. A proven miss outranks unusable data.")]
pub struct Args {
    /// The limits file; docs/gate.md describes it. Of several, all limits and
    /// requirements hold
    #[arg(long, value_name = "FILE", required = true)]
    limits: Vec<PathBuf>,
    /// Run directories, each judged by itself
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Also write JUnit XML, for a CI server
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Also write JSON, for programs
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also write Markdown, for a merge request
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Runs must be of this image, as `identity.image` in run.json names it
    #[arg(long, value_name = "NAME")]
    expect_image: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    Junit,
    Markdown,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    let limits = all_limits(&args.limits)?;
    let names = args.limits.iter().map(|path| name_of(path));
    let image = args.expect_image.as_deref();
    let report = Report {
        limits_file: names.collect::<Vec<_>>().join(", "),
        runs: args
            .runs
            .iter()
            .map(|path| judge(&limits, image, path))
            .collect(),
        require: limits.require,
    };
    let mut status = report.exit_status();
    for (format, path) in [
        (Format::Junit, &args.junit),
        (Format::Json, &args.json),
        (Format::Markdown, &args.markdown),
    ] {
        let Some(path) = path else { continue };
        if let Err(e) = std::fs::write(path, render(&report, format)?) {
            let path = path.to_string_lossy();
            output::complain(&printable(&format!("{path} cannot be written: {e}")));
            // A proven miss outranks this as well.
            status = if report.verdict() == Verdict::Miss {
                EXIT_BAD
            } else {
                EXIT_UNUSABLE
            };
        }
    }
    output::emit(&render(&report, args.format)?)?;
    Ok(status)
}

fn name_of(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

/// The limits of all files, in their order.
fn all_limits(paths: &[PathBuf]) -> anyhow::Result<Limits> {
    let mut all: Option<Limits> = None;
    for path in paths {
        let limits = read_limits(path)?;
        all = Some(match all {
            None => limits,
            Some(all) => {
                let joined = all.and(limits);
                joined.map_err(|e| anyhow::anyhow!("{} and those before it: {e}", name_of(path)))?
            }
        });
    }
    all.context("no limits file was given")
}

fn read_limits(path: &Path) -> anyhow::Result<Limits> {
    let name = name_of(path);
    let mut text = String::new();
    let file = File::open(path).with_context(|| format!("{name} cannot be read"))?;
    file.take(rtperf_gate::LARGEST + 1)
        .read_to_string(&mut text)
        .with_context(|| format!("{name} cannot be read"))?;
    if text.len() as u64 > rtperf_gate::LARGEST {
        bail!("{name} is larger than 1 MiB, so it is no limits file");
    }
    text.parse().map_err(|e| anyhow::anyhow!("{name}: {e}"))
}

fn judge(limits: &Limits, image: Option<&str>, path: &Path) -> RunReport {
    let name = path.to_string_lossy();
    let (dir, faults) = match open(path) {
        Ok(opened) => opened,
        Err(why) => return rtperf_gate::unreadable(&name, &why),
    };
    let read = |measurement: &Measurement| {
        let samples = dir.samples(measurement).map_err(|e| e.to_string())?;
        Ok(samples.iter().collect())
    };
    let trace = || trace_figures(path, dir.run(), &faults);
    rtperf_gate::judge_run(limits, image, &name, dir.run(), &read, &trace)
}

/// What the analysis says of the run's trace.
fn trace_figures(path: &Path, run: &Run, faults: &[Fault]) -> Result<TraceFigures, String> {
    let trace = path.join("explain").join("trace");
    if !trace.is_dir() {
        let explained = run.passes.iter().any(|pass| pass.name == "explain");
        return Err(if explained {
            "the run's pass 'explain' has left no trace; its log.txt says why".to_owned()
        } else {
            "the run has no trace; its board must measure with --pass measure,explain".to_owned()
        });
    }
    let of_trace = faults
        .iter()
        .filter(|f| f.file.starts_with("explain/trace/"));
    let mut damage: Vec<String> = of_trace.map(Fault::to_string).collect();
    let options = rtperf_analysis::Options::default();
    let analysis =
        rtperf_analysis::analyze(&trace, &options).map_err(|e| match damage.first() {
            Some(fault) => format!("{fault}, and {e}"),
            None => e.to_string(),
        })?;
    damage.extend(analysis.diagnostics.iter().cloned());
    Ok(TraceFigures {
        lost_events: analysis.lost_events,
        lost_packets: analysis.lost_packets,
        damage,
        series: analysis.metrics().into_iter().filter_map(series).collect(),
    })
}

fn series(metric: MetricSamples) -> Option<TraceSeries> {
    let summary = metric.series.summary()?;
    Some(TraceSeries {
        measurement: metric.measurement.to_owned(),
        params: metric.params.clone(),
        part: metric.part.map(str::to_owned),
        n: summary.n,
        mean_ns: summary.mean_ns,
        exact: summary.exact,
        suspect: summary.suspect,
        sorted: Box::new(move || {
            let mut sorted = metric.sorted_ns();
            // Known exactly, even where the others stand for their class.
            if let Some(first) = sorted.first_mut() {
                *first = summary.min_ns;
            }
            sorted
        }),
    })
}

/// Opens a run whose run.json is what the board wrote. Sample files answer for
/// themselves when they are read; faults of trace files are for whoever reads
/// the trace. No verdict rests on other files.
fn open(path: &Path) -> Result<(RunDir, Vec<Fault>), String> {
    let dir = RunDir::open(path).map_err(|e| e.to_string())?;
    let report = rtperf_card::verify(path, &mut |_| {}).map_err(|e| e.to_string())?;
    let telling = |f: &&Fault| matches!(f.file.as_str(), "run.json" | "SHA256SUMS");
    match report.faults.iter().find(telling) {
        Some(fault) => Err(format!("{}: {fault}", path.display())),
        None => Ok((dir, report.faults)),
    }
}

fn render(report: &Report, format: Format) -> anyhow::Result<String> {
    Ok(match format {
        Format::Text => rtperf_gate::text(report, width(), colour()),
        Format::Json => rtperf_gate::json(report),
        Format::Markdown => rtperf_gate::markdown(report),
        Format::Junit => rtperf_gate::junit(report).context("the report is no XML")?,
    })
}

/// Columns of the terminal, within what the table can be read at.
fn width() -> u16 {
    let terminal = comfy_table::Table::new().width();
    // A terminal that does not tell its size says 0.
    terminal.filter(|w| *w > 0).unwrap_or(100).clamp(80, 120)
}

fn colour() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
    std::io::stdout().is_terminal() && !refused && !dumb
}
