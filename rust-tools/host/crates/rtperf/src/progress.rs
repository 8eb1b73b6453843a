// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What is being read, on standard error, for as long as it takes. It shows
//! nothing where standard error is no terminal.

use indicatif::{ProgressBar, ProgressStyle};
use rtperf_card::{Progress, printable};
use std::time::Duration;

pub struct Display {
    bar: ProgressBar,
}

impl Display {
    pub fn new() -> Display {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {bytes} {bytes_per_sec}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Display { bar }
    }

    pub fn show(&self, progress: Progress) {
        match progress {
            Progress::Run(id, n, all) => self
                .bar
                .set_message(format!("run {n} of {all}: {}", printable(id))),
            Progress::Bytes(n) => self.bar.inc(n),
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
