// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use std::path::PathBuf;

/// Why nothing of a trace could be read. Faults that leave something readable
/// are [`crate::Diagnostic`]s.
#[derive(Debug, thiserror::Error)]
pub enum CtfError {
    #[error("{}: {error}", path.display())]
    Io {
        path: PathBuf,
        error: std::io::Error,
    },
    #[error(
        "{}: no trace here; give a folder that holds a CTF trace (a file named 'metadata' beside its streams)",
        .0.display()
    )]
    NoTrace(PathBuf),
    #[error("{0}")]
    Unreadable(crate::Diagnostic),
}
