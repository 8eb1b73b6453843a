// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Whether a run directory is what the board wrote.

use crate::run_dir::parse_run;
use crate::take::{Contents, Fault};
use rtperf_record::{Outcome, Run, RunStatus, parse_sums};

/// How far a run directory can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Every file the board wrote is there and has its checksum.
    Good,
    /// The run was cut off; what it had finished is there and intact.
    Unfinished,
    /// Something is missing or changed.
    Damaged,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Good => "good",
            Verdict::Unfinished => "unfinished",
            Verdict::Damaged => "damaged",
        }
    }
}

/// What became of a run directory.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// Name of the run directory where it was found.
    pub id: String,
    /// None if run.json cannot be read.
    pub run: Option<Run>,
    pub verdict: Verdict,
    /// Each damaged file.
    pub faults: Vec<Fault>,
    /// What is worth knowing and no damage.
    pub notes: Vec<String>,
}

impl RunReport {
    /// Measurements that ended so.
    pub fn count(&self, outcome: Outcome) -> usize {
        let all = self.run.iter().flat_map(|r| &r.measurements);
        all.filter(|m| m.status == outcome).count()
    }

    /// Samples of all measurements together.
    pub fn samples(&self) -> u64 {
        let all = self.run.iter().flat_map(|r| &r.measurements);
        all.fold(0, |sum, m| sum.saturating_add(m.n))
    }

    pub fn measurements(&self) -> usize {
        self.run.as_ref().map_or(0, |r| r.measurements.len())
    }
}

/// Holds the contents of a run directory against its own records.
pub(crate) fn judge(id: &str, mut contents: Contents) -> RunReport {
    let run = read_run(&mut contents);
    let finished = contents.files.contains_key("SHA256SUMS");
    let mut notes = Vec::new();
    if finished {
        compare_sums(&mut contents, &mut notes);
    }
    if let Some(run) = &run {
        compare_measurements(run, &mut contents);
        if run.id != id {
            notes.push(format!("its run.json says it is run {}", run.id));
        }
        if finished && run.status == RunStatus::Running {
            contents.fault(
                "run.json",
                "says the run is still going, yet SHA256SUMS is there",
            );
        }
    }
    for leftover in &contents.leftovers {
        notes.push(format!(
            "{leftover} was being written when the run ended; left out"
        ));
    }
    let verdict = match (contents.faults.is_empty(), finished) {
        (false, _) => Verdict::Damaged,
        (true, true) => Verdict::Good,
        (true, false) => Verdict::Unfinished,
    };
    let mut report = RunReport {
        id: id.to_owned(),
        run,
        verdict,
        faults: contents.faults,
        notes,
    };
    if !finished {
        report.notes.insert(0, cut_off(&report));
    }
    report
}

fn cut_off(report: &RunReport) -> String {
    let n = report.measurements();
    let done = report.count(Outcome::Done);
    let planned = report.run.as_ref().map_or(0, |run| run.planned);
    format!(
        "unfinished: the run was cut off after {n} of {planned} measurement{}, {done} of them done",
        if planned == 1 { "" } else { "s" }
    )
}

fn read_run(contents: &mut Contents) -> Option<Run> {
    let Some(bytes) = contents.run_json.take() else {
        if !contents.faults.iter().any(|f| f.file == "run.json") {
            let what = match contents.files.contains_key("run.json") {
                true => "is damaged: no run.json is so large",
                false => "is missing",
            };
            contents.fault("run.json", what);
        }
        return None;
    };
    match parse_run(&bytes) {
        Ok(run) => Some(run),
        Err(what) => {
            // Half a file is damaged already, and said to be.
            if !contents.faults.iter().any(|f| f.file == "run.json") {
                contents.fault("run.json", what);
            }
            None
        }
    }
}

fn compare_sums(contents: &mut Contents, notes: &mut Vec<String>) {
    let text = contents.sums.take().map(String::from_utf8);
    let entries = match text {
        Some(Ok(text)) => parse_sums(&text).map_err(|e| e.to_string()),
        Some(Err(_)) => Err("is damaged: it is not UTF-8 text".into()),
        // Then it could not be read, which is known, or not be kept.
        None if contents.faults.iter().any(|f| f.file == "SHA256SUMS") => return,
        None => Err("is damaged: no SHA256SUMS is so large".into()),
    };
    let entries = match entries {
        Ok(entries) => entries,
        Err(what) => return contents.fault("SHA256SUMS", what),
    };
    let mut unlisted = contents.files.clone();
    unlisted.remove("SHA256SUMS");
    for entry in entries {
        unlisted.remove(&entry.path);
        compare(contents, &entry.path, &entry.sha256, "SHA256SUMS");
    }
    if unlisted.remove("run.json").is_some() {
        contents.fault("run.json", "is not in SHA256SUMS");
    }
    notes.extend(
        unlisted
            .keys()
            .map(|f| format!("{f} is not in SHA256SUMS, so not checked")),
    );
}

fn compare_measurements(run: &Run, contents: &mut Contents) {
    for m in &run.measurements {
        let (Some(file), Some(sha256)) = (&m.file, &m.sha256) else {
            if m.file.is_some() || m.status == Outcome::Done {
                let name = format!("{}{}", m.name, m.params);
                let what = format!("gives no checksum for the samples of {name}");
                contents.fault("run.json", what);
            }
            continue;
        };
        if m.file_is_inside() {
            compare(contents, file, sha256, "run.json");
        } else {
            let what = format!("names a file outside the run directory: {file}");
            contents.fault("run.json", what);
        }
    }
}

/// Enters a fault if a file is not the one that was recorded. A file whose
/// fault is already known gets no second one.
fn compare(contents: &mut Contents, file: &str, sha256: &str, by: &str) {
    let what = match contents.files.get(file) {
        Some(Some(found)) if found == sha256 => return,
        Some(Some(_)) => format!("is damaged: its SHA-256 is not the one in {by}"),
        Some(None) => return,
        None => format!("is missing, {by} has it"),
    };
    if !contents.faults.iter().any(|f| f.file == file) {
        contents.fault(file, what);
    }
}
