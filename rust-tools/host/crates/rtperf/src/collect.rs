// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `rtperf collect`.

use crate::progress::Display;
use crate::{EXIT_BAD, EXIT_GOOD, Format, output, runs_json, runs_table};
use rtperf_card::{CollectedRun, Collection, Kept, printable};
use serde_json::json;
use std::path::PathBuf;

/// Copy the runs off a card, and check them
///
/// Reads partition tables and file systems itself: nothing is mounted, and
/// root is needed only where the card's device cannot be read without.
#[derive(clap::Args)]
#[command(after_help = "\
Exit status: 0 every run is good, 1 something is damaged, unfinished or had \
to be kept under another name, 2 nothing could be collected.")]
pub struct Args {
    /// A raw card image, a card's block device, or a folder with runs
    source: PathBuf,
    /// The folder that takes the run directories; made if missing
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Take this partition, whatever its label
    #[arg(long, value_name = "N")]
    partition: Option<u32>,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub fn run(args: &Args) -> anyhow::Result<u8> {
    let display = Display::new();
    let collected = rtperf_card::collect(
        &args.source,
        &args.output,
        args.partition,
        &mut |progress| display.show(progress),
    );
    drop(display);
    let collection = collected?;
    output::emit(&match args.format {
        Format::Text => text(args, &collection),
        Format::Json => json(args, &collection),
    })?;
    Ok(match collection.is_good() {
        true => EXIT_GOOD,
        false => EXIT_BAD,
    })
}

fn text(args: &Args, collection: &Collection) -> String {
    let source = args.source.display().to_string();
    let mut out = format!("{}: {}\n", printable(&source), collection.place);
    out += &runs_table::render(collection.runs.iter().map(|r| &r.report));
    for refused in &collection.refused {
        out += &format!("{}\n", printable(refused));
    }
    for run in &collection.runs {
        out += &format!("{}\n", printable(&where_kept(run)));
    }
    out
}

fn where_kept(run: &CollectedRun) -> String {
    let (id, path) = (&run.report.id, run.path.display());
    match run.kept {
        Kept::New => format!("{id}: collected into {path}"),
        Kept::AlreadyThere => format!("{id}: already collected, {path} is the same"),
        Kept::Beside => {
            format!("{id}: another run of this name was there; both are kept, this one in {path}")
        }
    }
}

fn json(args: &Args, collection: &Collection) -> String {
    let run = |r: &CollectedRun| {
        let mut value = runs_json::run(&r.report, &r.path);
        value["kept"] = json!(match r.kept {
            Kept::New => "new",
            Kept::AlreadyThere => "already-there",
            Kept::Beside => "beside",
        });
        value
    };
    runs_json::text(&json!({
        "source": args.source.to_string_lossy(),
        "place": collection.place,
        "good": collection.is_good(),
        "runs": collection.runs.iter().map(run).collect::<Vec<_>>(),
        "refused": collection.refused,
    }))
}
