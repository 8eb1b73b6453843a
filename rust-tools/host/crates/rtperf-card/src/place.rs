// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Where on a card the results are.

use crate::ext4::Ext4Tree;
use crate::probe::{FsKind, probe};
use crate::table::{Layout, Partition, layout};
use crate::tree::Tree;
use crate::vfat::Vfat;
use crate::window::Window;
use crate::{CardError, printable};
use rtperf_record::RESULTS_LABEL;
use std::path::Path;

/// Where the board writes when it has no results partition.
pub(crate) const FALLBACK: &str = "var/lib/rtperf";

/// A file system or folder, and where in it the run directories are.
pub(crate) struct Place {
    pub tree: Box<dyn Tree>,
    pub root: String,
    /// In words, for people.
    pub described: String,
    /// The only run to take, where one was given.
    pub only: Option<String>,
}

/// A partition with what was found out about it.
struct Candidate {
    partition: Partition,
    window: Result<Window, u64>,
    fs: Option<(FsKind, String)>,
}

impl Candidate {
    fn new(card: &Window, partition: Partition) -> Candidate {
        let window = card.part(partition.start, partition.len);
        // Of a cut-off partition the part that is there still has a label.
        let there = card.len().saturating_sub(partition.start);
        let head = card.part(partition.start, there.min(partition.len));
        let fs = head.ok().and_then(|w| probe(&w));
        Candidate {
            partition,
            window,
            fs,
        }
    }

    fn has_results_label(&self) -> bool {
        self.partition.name.as_deref() == Some(RESULTS_LABEL)
            || self
                .fs
                .as_ref()
                .is_some_and(|(_, label)| label == RESULTS_LABEL)
    }

    fn describe(&self) -> String {
        let kind = self
            .fs
            .as_ref()
            .map_or("no known file system", |(k, _)| k.name());
        let label = self.fs.as_ref().map_or("", |(_, label)| label);
        let name = self.partition.name.as_deref().unwrap_or("");
        let mut out = format!("partition {} ({kind}", self.partition.number);
        for (what, value) in [("label", label), ("name", name)] {
            if !value.is_empty() {
                out += &format!(", {what} {}", printable(value));
            }
        }
        out + ")"
    }

    fn whole(&self, source: &Path) -> Result<&Window, CardError> {
        let describe = self.describe();
        self.window.as_ref().map_err(|missing| {
            CardError::unusable(
                source,
                format!(
                    "is cut off: {describe} reaches {missing} bytes past its end; \
                     copy the whole card again"
                ),
            )
        })
    }

    fn open(&self, source: &Path) -> Result<Box<dyn Tree>, CardError> {
        let window = self.whole(source)?;
        let what = format!("{}: {}", source.display(), self.describe());
        match &self.fs {
            Some((kind, _)) => open_fs(*kind, window, &what),
            None => Err(CardError::unusable(
                what,
                "holds neither ext4 nor vfat, the two that rtperf reads",
            )),
        }
    }
}

fn open_fs(kind: FsKind, window: &Window, what: &str) -> Result<Box<dyn Tree>, CardError> {
    let tree: Result<Box<dyn Tree>, String> = match kind {
        FsKind::Ext4 => Ext4Tree::open(window).map(|t| Box::new(t) as Box<dyn Tree>),
        FsKind::Vfat => Vfat::open(window).map(|t| Box::new(t) as Box<dyn Tree>),
    };
    let check = match kind {
        FsKind::Ext4 => "fsck.ext4",
        FsKind::Vfat => "fsck.vfat",
    };
    tree.map_err(|e| CardError::unusable(what, format!("{e}; try {check} on a copy of the card")))
}

