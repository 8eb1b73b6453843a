// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The measuring part of the board tool: clocks, tasks, sample buffers and
//! the measurements themselves.
//!
//! Between the first and the last sample of a measurement nothing here
//! allocates, locks, prints, writes a file or takes a page fault; the counts
//! that prove it are part of every result.

mod alloc;
mod buffer;
mod clock;
mod clock_cost;
mod counter;
pub mod daq;
mod load;
mod memory;
pub mod pipe_switch;
mod pipe_task;
mod stop;
mod task;
pub mod timer_latency;
pub mod ust;

pub use alloc::CountingAllocator;
pub use buffer::SampleBuffer;
pub use clock::{clock_tuple, now_ns, Clock, ToMonotonic};
pub use clock_cost::clock_info;
pub use counter::{counter_frequency, read_counter, Frequency};
pub use load::{Competitor, RunningLoad};
pub use memory::lock_memory;
pub use stop::{block_signals_here, install_stop_signals, stop, stop_after, stopped, StopCause};
pub use task::{check_task, online_cpus, Policy, TaskSetup};

use rtperf_record::TaskRecord;

/// What one measurement brought home.
pub struct Sampled {
    /// Samples in order; fewer than asked when the run was stopped.
    pub samples: SampleBuffer,
    pub tasks: Vec<TaskRecord>,
    pub duration_ns: i64,
    /// Samples there should have been, where only sampling shows it; else it
    /// is what the plan asked for.
    pub expected_n: Option<u64>,
    /// Why sampling ended before the plan's number of rounds, if not by
    /// signal or deadline.
    pub cut_short: Option<String>,
}

/// Why a measurement could not be made. One sentence, no full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeError(pub String);

impl ProbeError {
    /// `what` failed with the calling thread's `errno`.
    fn os(what: &str) -> ProbeError {
        ProbeError(format!("{what}: {}", std::io::Error::last_os_error()))
    }
}

impl std::fmt::Display for ProbeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ProbeError {}
