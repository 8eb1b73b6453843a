// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The way of a block through the sample driver: GPIO edge, hard handler,
//! threaded handler, I2C command, SPI transfer, buffer.
//!
//! One thread handles a device's blocks one after the other, so that what
//! lies between its start and its push belongs to that block.

use crate::gaps::Gaps;
use crate::series::Series;

/// Another edge came before the block was latched: its edge is not known.
const FLAG_LATE: u64 = 1 << 1;
/// Devices told apart.
const MAX_DEVICES: usize = 64;
/// The driver's stamps and the trace must share a clock: further apart than
/// this they do not.
const SAME_CLOCK_NS: i64 = 1_000_000_000;

/// The stages, in the order in which they happen.
pub const STAGES: [&str; 10] = [
    "edge-hardirq",
    "hardirq-thread",
    "thread-i2c",
    "i2c",
    "i2c-spi",
    "spi",
    "spi-pushed",
    "edge-i2c",
    "edge-spi",
    "edge-pushed",
];

#[derive(Debug, Default)]
pub struct Device {
    pub number: i64,
    /// One series per entry of [`STAGES`].
    pub stages: [Series; STAGES.len()],
    pub blocks: u64,
    /// Blocks whose edge is not known.
    pub late: u64,
    /// Blocks that the driver missed in the sequence.
    pub lost: u64,
    /// The driver's stamps are of another clock than the trace's.
    pub other_clock: u64,
    /// When, from which sequence number, how many; the first few.
    pub losses: Vec<(i64, u64, u64)>,
    now: Marks,
}

/// Trace times (ticks) of the block in work.
#[derive(Debug, Default, Clone, Copy)]
struct Marks {
    thread: Option<i64>,
    i2c_start: Option<i64>,
    i2c_done: Option<i64>,
    spi_start: Option<i64>,
    spi_done: Option<i64>,
}

#[derive(Debug, Clone, Copy)]
pub enum Mark {
    Thread,
    I2cStart,
    I2cDone,
    SpiStart,
    SpiDone,
}

/// What the driver says when it pushes a block: its own stamps.
pub struct Pushed {
    pub flags: u64,
    pub edge: i64,
    pub hardirq: i64,
    pub thread: i64,
    pub pushed: i64,
}

#[derive(Debug, Default)]
pub struct Daq {
    pub devices: Vec<Device>,
}

impl Daq {
    fn device(&mut self, number: i64) -> Option<&mut Device> {
        let at = match self.devices.iter().position(|d| d.number == number) {
            Some(at) => at,
            None if self.devices.len() < MAX_DEVICES => {
                self.devices.push(Device {
                    number,
                    ..Device::default()
                });
                self.devices.len() - 1
            }
            None => return None,
        };
        self.devices.get_mut(at)
    }

    pub fn mark(&mut self, device: i64, mark: Mark, ticks: i64) {
        let Some(device) = self.device(device) else {
            return;
        };
        let now = &mut device.now;
        match mark {
            Mark::Thread => {
                *now = Marks {
                    thread: Some(ticks),
                    ..Marks::default()
                }
            }
            // A block may take several commands: the first one counts.
            Mark::I2cStart => now.i2c_start = now.i2c_start.or(Some(ticks)),
            Mark::I2cDone => now.i2c_done = Some(ticks),
            Mark::SpiStart => now.spi_start = now.spi_start.or(Some(ticks)),
            Mark::SpiDone => now.spi_done = Some(ticks),
        }
    }

    pub fn lost(&mut self, device: i64, time: i64, sequence: u64, count: u64) {
        let Some(device) = self.device(device) else {
            return;
        };
        device.lost = device.lost.saturating_add(count);
        if device.losses.len() < 5 {
            device.losses.push((time, sequence, count));
        }
    }

    /// `ticks` and the driver's stamps are of one clock, `time` is for people.
    pub fn pushed(
        &mut self,
        device: i64,
        p: &Pushed,
        ticks: i64,
        time: i64,
        cpu: u32,
        gaps: &Gaps,
    ) {
        let Some(device) = self.device(device) else {
            return;
        };
        device.blocks += 1;
        let now = std::mem::take(&mut device.now);
        let same_clock = p.pushed.abs_diff(ticks) < SAME_CLOCK_NS as u64;
        let edge_known = p.flags & FLAG_LATE == 0;
        device.late += u64::from(!edge_known);
        device.other_clock += u64::from(!same_clock);
        let edge = Some(p.edge).filter(|_| edge_known);
        let hardirq = Some(p.hardirq).filter(|_| edge_known);
        let edge_in_trace = edge.filter(|_| same_clock);
        let spans = [
            (edge, hardirq),
            (hardirq, Some(p.thread)),
            (now.thread, now.i2c_start),
            (now.i2c_start, now.i2c_done),
            (now.i2c_done, now.spi_start),
            (now.spi_start, now.spi_done),
            (now.spi_done, Some(ticks)),
            (edge_in_trace, now.i2c_start),
            (edge_in_trace, now.spi_done),
            (edge_in_trace, Some(ticks)),
        ];
        for (series, span) in device.stages.iter_mut().zip(spans) {
            let (Some(from), Some(to)) = span else {
                continue;
            };
            // For people: when the stage began, on the trace's time axis.
            let began = time.wrapping_sub(ticks.wrapping_sub(from));
            let began = if same_clock { began } else { time };
            series.record(to.wrapping_sub(from), began, cpu);
            if gaps.touch(None, began, time) {
                series.suspect();
            }
        }
    }
}
