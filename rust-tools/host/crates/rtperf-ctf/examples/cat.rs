// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Prints a trace as text: `cat TRACE`.

use rtperf_ctf::{TextWriter, Trace};
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("give a trace")?;
    let trace = Trace::open(path.as_ref())?;
    let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let (mut text, mut reader) = (TextWriter::new(), trace.read());
    while let Some(event) = reader.next_event() {
        out.write_all(text.line(&event))?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    for fault in trace
        .diagnostics()
        .list()
        .iter()
        .chain(reader.diagnostics().list())
    {
        eprintln!("{fault}");
    }
    Ok(())
}
