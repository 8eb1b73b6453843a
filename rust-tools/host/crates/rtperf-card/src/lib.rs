// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Run directories at the desk: getting them off a card, checking them, and
//! opening them. Whatever a card or a run directory holds is hostile input.

#![forbid(unsafe_code)]

mod collect;
mod contain;
mod error;
mod ext4;
mod ext4_super;
mod folder;
mod journal;
mod journal_file;
mod judge;
mod keep;
mod mbr;
mod place;
mod probe;
mod run_dir;
mod samples;
mod source;
mod table;
mod take;
mod text;
mod tree;
mod vfat;
mod window;

pub use collect::{CollectedRun, Collection, Progress, collect, verify};
pub use error::CardError;
pub use judge::{RunReport, Verdict};
pub use keep::Kept;
pub use run_dir::RunDir;
pub use samples::Samples;
pub use take::Fault;
pub use text::printable;
