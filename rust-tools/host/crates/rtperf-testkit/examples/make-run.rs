// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Writes a small run directory: `make-run FOLDER ID`, for trials by hand.

use rtperf_testkit::RunBuilder;
use std::path::Path;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, folder, id] = &args[..] else {
        eprintln!("usage: make-run FOLDER ID");
        std::process::exit(2);
    };
    let latencies: Vec<i64> = (0..1000).map(|i| 9_000 + i * 37 % 4_000).collect();
    let run = RunBuilder::new(id)
        .measured("timer-latency", &[("cpu", "0")], &latencies)
        .measured("timer-latency", &[("cpu", "1")], &latencies);
    println!("{}", run.write(Path::new(folder)).display());
}
