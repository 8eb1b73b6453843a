// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Writing to the terminal or into a pipe.

use anyhow::Context;
use std::io::{ErrorKind, Write};

/// Writes results to standard output. A reader that has seen enough, such as
/// `head`, is no error.
pub fn emit(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("standard output cannot be written"),
    }
}

/// Says on standard error what went wrong. There is nobody to tell if that
/// fails too.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "rtperf: {text}");
}
