// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What an analysis found, as data: the same for people, JSON and limits.

use crate::daq::{Device, STAGES};
use crate::findings::Finding;
use crate::irq::Actor;
use crate::model::Model;
use crate::sched::Thread;
use crate::series::{Series, Summary};
use rtperf_ctf::Trace;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The result of [`crate::analyze`].
#[derive(Debug, Serialize)]
pub struct Analysis {
    pub version: u32,
    pub trace: String,
    pub begin_ns: i64,
    pub end_ns: i64,
    pub events: u64,
    pub lost_events: u64,
    pub lost_packets: u64,
    pub cpus: Vec<Cpu>,
    pub findings: Vec<Finding>,
    pub irqs: Vec<HandlerReport>,
    pub softirqs: Vec<HandlerReport>,
    pub hrtimers: Vec<HandlerReport>,
    pub threads: Vec<ThreadReport>,
    pub chains: Vec<ChainReport>,
    /// Events by name.
    pub counts: BTreeMap<String, u64>,
    /// What could not be analysed, and why.
    pub notes: Vec<String>,
    /// Faults of the trace itself.
    pub diagnostics: Vec<String>,
    #[serde(skip)]
    pub(crate) model: Model,
}

#[derive(Debug, Serialize)]
pub struct Cpu {
    pub cpu: u32,
    pub busy_ns: i64,
}

#[derive(Debug, Serialize)]
pub struct HandlerReport {
    /// Number of the interrupt or softirq; address of a timer's callback.
    pub number: u64,
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<Summary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<Summary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<Summary>,
}

#[derive(Debug, Serialize)]
pub struct ThreadReport {
    pub tid: i64,
    pub comm: String,
    pub cpu_ns: i64,
    pub switches: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wakeup: Option<Summary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exec: Option<Summary>,
}

#[derive(Debug, Serialize)]
pub struct ChainReport {
    pub device: i64,
    pub name: &'static str,
    #[serde(flatten)]
    pub summary: Summary,
}

impl HandlerReport {
    fn list(actors: &[Actor]) -> Vec<HandlerReport> {
        let mut list: Vec<HandlerReport> = actors
            .iter()
            .map(|a| HandlerReport {
                number: a.number,
                name: a.name.clone(),
                exec: a.exec.summary(),
                period: a.period.summary(),
                late: a.late.summary(),
            })
            .collect();
        list.sort_by(|a, b| (a.number, &a.name).cmp(&(b.number, &b.name)));
        list
    }
}

fn threads(list: &[Thread]) -> Vec<ThreadReport> {
    let mut out: Vec<ThreadReport> = list
        .iter()
        .filter(|t| t.tid != 0)
        .map(|t| ThreadReport {
            tid: t.tid,
            comm: t.comm.clone(),
            cpu_ns: t.cpu_ns,
            switches: t.switches,
            wakeup: t.wakeup.summary(),
            exec: t.exec.summary(),
        })
        .collect();
    out.sort_by_key(|t| (Reverse(t.cpu_ns), t.tid));
    out
}

fn chains(devices: &[Device]) -> Vec<ChainReport> {
    let of = |device: &Device| -> Vec<ChainReport> {
        let number = device.number;
        let stages = STAGES.iter().zip(&device.stages);
        let report = |(name, series): (&&'static str, &Series)| {
            Some(ChainReport {
                device: number,
                name,
                summary: series.summary()?,
            })
        };
        stages.filter_map(report).collect()
    };
    devices.iter().flat_map(of).collect()
}

impl Analysis {
    pub(crate) fn new(trace: &Trace, name: String, model: Model, notes: Vec<String>) -> Analysis {
        let mut counts = BTreeMap::new();
        for (class, _) in trace.classes() {
            let n = model.counts.get(class.index as usize).copied().unwrap_or(0);
            if n > 0 {
                *counts.entry(class.name.clone()).or_default() += n;
            }
        }
        let cpu = |(cpu, busy_ns): (usize, &i64)| Cpu {
            cpu: cpu as u32,
            busy_ns: *busy_ns,
        };
        Analysis {
            version: 1,
            trace: name,
            begin_ns: model.first_ns.unwrap_or(0),
            end_ns: model.last_ns,
            events: model.counts.iter().sum(),
            lost_events: model.gaps.events,
            lost_packets: model.gaps.packets,
            cpus: model.sched.busy_ns.iter().enumerate().map(cpu).collect(),
            findings: vec![],
            irqs: HandlerReport::list(&model.irqs.list),
            softirqs: HandlerReport::list(&model.softirqs.list),
            hrtimers: HandlerReport::list(&model.hrtimers.list),
            threads: threads(&model.sched.list),
            chains: chains(&model.daq.devices),
            counts,
            notes,
            diagnostics: vec![],
            model,
        }
    }
}
