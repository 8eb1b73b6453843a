// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a sentence to the user and an exit status are made of.

/// Why the command ends without doing what was asked.
#[derive(Debug)]
pub struct Fault {
    /// One sentence: what, where, what to do.
    pub message: String,
    pub exit: u8,
}

/// Something failed or was skipped, the rest was measured.
pub const EXIT_PARTLY: u8 = 1;
/// Nothing usable.
pub const EXIT_UNUSABLE: u8 = 2;
/// Ended by a signal.
pub const EXIT_INTERRUPTED: u8 = 130;

impl Fault {
    /// Nothing usable comes of it.
    pub fn unusable(message: impl std::fmt::Display) -> Fault {
        Fault {
            message: message.to_string(),
            exit: EXIT_UNUSABLE,
        }
    }
}
