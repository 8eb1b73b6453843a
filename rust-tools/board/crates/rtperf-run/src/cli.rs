// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

pub const DEFAULT_PLAN: &str = "/etc/rtperf/plan.yaml";

#[derive(Parser)]
#[command(
    name = "rtperf-run",
    version,
    about = "Measures the real-time behaviour of the board it runs on",
    after_help = "Exit status:\n  \
        0    everything was measured\n  \
        1    something failed or was skipped; the rest is in the run directory\n  \
        2    nothing usable: bad arguments or plan, no place for results, no permission\n  \
        130  interrupted; what was finished is in the run directory",
    args_conflicts_with_subcommands = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Subcommand)]
pub enum Command {
    /// List the measurements, their parameters and what a sample is
    List,
    /// Check whether figures taken on this board can be trusted; exit 1 if a check fails
    Check,
    /// Print the plan as it would be executed, every default filled in
    Plan(PlanArgs),
}

#[derive(Args)]
pub struct PlanArgs {
    /// Plan to read [default: /etc/rtperf/plan.yaml]
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Measure only what is so named (may be repeated)
    #[arg(long, value_name = "MEASUREMENT")]
    pub only: Vec<String>,
    /// Take a tenth of the rounds, at least 100: to try things out
    #[arg(long)]
    pub quick: bool,
}

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub plan: PlanArgs,
    /// Where the run directory goes [default: the partition labelled RTPERF,
    /// else /var/lib/rtperf]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Passes to make: measure (untraced, the one that gates latency), explain
    /// (a tenth of the rounds under LTTng) [default: both, explain only where
    /// LTTng is installed]
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    pub pass: Vec<Pass>,
    /// What LTTng records in the pass explain; none leaves that pass out
    #[arg(
        long,
        value_name = "DOMAIN",
        value_delimiter = ',',
        default_value = "kernel,ust"
    )]
    pub trace: Vec<Domain>,
    /// A failed check is an error: nothing is measured then
    #[arg(long)]
    pub strict: bool,
    /// Run unattended: wait for the board to settle, keep to the plan's number
    /// of runs and deadline, print RTPERF-DONE, then do as the plan says
    #[arg(long)]
    pub autorun: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Pass {
    Measure,
    Explain,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Domain {
    Kernel,
    Ust,
    None,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
