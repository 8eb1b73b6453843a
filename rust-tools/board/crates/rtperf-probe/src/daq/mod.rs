// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `daq-stream` and `interrupt-latency`: blocks of the data-acquisition device
//! on their way from the edge to user space.
//!
//! The device stamps each block with the programmed expiry of the timer that
//! raised the edge, so time in which interrupts were off is part of what is
//! measured; the driver adds when its hard handler and its thread started.

mod device;
mod irq_thread;

pub use device::Device;
pub use irq_thread::irq_thread_priority;

use crate::clock::now_ns;
use crate::memory::TASK_STACK;
use crate::task::{TaskSetup, Usage};
use crate::ust::{Emitter, Trace};
use crate::{block_signals_here, stop, ProbeError, SampleBuffer, Sampled};
use device::{Scan, Stream, BLOCK_LATE, BLOCK_OVERRUN};
use rtperf_record::{flags, Sample};
use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{mpsc, Arc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Part of a block's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Timer expiry → hard interrupt handler.
    EdgeHardirq,
    /// Hard handler → threaded handler.
    HardirqThread,
    /// Threaded handler (command, transfer, check, push) → user space has it.
    ThreadUser,
    /// The whole way.
    EdgeUser,
}

impl Stage {
    pub const ALL: [Stage; 4] = [
        Stage::EdgeHardirq,
        Stage::HardirqThread,
        Stage::ThreadUser,
        Stage::EdgeUser,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Stage::EdgeHardirq => "edge-hardirq",
            Stage::HardirqThread => "hardirq-thread",
            Stage::ThreadUser => "thread-user",
            Stage::EdgeUser => "edge-user",
        }
    }

    /// (start, end) of this stage for a block that user space had at `user`.
    fn span(self, scan: &Scan, user: i64) -> (i64, i64) {
        match self {
            Stage::EdgeHardirq => (scan.edge, scan.hardirq),
            Stage::HardirqThread => (scan.hardirq, scan.thread),
            Stage::ThreadUser => (scan.thread, user),
            Stage::EdgeUser => (scan.edge, user),
        }
    }
}

/// What to measure.
#[derive(Debug, Clone)]
pub struct Daq {
    pub device: Device,
    /// The reading task.
    pub task: TaskSetup,
    /// Time from block to block, µs; as the device has it where not given.
    pub period_us: Option<u32>,
    /// One result each, in this order.
    pub stages: Vec<Stage>,
    /// Blocks to read.
    pub rounds: u32,
    /// Blocks before the first sample, not kept.
    pub warm_up: u32,
}

/// Measures: one result for each stage. Blocks that the device numbered but
/// that never came are in `expected_n`, so they are told as lost.
pub fn measure(plan: &Daq) -> Result<Vec<Sampled>, ProbeError> {
    let before = plan.device.period_us()?;
    let period = plan.period_us.unwrap_or(before);
    if period != before {
        plan.device.set_period_us(period)?;
    }
    let result = read_blocks(plan, period);
    if period != before {
        plan.device.set_period_us(before)?;
    }
    result
}

/// How the reading task ended.
struct Read {
    results: Vec<Sampled>,
    failed: Option<ProbeError>,
}

fn read_blocks(plan: &Daq, period_us: u32) -> Result<Vec<Sampled>, ProbeError> {
    let room = plan.rounds.max(plan.warm_up) as usize;
    let buffers = plan.stages.iter().map(|_| SampleBuffer::new(room));
    let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
    let progress = Arc::new(AtomicU32::new(0));
    let (done, ended) = mpsc::channel();
    let thread = start_reader(plan, buffers, Arc::clone(&progress), done)?;
    let patience =
        Duration::from_millis(1_000).max(Duration::from_micros(u64::from(period_us)) * 20);
    let stalled = watch(&thread, &ended, &progress, patience);
    let died = |_| Err(ProbeError("the reading task died".into()));
    let read = thread.join().unwrap_or_else(died)?;
    match read.failed {
        Some(why) if read.results.iter().all(|r| r.samples.as_slice().is_empty()) => Err(why),
        Some(why) => Ok(cut_short(read.results, why.0)),
        None if stalled => {
            let why = format!("{} sent no block for {patience:?}", plan.device.name());
            Ok(cut_short(read.results, why))
        }
        None => Ok(read.results),
    }
}

