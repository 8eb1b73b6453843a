// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `rtperf collect` and `rtperf verify`.

use crate::folder::Folder;
use crate::judge::{RunReport, Verdict, judge};
use crate::keep::{Kept, Target};
use crate::place::{FALLBACK, Place, find};
use crate::source;
use crate::take::Take;
use crate::tree::{Kind, Tree, join, safe_name};
use crate::{CardError, printable};
use std::path::{Path, PathBuf};

/// No card has more runs.
const RUNS_MAX: usize = 4096;

/// What is going on, for a progress display.
#[derive(Debug, Clone, Copy)]
pub enum Progress<'a> {
    /// A run is being read: its id, its place among all, and how many.
    Run(&'a str, usize, usize),
    /// So many more bytes were read.
    Bytes(u64),
}

/// Everything that was found in a source.
#[derive(Debug)]
pub struct Collection {
    /// Where in the source the runs are, in words.
    pub place: String,
    pub runs: Vec<CollectedRun>,
    /// What looked like a run and could not be collected, and why.
    pub refused: Vec<String>,
}

#[derive(Debug)]
pub struct CollectedRun {
    pub report: RunReport,
    pub kept: Kept,
    /// Where the run directory is now.
    pub path: PathBuf,
}

impl Collection {
    /// Whether every run is good and was collected under its own name.
    pub fn is_good(&self) -> bool {
        let good =
            |r: &CollectedRun| r.report.verdict == Verdict::Good && !matches!(r.kept, Kept::Beside);
        self.refused.is_empty() && self.runs.iter().all(good)
    }
}

/// Copies every run in `source` into the folder `into` and checks it.
pub fn collect(
    source: &Path,
    into: &Path,
    partition: Option<u32>,
    watch: &mut dyn FnMut(Progress),
) -> Result<Collection, CardError> {
    let place = open(source, partition)?;
    let (ids, mut refused) = run_ids(source, &place)?;
    if ids.is_empty() && refused.is_empty() {
        let what = format!("has no runs in {}", place.described);
        return Err(CardError::unusable(source, what));
    }
    let target = Target::open(into)?;
    let mut budget = place.tree.capacity();
    let mut runs = Vec::new();
    for (i, id) in ids.iter().enumerate() {
        watch(Progress::Run(id, i + 1, ids.len()));
        let partial = target.begin(id)?;
        let take = Take {
            tree: &*place.tree,
            root: &join(&place.root, id),
            copy_to: Some(&partial),
            progress: &mut |n| watch(Progress::Bytes(n)),
            budget: &mut budget,
        };
        let contents = take.run()?;
        let nothing = contents.files.values().all(Option::is_none);
        if nothing {
            target.discard(&partial)?;
            let why = contents
                .faults
                .first()
                .map_or(String::new(), |f| format!(": {f}"));
            refused.push(format!("run {id} has no readable file{why}"));
            continue;
        }
        let (path, kept) = target.keep(id, &partial, &contents)?;
        let report = judge(id, contents);
        runs.push(CollectedRun { report, kept, path });
    }
    Ok(Collection {
        place: place.described,
        runs,
        refused,
    })
}

/// Checks a collected run directory.
pub fn verify(run: &Path, watch: &mut dyn FnMut(Progress)) -> Result<RunReport, CardError> {
    if !run.is_dir() {
        let what = "is no folder; give a run directory that rtperf collect wrote";
        return Err(CardError::unusable(run, what));
    }
    let tree =
        Folder::open(run).map_err(|e| CardError::unusable(run, format!("cannot be read: {e}")))?;
    if !is_run(&tree, "") {
        let what = "has no run.json, so it is no run directory";
        return Err(CardError::unusable(run, what));
    }
    let absolute = std::path::absolute(run).unwrap_or_else(|_| run.to_owned());
    let name = absolute
        .file_name()
        .map_or("run".into(), |n| n.to_string_lossy());
    watch(Progress::Run(&name, 1, 1));
    let take = Take {
        tree: &tree,
        root: "",
        copy_to: None,
        progress: &mut |n| watch(Progress::Bytes(n)),
        budget: &mut u64::MAX.clone(),
    };
    Ok(judge(&name, take.run()?))
}

fn open(source: &Path, partition: Option<u32>) -> Result<Place, CardError> {
    match source::open(source)? {
        source::Source::Card(window) => find(source, &window, partition),
        source::Source::Folder if partition.is_some() => Err(CardError::unusable(
            source,
            "is a folder and has no partitions; leave out --partition",
        )),
        source::Source::Folder => folder(source),
    }
}

/// A folder of runs, the root of a board's file system, or one run.
fn folder(source: &Path) -> Result<Place, CardError> {
    let unreadable = |e| CardError::unusable(source, format!("cannot be read: {e}"));
    let absolute = source.canonicalize().map_err(unreadable)?;
    let tree = Folder::open(&absolute).map_err(unreadable)?;
    let place = |tree, root: &str, described: &str, only| Place {
        tree: Box::new(tree),
        root: root.to_owned(),
        described: described.to_owned(),
        only,
    };
    let name = absolute
        .file_name()
        .and_then(|n| safe_name(n.as_encoded_bytes()));
    if is_run(&tree, "")
        && let (Some(parent), Some(name)) = (absolute.parent(), name)
    {
        let tree = Folder::open(parent).map_err(unreadable)?;
        return Ok(place(tree, "", "one run directory", Some(name.to_owned())));
    }
    let has_fallback = tree.list(FALLBACK).is_ok_and(|entries| !entries.is_empty());
    match has_fallback {
        true => Ok(place(tree, FALLBACK, "folder var/lib/rtperf", None)),
        false => Ok(place(tree, "", "this folder", None)),
    }
}

/// Names of the run directories, and what looked like one but cannot be.
fn run_ids(source: &Path, place: &Place) -> Result<(Vec<String>, Vec<String>), CardError> {
    let tree = &*place.tree;
    if let Some(only) = &place.only {
        return Ok((vec![only.clone()], vec![]));
    }
    let entries = tree.list(&place.root).map_err(|what| {
        CardError::unusable(
            source,
            format!("{}: its top folder {what}", place.described),
        )
    })?;
    let mut ids = Vec::new();
    let mut refused = Vec::new();
    for entry in entries {
        match (&entry.kind, safe_name(&entry.name)) {
            (Kind::Folder, Some(name))
                if !name.starts_with('.') && is_run(tree, &join(&place.root, name)) =>
            {
                ids.push(name.to_owned());
            }
            (Kind::Folder, None) => {
                let name = entry.name.escape_ascii();
                refused.push(format!(
                    "folder {name} has a name that no run has; left out"
                ));
            }
            (Kind::Unreadable(what), _) => {
                let name = String::from_utf8_lossy(&entry.name);
                refused.push(printable(&format!("{name} {what}")).into_owned());
            }
            _ => {}
        }
    }
    if ids.len() > RUNS_MAX {
        let what = format!("has more than {RUNS_MAX} runs, so it is damaged");
        return Err(CardError::unusable(source, what));
    }
    Ok((ids, refused))
}

/// Whether a folder is a run directory, however damaged.
fn is_run(tree: &dyn Tree, folder: &str) -> bool {
    match tree.list(folder) {
        Ok(entries) => entries
            .iter()
            .any(|e| matches!(&e.name[..], b"run.json" | b"SHA256SUMS" | b"measure")),
        // Only lost+found is never a run; any other gets its sentence.
        Err(_) => !folder.ends_with("lost+found"),
    }
}
