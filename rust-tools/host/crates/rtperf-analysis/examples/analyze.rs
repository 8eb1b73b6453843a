// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Prints the analysis of a trace: `analyze TRACE`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("give a trace")?;
    print!(
        "{}",
        rtperf_analysis::analyze(path.as_ref(), &Default::default())?
    );
    Ok(())
}