fn cut_short(mut results: Vec<Sampled>, why: String) -> Vec<Sampled> {
    for result in &mut results {
        result.cut_short = Some(why.clone());
    }
    results
}

extern "C" fn on_wake(_: libc::c_int) {}

fn start_reader(
    plan: &Daq,
    buffers: Vec<SampleBuffer>,
    progress: Arc<AtomicU32>,
    done: mpsc::Sender<()>,
) -> Result<JoinHandle<Result<Read, ProbeError>>, ProbeError> {
    // SIGURG, ignored by default, makes a read that waits for a block return.
    // SAFETY: a zeroed sigaction is valid; the handler does nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_wake as extern "C" fn(libc::c_int) as usize;
        libc::sigaction(libc::SIGURG, &action, std::ptr::null_mut());
    }
    let _blocked = block_signals_here();
    let plan = plan.clone();
    std::thread::Builder::new()
        .name("rtperf-daq".into())
        .stack_size(TASK_STACK)
        .spawn(move || {
            let read = read_task(&plan, buffers, &progress);
            // The watcher may have given up already.
            let _ = done.send(());
            read
        })
        .map_err(|e| ProbeError(format!("no reading thread can be started: {e}")))
}

/// Waits for the reader; wakes it when the run ends early or no block has come
/// for `patience`. Whether it was the latter.
fn watch(
    thread: &JoinHandle<Result<Read, ProbeError>>,
    ended: &mpsc::Receiver<()>,
    progress: &AtomicU32,
    patience: Duration,
) -> bool {
    let (mut last, mut since) = (0, Instant::now());
    let mut stalled = false;
    while ended.recv_timeout(Duration::from_millis(250)) == Err(mpsc::RecvTimeoutError::Timeout) {
        let now = progress.load(Ordering::Relaxed);
        if now != last {
            (last, since) = (now, Instant::now());
        }
        stalled = stalled || since.elapsed() > patience;
        if stalled || stop() {
            progress.store(ENOUGH, Ordering::Relaxed);
            // SAFETY: the thread has not been joined. Sent again and again:
            // one that arrives just before the read would be lost.
            unsafe { libc::pthread_kill(thread.as_pthread_t(), libc::SIGURG) };
        }
    }
    stalled
}

/// Progress value by which the watcher tells the reader to end.
const ENOUGH: u32 = u32::MAX;

fn read_task(
    plan: &Daq,
    buffers: Vec<SampleBuffer>,
    progress: &AtomicU32,
) -> Result<Read, ProbeError> {
    // SAFETY: the set is valid; only this thread's mask changes.
    unsafe {
        let mut wake: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&mut wake, libc::SIGURG);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &wake, std::ptr::null_mut());
    }
    plan.task.apply()?;
    let mut stream = plan.device.start()?;
    let mut reader = Reader {
        stages: &plan.stages,
        buffers,
        traces: Vec::new(),
        first: None,
        last: 0,
    };
    // One for each stage; none while there is no trace.
    let stages = 0..plan.stages.len();
    let traces: Vec<Emitter> = stages.map_while(|i| Emitter::of(i, None)).collect();
    traces.iter().for_each(Emitter::prepare);
    let mut failed = reader.blocks(&mut stream, plan.warm_up, progress).err();
    // Blocks that are waiting already are no fair start.
    while failed.is_none() && stream.is_ready() {
        failed = stream.next().err();
    }
    reader.buffers.iter_mut().for_each(SampleBuffer::clear);
    reader.first = None;
    reader.traces = traces;
    let (before, begun) = (Usage::now(), now_ns(libc::CLOCK_MONOTONIC));
    if failed.is_none() {
        failed = reader.blocks(&mut stream, plan.rounds, progress).err();
    }
    let duration_ns = now_ns(libc::CLOCK_MONOTONIC) - begun;
    let record = plan.task.record(0, before, Usage::now());
    drop(stream);
    let taken = reader.buffers.first().map_or(0, |b| b.as_slice().len()) as u64;
    let expected_n = reader.first.map(|first| {
        // The sequence wraps; the number of blocks does not. Blocks that were
        // not waited for count too when the reader ended early.
        let numbered = u64::from(reader.last.wrapping_sub(first)) + 1;
        numbered + u64::from(plan.rounds).saturating_sub(taken)
    });
    let result = |samples| Sampled {
        samples,
        tasks: vec![record.clone()],
        duration_ns,
        expected_n,
        cut_short: None,
    };
    Ok(Read {
        results: reader.buffers.into_iter().map(result).collect(),
        failed,
    })
}

