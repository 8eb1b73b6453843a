// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What the gate found out, before it is rendered. Text from a card has
//! already been made safe to show here.

use crate::judge::{Judgement, Verdict};
use crate::limits::{Bound, Require};
use rtperf_record::{CheckStatus, Identity, Params, RunStatus, Stat};

/// Said wherever figures of a virtual board are shown.
pub const VIRTUAL: &str =
    "virtual board: these figures say nothing about the latency of a real board";

/// The whole of what the gate found.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub limits_file: String,
    pub require: Require,
    pub runs: Vec<RunReport>,
}

/// One run, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    pub path: String,
    /// Absent if the run cannot be read.
    pub about: Option<About>,
    /// What makes the run as a whole unusable, a sentence each.
    pub problems: Vec<String>,
    pub judged: Vec<Judged>,
}

/// What the run says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    pub id: String,
    pub status: RunStatus,
    pub instrumented: bool,
    pub virtual_board: bool,
    pub identity: Identity,
    /// Checks that are not ok, whether required or not.
    pub checks: Vec<CheckNote>,
}

/// A check that is not ok.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckNote {
    pub name: String,
    /// `before`, `after` or `before and after`.
    pub when: &'static str,
    pub status: CheckStatus,
    pub found: String,
    pub required: bool,
}

/// One bound on one figure of one measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The limit's metric, as the limits file has it.
    pub pattern: String,
    /// Whether there is such a measurement.
    pub matched: bool,
    /// `timer-latency`; of a limit that matches nothing, its own name.
    pub measurement: String,
    /// Parameters of the measurement and of the selection.
    pub params: Params,
    /// `exec` of `trace.irq`: which quantity, where there are several.
    pub part: Option<String>,
    pub stat: Stat,
    pub bound: Bound,
    /// Samples judged, where there are any to count.
    pub n: Option<u64>,
    pub judgement: Judgement,
    /// What happened while sampling, for the reader to weigh.
    pub notes: Vec<String>,
}

impl About {
    /// Image, board and kernel, as far as they are known.
    pub fn board(&self) -> String {
        let i = &self.identity;
        let model = i.model.as_deref().unwrap_or("unnamed board");
        let serial = i
            .serial
            .as_ref()
            .map_or_else(String::new, |s| format!(" serial {s}"));
        let or = |text: &str, other: &str| {
            if text.is_empty() {
                other.to_owned()
            } else {
                text.to_owned()
            }
        };
        format!(
            "image {}, {model}{serial}, kernel {}",
            or(&i.image, "unnamed"),
            or(&i.kernel_release, "unknown"),
        )
    }

    /// How the run stands, in words.
    pub fn state(&self, pass: &str) -> String {
        let not = if self.instrumented { "" } else { "not " };
        let status = status_word(self.status);
        format!("{status}, pass {pass}, {not}instrumented")
    }
}

pub fn status_word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Complete => "complete",
        RunStatus::Interrupted => "interrupted",
        RunStatus::Running => "cut off while running",
    }
}

impl CheckNote {
    /// `no_throttling failed before and after (required): …`
    pub fn sentence(&self) -> String {
        let status = match self.status {
            CheckStatus::Ok => "ok",
            CheckStatus::Failed => "failed",
            CheckStatus::Unknown => "unknown",
        };
        let required = if self.required { " (required)" } else { "" };
        format!(
            "{} {status} {}{required}: {}",
            self.name, self.when, self.found
        )
    }
}

impl Judged {
    /// The full metric name.
    pub fn metric(&self) -> String {
        format!("{}{}.{}", self.measurement, self.params, self.quantity())
    }

    /// `exec.p99`, or just `p99`.
    pub fn quantity(&self) -> String {
        match &self.part {
            Some(part) => format!("{part}.{}", self.stat),
            None => self.stat.to_string(),
        }
    }
}

/// How many limits came out which way, and problems of whole runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub pass: usize,
    pub miss: usize,
    pub unusable: usize,
    pub problems: usize,
}

impl RunReport {
    pub fn counts(&self) -> Counts {
        let count = |v| {
            self.judged
                .iter()
                .filter(|j| j.judgement.verdict == v)
                .count()
        };
        Counts {
            pass: count(Verdict::Pass),
            miss: count(Verdict::Miss),
            unusable: count(Verdict::Unusable),
            problems: self.problems.len(),
        }
    }

    /// The run-id, or the path where there is none.
    pub fn name(&self) -> &str {
        self.about.as_ref().map_or(&self.path, |about| &about.id)
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} passed, {} missed, {} unusable",
            self.pass, self.miss, self.unusable
        )?;
        match self.problems {
            0 => Ok(()),
            1 => f.write_str("; 1 problem with a run"),
            n => write!(f, "; {n} problems with runs"),
        }
    }
}

impl Report {
    pub fn counts(&self) -> Counts {
        let add = |a: Counts, b: Counts| Counts {
            pass: a.pass + b.pass,
            miss: a.miss + b.miss,
            unusable: a.unusable + b.unusable,
            problems: a.problems + b.problems,
        };
        self.runs
            .iter()
            .map(RunReport::counts)
            .fold(Counts::default(), add)
    }

    /// A proven miss outranks unusable data elsewhere.
    pub fn verdict(&self) -> Verdict {
        let counts = self.counts();
        if counts.miss > 0 {
            Verdict::Miss
        } else if counts.unusable + counts.problems > 0 || counts.pass == 0 {
            Verdict::Unusable
        } else {
            Verdict::Pass
        }
    }

    /// Whether any run is of a virtual board.
    pub fn is_virtual(&self) -> bool {
        self.runs
            .iter()
            .filter_map(|r| r.about.as_ref())
            .any(|about| about.virtual_board)
    }

    /// 0 pass, 1 a limit missed, 2 unusable.
    pub fn exit_status(&self) -> u8 {
        match self.verdict() {
            Verdict::Pass => 0,
            Verdict::Miss => 1,
            Verdict::Unusable => 2,
        }
    }
}