/// Finds the results on a card or in an image of one. `number` is the
/// partition that the user chose, if any.
pub(crate) fn find(source: &Path, card: &Window, number: Option<u32>) -> Result<Place, CardError> {
    let partitions = match layout(card).map_err(|what| CardError::unusable(source, what))? {
        Layout::Bare => return bare(source, card, number),
        Layout::Partitions(partitions) => partitions,
    };
    let all: Vec<Candidate> = partitions
        .into_iter()
        .map(|p| Candidate::new(card, p))
        .collect();
    if let Some(number) = number {
        return chosen(source, &all, number);
    }
    let labelled: Vec<&Candidate> = all.iter().filter(|c| c.has_results_label()).collect();
    match labelled[..] {
        [one] => Ok(Place {
            tree: one.open(source)?,
            root: String::new(),
            described: one.describe(),
            only: None,
        }),
        [] => fallback(source, &all),
        _ => Err(ambiguous(source, &labelled, "are labelled RTPERF")),
    }
}

/// A file system without partition table: it was chosen by giving it.
fn bare(source: &Path, card: &Window, number: Option<u32>) -> Result<Place, CardError> {
    if let Some(number) = number {
        return Err(CardError::unusable(
            source,
            format!("has no partitions, leave out --partition {number}"),
        ));
    }
    let Some((kind, label)) = probe(card) else {
        return Err(CardError::unusable(source, "has no file system"));
    };
    let tree = open_fs(kind, card, &source.display().to_string())?;
    let root = results_root(&*tree);
    let mut described = format!("{} without partition table", kind.name());
    if !label.is_empty() {
        described += &format!(", label {}", printable(&label));
    }
    Ok(Place {
        tree,
        root,
        described,
        only: None,
    })
}

fn chosen(source: &Path, all: &[Candidate], number: u32) -> Result<Place, CardError> {
    let Some(candidate) = all.iter().find(|c| c.partition.number == number) else {
        return Err(CardError::unusable(
            source,
            format!("has no partition {number}; it has {}", list(all.iter())),
        ));
    };
    let tree = candidate.open(source)?;
    let root = results_root(&*tree);
    Ok(Place {
        tree,
        root,
        described: candidate.describe(),
        only: None,
    })
}

/// The fallback folder if there is one, else the top.
fn results_root(tree: &dyn Tree) -> String {
    match tree.list(FALLBACK) {
        Ok(entries) if !entries.is_empty() => FALLBACK.to_owned(),
        _ => String::new(),
    }
}

/// No partition carries the label: the board wrote into its root file system.
fn fallback(source: &Path, all: &[Candidate]) -> Result<Place, CardError> {
    let mut found = Vec::new();
    let mut unreadable = None;
    for candidate in all {
        if !matches!(candidate.fs, Some((FsKind::Ext4, _))) {
            continue;
        }
        match candidate.open(source) {
            Ok(tree) => {
                if results_root(&*tree) == FALLBACK {
                    found.push((candidate, tree));
                }
            }
            Err(e) => unreadable = Some(e),
        }
    }
    if found.len() > 1 {
        let both: Vec<&Candidate> = found.iter().map(|(c, _)| *c).collect();
        return Err(ambiguous(source, &both, "have results in /var/lib/rtperf"));
    }
    if let Some((candidate, tree)) = found.pop() {
        return Ok(Place {
            tree,
            root: FALLBACK.to_owned(),
            described: format!("{}, folder /{FALLBACK}", candidate.describe()),
            only: None,
        });
    }
    // What cannot be read may be just what is missing.
    if let Some(e) = unreadable {
        return Err(e);
    }
    for candidate in all {
        candidate.whole(source)?;
    }
    let what = match all {
        [] => "has an empty partition table, so no partition labelled RTPERF".to_owned(),
        _ => format!(
            "has no partition labelled RTPERF and no results in /{FALLBACK}; it has {}",
            list(all.iter())
        ),
    };
    Err(CardError::unusable(source, what))
}

fn list<'a>(all: impl Iterator<Item = &'a Candidate>) -> String {
    all.map(Candidate::describe).collect::<Vec<_>>().join(", ")
}

fn ambiguous(source: &Path, several: &[&Candidate], what: &str) -> CardError {
    let names = list(several.iter().copied());
    CardError::unusable(
        source,
        format!("is ambiguous: {names} {what}; choose one with --partition N"),
    )
}
