// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The run directory: what the board writes and the host reads.
//!
//! `docs/run-format.md` is the prose of this crate. Nothing here touches a
//! file: board and host have different ideas about trust and durability.

mod name;
mod npy;
mod run;
mod sample;
mod sums;
mod time;

pub use name::{split_common, Metric, Params, Stat};
pub use npy::{npy_header, parse_npy_header, NpyError, NPY_HEADER_LEN};
pub use run::{
    Check, CheckStatus, Checks, ClockInfo, ClockTuple, Identity, Measurement, Outcome, PassRecord,
    Run, RunStatus, Setting, Summary, TaskRecord, TracerRecord, Trigger, PASS_EXPLAIN,
    PASS_MEASURE,
};
pub use sample::{flags, phase, Sample, SAMPLE_BYTES};
pub use sums::{parse_sums, sums_line, SumsEntry};
pub use time::{format_ns, parse_ns};

/// Version of the run directory that this crate reads and writes.
pub const FORMAT_VERSION: u32 = 1;

/// Name of the partition (and of its file system) that takes results.
pub const RESULTS_LABEL: &str = "RTPERF";

/// Why a file of a run directory cannot be used. The text names the fault and
/// what to do; the caller adds the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordError(pub String);

impl std::fmt::Display for RecordError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RecordError {}
