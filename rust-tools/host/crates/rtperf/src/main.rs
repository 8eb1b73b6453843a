// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `rtperf`: what the desk does with the results of a board.

#![forbid(unsafe_code)]

mod analyze;
mod collect;
mod gate;
mod output;
mod progress;
mod runs_json;
mod runs_table;
mod verify;

use clap::{Parser, Subcommand, ValueEnum};
use std::process::ExitCode;

/// All good.
pub const EXIT_GOOD: u8 = 0;
/// Something is damaged, or a limit is missed; it has been named.
pub const EXIT_BAD: u8 = 1;
/// There was nothing to work with.
pub const EXIT_UNUSABLE: u8 = 2;

/// Collects, verifies and judges what rtperf-run measured on a board
#[derive(Parser)]
#[command(
    version,
    max_term_width = 80,
    after_help = "\
Exit status of every command: 0 all good, 1 something is damaged or a limit \
is missed (it is named), 2 unusable: nothing to work with, or wrong usage."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Collect(collect::Args),
    Verify(verify::Args),
    Gate(gate::Args),
    Analyze(analyze::Args),
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Collect(args) => collect::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Gate(args) => gate::run(&args),
        Command::Analyze(args) => analyze::run(&args),
    };
    match result {
        Ok(status) => ExitCode::from(status),
        Err(e) => {
            output::complain(&format!("{e:#}"));
            ExitCode::from(EXIT_UNUSABLE)
        }
    }
}
