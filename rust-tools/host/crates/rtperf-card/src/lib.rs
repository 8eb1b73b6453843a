// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Run directories at the desk: getting them off a card, checking them, and
//! opening them. Whatever a card or a run directory holds is hostile input.

#![forbid(unsafe_code)]

mod error;
mod run_dir;
mod samples;
mod text;

pub use error::CardError;
pub use run_dir::RunDir;
pub use samples::Samples;
pub use text::printable;