struct Reader<'a> {
    stages: &'a [Stage],
    buffers: Vec<SampleBuffer>,
    /// Empty unless this is a traced pass.
    traces: Vec<Emitter>,
    first: Option<u32>,
    last: u32,
}

impl Reader<'_> {
    /// The sampling loop: reads so many blocks, or fewer when told to end.
    fn blocks(
        &mut self,
        stream: &mut Stream,
        rounds: u32,
        progress: &AtomicU32,
    ) -> Result<(), ProbeError> {
        let mut round = 0;
        while round < rounds {
            let Some(scan) = stream.next()? else {
                if progress.load(Ordering::Relaxed) == ENOUGH {
                    break;
                }
                continue;
            };
            let user = now_ns(libc::CLOCK_MONOTONIC);
            self.keep(&scan, user, round);
            round += 1;
            if progress.load(Ordering::Relaxed) == ENOUGH {
                break;
            }
            progress.store(round, Ordering::Relaxed);
        }
        Ok(())
    }

    fn keep(&mut self, scan: &Scan, user: i64, round: u32) {
        let mut bits = 0;
        if scan.flags & BLOCK_OVERRUN != 0 {
            bits |= flags::OVERRUN;
        }
        if scan.flags & BLOCK_LATE != 0 {
            bits |= flags::MERGED;
        }
        for (stage, buffer) in self.stages.iter().zip(&mut self.buffers) {
            let (start, end) = stage.span(scan, user);
            buffer.push(Sample {
                time_ns: end,
                latency_ns: end - start,
                round,
                flags: bits,
                ..Sample::default()
            });
        }
        for (trace, buffer) in self.traces.iter().zip(&self.buffers) {
            if let Some(sample) = buffer.as_slice().last() {
                trace.round_start(sample.task, round);
                trace.sample(sample);
            }
        }
        self.first.get_or_insert(scan.sequence);
        self.last = scan.sequence;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_add_up_and_lost_blocks_are_expected() {
        let stages = Stage::ALL;
        let mut reader = Reader {
            stages: &stages,
            buffers: stages
                .iter()
                .map(|_| SampleBuffer::new(4).unwrap())
                .collect(),
            traces: Vec::new(),
            first: None,
            last: 0,
        };
        for (round, sequence) in [(0, u32::MAX - 1), (1, u32::MAX), (2, 2)] {
            let scan = Scan {
                edge: 100,
                hardirq: 103,
                thread: 110,
                sequence,
                flags: if round == 2 { BLOCK_LATE } else { 0 },
            };
            reader.keep(&scan, 150, round);
        }
        let latency = |i: usize| reader.buffers[i].as_slice()[0].latency_ns;
        assert_eq!(
            [latency(0), latency(1), latency(2), latency(3)],
            [3, 7, 40, 50]
        );
        assert_eq!(reader.buffers[3].as_slice()[2].flags, flags::MERGED);
        assert_eq!(reader.last.wrapping_sub(reader.first.unwrap()) + 1, 5);
    }
}
