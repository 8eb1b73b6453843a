// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What deserves to be looked at, with evidence to look it up by.

use crate::daq::{Device, STAGES};
use crate::model::Model;
use crate::series::{Instance, Series};
use crate::units::{seconds, span};
use serde::Serialize;
use std::cmp::Reverse;

/// When something counts as far too long.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Handlers longer than this are findings, whatever their median.
    pub handler_bound_ns: Option<i64>,
    /// Without a bound: this many times the median …
    pub factor: i64,
    /// … and this much more than it.
    pub margin_ns: i64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            handler_bound_ns: None,
            factor: 10,
            margin_ns: 50_000,
        }
    }
}

/// Fewer instances have no median worth the name.
const MIN_INSTANCES: u64 = 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub kind: Kind,
    /// One sentence.
    pub message: String,
    pub evidence: Vec<Evidence>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    LostEvents,
    LostBlocks,
    LongHandler,
    LongStage,
    ForeignClock,
}

/// An event in the trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    pub event: String,
    pub time_ns: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// How long what began there took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<i64>,
}

/// All findings of a model, the gravest kind first.
pub fn find(model: &Model, options: &Options) -> Vec<Finding> {
    let mut list = lost_events(model);
    for device in &model.daq.devices {
        list.extend(lost_blocks(device));
        list.extend(foreign_clock(device));
    }
    let mut long = vec![];
    for irq in &model.irqs.list {
        let name = format!("IRQ {} '{}'", irq.number, irq.name);
        long.extend(too_long(
            &name,
            "handler",
            "irq_handler_entry",
            &irq.exec,
            options,
        ));
    }
    for softirq in &model.softirqs.list {
        let name = format!("softirq {}", softirq.name);
        long.extend(too_long(
            &name,
            "handler",
            "irq_softirq_entry",
            &softirq.exec,
            options,
        ));
    }
    for timer in &model.hrtimers.list {
        let name = format!("timer callback {:#x}", timer.number);
        long.extend(too_long(
            &name,
            "callback",
            "timer_hrtimer_expire_entry",
            &timer.exec,
            options,
        ));
    }
    for thread in model
        .sched
        .list
        .iter()
        .filter(|t| t.comm.starts_with("irq/"))
    {
        let name = format!("IRQ thread '{}' ({})", thread.comm, thread.tid);
        long.extend(too_long(
            &name,
            "activation",
            "sched_switch",
            &thread.exec,
            options,
        ));
    }
    long.sort_by_key(|(worst, _)| Reverse(*worst));
    list.extend(long.into_iter().map(|(_, finding)| finding));
    list.extend(
        model
            .daq
            .devices
            .iter()
            .flat_map(|d| long_stages(d, options)),
    );
    list
}

fn lost_events(model: &Model) -> Vec<Finding> {
    let gaps = &model.gaps;
    let what = match (gaps.events, gaps.packets) {
        (0, 0) => return vec![],
        (events, 0) => format!("{events} events were lost"),
        (0, packets) => format!("{packets} packets of events are missing"),
        (events, packets) => format!("{events} events were lost and {packets} packets are missing"),
    };
    let message = format!("{what}; figures that overlap them are marked with * and may be wrong");
    let evidence = gaps.list().iter().take(5).map(|gap| Evidence {
        event: "events lost from here".into(),
        time_ns: gap.from,
        cpu: gap.cpu,
        duration_ns: Some(gap.to.saturating_sub(gap.from)),
    });
    vec![Finding {
        kind: Kind::LostEvents,
        message,
        evidence: evidence.collect(),
    }]
}

fn lost_blocks(device: &Device) -> Option<Finding> {
    if device.lost == 0 {
        return None;
    }
    let message = format!(
        "DAQ device {} lost {} of {} blocks",
        device.number,
        device.lost,
        device.blocks + device.lost
    );
    let evidence = device
        .losses
        .iter()
        .map(|(time, sequence, count)| Evidence {
            event: format!("rtperf_daq_lost, {count} from sequence {sequence} on"),
            time_ns: *time,
            cpu: None,
            duration_ns: None,
        });
    Some(Finding {
        kind: Kind::LostBlocks,
        message,
        evidence: evidence.collect(),
    })
}

fn foreign_clock(device: &Device) -> Option<Finding> {
    (device.other_clock > 0).then(|| Finding {
        kind: Kind::ForeignClock,
        message: format!(
            "for {} of {} blocks of DAQ device {} the driver's time stamps are not of the trace's \
             clock: their stages from the edge on are left out",
            device.other_clock, device.blocks, device.number
        ),
        evidence: vec![],
    })
}

/// A finding with its longest instance, if there is one.
fn too_long(
    who: &str,
    what: &str,
    event: &str,
    series: &Series,
    options: &Options,
) -> Option<(i64, Finding)> {
    let summary = series.summary()?;
    let (limit, why) = match options.handler_bound_ns {
        Some(bound) => (bound, format!("the bound of {}", span(bound))),
        None if summary.n < MIN_INSTANCES => return None,
        None => {
            let median = summary.p50_ns;
            let limit = (median.saturating_mul(options.factor))
                .max(median.saturating_add(options.margin_ns));
            (
                limit,
                format!("{} (their median is {})", span(limit), span(median)),
            )
        }
    };
    let worst: Vec<&Instance> = series
        .worst()
        .iter()
        .filter(|w| w.value_ns > limit)
        .collect();
    let first = worst.first()?;
    let mark = if summary.suspect > 0 {
        "; events were lost, so this may be wrong"
    } else {
        ""
    };
    let message = format!(
        "{who}: {} of {} {what}s ran longer than {why}; the longest {} at {} on CPU {}{mark}",
        series.above(limit),
        summary.n,
        span(first.value_ns),
        seconds(first.time_ns),
        first.cpu,
    );
    let evidence = worst.iter().map(|w| evidence(event, w)).collect();
    Some((
        first.value_ns,
        Finding {
            kind: Kind::LongHandler,
            message,
            evidence,
        },
    ))
}

fn evidence(event: &str, w: &Instance) -> Evidence {
    Evidence {
        event: event.into(),
        time_ns: w.time_ns,
        cpu: Some(w.cpu),
        duration_ns: Some(w.value_ns),
    }
}

fn long_stages(device: &Device, options: &Options) -> Vec<Finding> {
    // The bound is for handlers; stages are compared with themselves. The
    // stages from the edge on contain others: those say it more exactly.
    let options = Options {
        handler_bound_ns: None,
        ..*options
    };
    let parts = STAGES
        .iter()
        .zip(&device.stages)
        .filter(|(name, _)| !name.starts_with("edge-") || **name == "edge-hardirq");
    let found = parts.filter_map(|(name, series)| {
        let who = format!("DAQ device {}, stage {name}", device.number);
        too_long(&who, "block", "rtperf_daq_pushed", series, &options)
    });
    found
        .map(|(_, f)| Finding {
            kind: Kind::LongStage,
            ..f
        })
        .collect()
}
