// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `rtperf-run list`: what can be measured.

/// The text of the list. What a sample is stands with each measurement.
pub const TEXT: &str = "\
timer-latency    how late a task wakes from a timer on each CPU (as cyclictest measures it)
  sample         wake-up time - absolute deadline, ns; one for every period, missed ones too
  cpus           all, or a list                                     [all]
  interval       time between deadlines                             [1ms]
  rounds         deadlines on each CPU                              [10000]
  policy         fifo or rr                                         [fifo]
  priority       1 to 99                                            [80]

context-switch   hand-off of a token between two processes on one CPU
  sample         in(i+1) - out(i), ns: write, block, switch and read; two samples a round
  method         pipe                                               [pipe]
  clock          monotonic, raw, counter, gettimeofday, or a list   [monotonic]
  cpu            where both processes run                           [0]
  rounds         rounds of the token                                [10000]
  policy         fifo or rr                                         [fifo]
  priority       1 to 99                                            [80]

interrupt-latency  from the data-acquisition device's edge to user space, stage by stage
  sample         one for every block and stage, ns: edge-hardirq (timer expiry to hard handler),
                 hardirq-thread, thread-user (I2C command, SPI transfer, read), edge-user (all)
  device         number of the IIO device                           [the only one]
  period         time from block to block                           [the device's]
  cpu            where the reading task runs                        [0]
  rounds         blocks to read                                     [10000]
  policy         fifo or rr                                         [fifo]
  priority       1 to 99                                            [60]

daq-stream       blocks from the data-acquisition device, and those that were lost on the way
  sample         age of a block when user space has it, ns: time read - edge
  device         number of the IIO device                           [the only one]
  period         time from block to block                           [the device's]
  cpu            where the reading task runs                        [0]
  rounds         blocks to read                                     [10000]
  policy         fifo or rr                                         [fifo]
  priority       1 to 99                                            [60]
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{parse, MEASUREMENTS};

    /// The list and the plan's format cannot drift apart unseen.
    #[test]
    fn every_measurement_and_parameter_is_listed() {
        for name in MEASUREMENTS {
            assert!(TEXT.lines().any(|l| l.starts_with(name)), "{name}");
            let plan = format!("version: 1\nname: t\nmeasurements: [{{measure: {name}}}]");
            let plan = serde_json::to_value(parse(&plan).unwrap()).unwrap();
            let start = TEXT.find(name).unwrap();
            let section = TEXT[start..].split("\n\n").next().unwrap();
            for key in plan["measurements"][0].as_object().unwrap().keys() {
                let listed = section.lines().any(|l| l.trim_start().starts_with(key));
                assert!(listed || key == "measure", "{name}: {key}");
            }
        }
    }
}
