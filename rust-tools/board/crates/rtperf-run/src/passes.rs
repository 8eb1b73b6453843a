// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which passes a run makes: `measure`, untraced, and `explain`, short and
//! under LTTng, kept apart so that no figure is taken by a disturbed board.

use crate::cli::{Domain, Pass, RunArgs};
use crate::explain::explain;
use crate::fault::Fault;
use crate::jobs::Job;
use crate::lttng::Domains;
use crate::measure::measure_all;
use crate::plan::Plan;
use crate::run_dir::RunDir;
use rtperf_board_facts::place::Place;
use rtperf_probe::stopped;
use rtperf_record::{Outcome, PASS_MEASURE};

/// Which passes to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passes {
    pub measure: bool,
    pub explain: Explain,
    pub domains: Domains,
}

/// Whether to make the pass under LTTng.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Explain {
    No,
    /// Not asked for in so many words: left out without LTTng.
    IfInstalled,
    /// Asked for: without LTTng something is amiss.
    Yes,
}

/// What the passes are made of.
pub struct Work<'a> {
    pub plan: &'a Plan,
    pub jobs: &'a [Job],
    pub passes: Passes,
    pub place: &'a Place,
}

impl Passes {
    /// Those that the command line asks for.
    pub fn of(args: &RunArgs) -> Result<Passes, Fault> {
        let none = args.trace.contains(&Domain::None);
        let asked = args.pass.contains(&Pass::Explain);
        if none && args.trace.len() > 1 {
            return Err(Fault::unusable(
                "--trace none cannot stand beside a domain: give one or the other",
            ));
        }
        if none && asked {
            return Err(Fault::unusable(
                "--trace none leaves out the pass explain, which --pass asks for: drop one of them",
            ));
        }
        let explain = match asked {
            true => Explain::Yes,
            false if args.pass.is_empty() && !none => Explain::IfInstalled,
            false => Explain::No,
        };
        Ok(Passes {
            measure: args.pass.is_empty() || args.pass.contains(&Pass::Measure),
            explain,
            domains: Domains {
                kernel: args.trace.contains(&Domain::Kernel),
                ust: args.trace.contains(&Domain::Ust),
            },
        })
    }
}

/// The untraced pass, if it is to be.
pub fn measure(work: &Work, dir: &mut RunDir) -> Result<(), Fault> {
    if !work.passes.measure {
        return Ok(());
    }
    dir.begin_pass(PASS_MEASURE, count(work.jobs))?;
    measure_all(work.plan, work.jobs, PASS_MEASURE, dir)?;
    let status = stopped().map_or(Outcome::Done, |_| Outcome::Interrupted);
    dir.end_pass(status, None)
}

/// The pass under LTTng, if it is to be. Whether it did what was asked for.
pub fn explained(work: &Work, dir: &mut RunDir) -> Result<bool, Fault> {
    match work.passes.explain {
        Explain::No => Ok(true),
        _ => explain(work, dir),
    }
}

/// Measurements that the jobs lead to.
pub fn count(jobs: &[Job]) -> usize {
    jobs.iter().map(|j| j.params.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn passes(arguments: &[&str]) -> Result<Passes, String> {
        let all = ["rtperf-run"].iter().chain(arguments);
        let cli = Cli::try_parse_from(all).map_err(|e| e.to_string())?;
        Passes::of(&cli.run).map_err(|fault| fault.message)
    }

    #[test]
    fn both_passes_unless_told_otherwise() {
        let both = Domains {
            kernel: true,
            ust: true,
        };
        let default = Passes {
            measure: true,
            explain: Explain::IfInstalled,
            domains: both,
        };
        assert_eq!(passes(&[]), Ok(default));
        let asked = passes(&["--pass", "measure,explain"]).unwrap();
        assert_eq!((asked.measure, asked.explain), (true, Explain::Yes));
        let only = passes(&["--pass", "explain", "--trace", "ust"]).unwrap();
        assert_eq!((only.measure, only.explain), (false, Explain::Yes));
        assert!(only.domains.ust && !only.domains.kernel);
        for untraced in [["--pass", "measure"], ["--trace", "none"]] {
            let passes = passes(&untraced).unwrap();
            assert_eq!((passes.measure, passes.explain), (true, Explain::No));
        }
    }

    #[test]
    fn contradictions_and_unknown_words_are_refused() {
        for (arguments, word) in [
            (&["--pass", "explain", "--trace", "none"][..], "drop one"),
            (&["--trace", "none,kernel"], "one or the other"),
            (&["--trace", "kernal"], "kernal"),
            (&["--pass", "explan"], "explan"),
        ] {
            let why = passes(arguments).unwrap_err();
            assert!(why.contains(word), "{why}");
        }
    }
}
