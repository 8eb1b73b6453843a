// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `rtperf-run`: measures the real-time behaviour of the board it runs on.

mod autorun;
mod cli;
mod execute;
mod explain;
mod fault;
mod jobs;
mod list;
mod lttng;
mod measure;
mod passes;
mod plan;
mod run_dir;
mod summary;
mod table;

use clap::Parser;
use cli::{Cli, Command, PlanArgs, RunArgs};
use fault::{Fault, EXIT_PARTLY, EXIT_UNUSABLE};
use rtperf_board_facts::place::{self, Place, Request};
use rtperf_board_facts::{checks, Root};
use rtperf_record::CheckStatus;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Counts, so that every run can show that its loops allocated nothing.
#[global_allocator]
static ALLOCATOR: rtperf_probe::CountingAllocator = rtperf_probe::CountingAllocator;

/// Where results go when no card is there.
const FALLBACK: &str = "/var/lib/rtperf";

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            // Help and version come this way too, with status 0.
            let _ = e.print();
            return ExitCode::from(e.exit_code() as u8);
        }
    };
    let outcome = match cli.command {
        Some(Command::List) => {
            print_line(list::TEXT.trim_end());
            Ok(0)
        }
        Some(Command::Check) => Ok(check()),
        Some(Command::Plan(args)) => show_plan(&args),
        None => run(&cli.run),
    };
    ExitCode::from(outcome.unwrap_or_else(|fault| {
        print_error(&fault.message);
        fault.exit
    }))
}

fn run(args: &RunArgs) -> Result<u8, Fault> {
    rtperf_probe::install_stop_signals().map_err(Fault::unusable)?;
    if args.autorun {
        return Ok(autorun::run(args));
    }
    let plan = plan::load(&args.plan)?;
    let place = find_place(args, Duration::ZERO)?;
    let ended = execute::run(&plan, args, &place)?;
    place.close().map_err(Fault::unusable)?;
    Ok(ended.exit)
}

/// The place for results, waiting for a card that shows up late.
fn find_place(args: &RunArgs, wait: Duration) -> Result<Place, Fault> {
    let request = Request {
        out: args.out.as_deref(),
        configured: Path::new(FALLBACK),
        need: 0,
        wait,
    };
    place::resolve(&Root::default(), &request).map_err(Fault::unusable)
}

fn check() -> u8 {
    let found = checks::read(&Root::default());
    print_line(table::checks(&found).trim_end());
    let failed = found.iter().any(|c| c.status == CheckStatus::Failed);
    if failed {
        EXIT_PARTLY
    } else {
        0
    }
}

fn show_plan(args: &PlanArgs) -> Result<u8, Fault> {
    let plan = plan::load(args)?;
    let text = serde_yaml::to_string(&plan).map_err(Fault::unusable)?;
    print_line(text.trim_end());
    Ok(0)
}

/// Prints a line; a reader that has gone is no reason to stop measuring.
fn print_line(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn print_error(message: &str) {
    let _ = writeln!(std::io::stderr(), "rtperf-run: {message}");
}

const _: () = assert!(EXIT_UNUSABLE == 2, "clap ends with 2 on bad arguments");
