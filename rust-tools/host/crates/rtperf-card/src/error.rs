// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Why something on a card or in a run directory cannot be used.

use crate::printable;
use std::path::Path;

/// One sentence each: where, what, and what to do about it. The text is fit
/// for a terminal whatever the card said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CardError {
    /// There is nothing to work with.
    #[error("{0}")]
    Unusable(String),
    /// A part of a run is not what was written on the board.
    #[error("{0}")]
    Damaged(String),
}

impl CardError {
    pub(crate) fn unusable(place: impl AsRef<Path>, what: impl std::fmt::Display) -> CardError {
        CardError::Unusable(sentence(place.as_ref(), what))
    }

    pub(crate) fn damaged(place: impl AsRef<Path>, what: impl std::fmt::Display) -> CardError {
        CardError::Damaged(sentence(place.as_ref(), what))
    }
}

fn sentence(place: &Path, what: impl std::fmt::Display) -> String {
    printable(&format!("{} {what}", place.display())).into_owned()
}
