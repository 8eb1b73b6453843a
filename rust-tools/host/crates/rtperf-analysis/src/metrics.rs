// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The figures by the names that limits use: `trace.irq{name=…}.exec`,
//! `trace.thread{comm=…}.wakeup`, `trace.chain{name=…}`.

use crate::daq::STAGES;
use crate::irq::Actor;
use crate::report::Analysis;
use crate::series::Series;
use rtperf_record::Params;
use std::collections::{BTreeMap, HashMap};

/// Samples of one quantity under its name.
#[derive(Debug, Clone)]
pub struct MetricSamples {
    /// `trace.irq`, `trace.thread` …
    pub measurement: &'static str,
    pub params: Params,
    /// `exec`, `period`, `wakeup`, `late`; none for chains.
    pub part: Option<&'static str>,
    pub series: Series,
}

impl MetricSamples {
    /// The name without its statistic.
    pub fn name(&self) -> String {
        match self.part {
            Some(part) => format!("{}{}.{part}", self.measurement, self.params),
            None => format!("{}{}", self.measurement, self.params),
        }
    }

    /// All samples in ns, ascending. [`Series::is_exact`] says whether they
    /// are the samples themselves.
    pub fn sorted_ns(&self) -> Vec<i64> {
        self.series.sorted()
    }
}

impl Analysis {
    /// Every quantity of which there is at least one sample. Handlers and
    /// threads of the same name are one population: their numbers change
    /// with every boot.
    pub fn metrics(&self) -> Vec<MetricSamples> {
        let mut out = vec![];
        let model = &self.model;
        let by_name = |a: &Actor| a.name.clone();
        let by_address = |a: &Actor| format!("{:#x}", a.number);
        handlers(&mut out, "trace.irq", "name", &model.irqs.list, by_name);
        handlers(
            &mut out,
            "trace.softirq",
            "name",
            &model.softirqs.list,
            by_name,
        );
        handlers(
            &mut out,
            "trace.hrtimer",
            "function",
            &model.hrtimers.list,
            by_address,
        );
        let mut threads: BTreeMap<&str, [Series; 2]> = BTreeMap::new();
        for t in model.sched.list.iter().filter(|t| t.tid != 0) {
            let [wakeup, exec] = threads.entry(&t.comm).or_default();
            wakeup.merge(&t.wakeup);
            exec.merge(&t.exec);
        }
        for (comm, [wakeup, exec]) in threads {
            push(
                &mut out,
                "trace.thread",
                &[("comm", comm)],
                Some("wakeup"),
                wakeup,
            );
            push(
                &mut out,
                "trace.thread",
                &[("comm", comm)],
                Some("exec"),
                exec,
            );
        }
        let several = model.daq.devices.len() > 1;
        for device in &model.daq.devices {
            let number = device.number.to_string();
            for (name, series) in STAGES.iter().zip(&device.stages) {
                let both = [("name", *name), ("device", number.as_str())];
                let params = if several { &both[..] } else { &both[..1] };
                push(&mut out, "trace.chain", params, None, series.clone());
            }
        }
        out
    }
}

fn handlers(
    out: &mut Vec<MetricSamples>,
    measurement: &'static str,
    key: &str,
    list: &[Actor],
    name: impl Fn(&Actor) -> String,
) {
    let (mut order, mut merged) = (vec![], HashMap::<String, [Series; 3]>::new());
    for actor in list {
        let name = name(actor);
        let [exec, period, late] = merged.entry(name.clone()).or_insert_with(|| {
            order.push(name);
            Default::default()
        });
        exec.merge(&actor.exec);
        period.merge(&actor.period);
        late.merge(&actor.late);
    }
    for name in order {
        let Some([exec, period, late]) = merged.remove(&name) else {
            continue;
        };
        for (part, series) in [("exec", exec), ("period", period), ("late", late)] {
            push(out, measurement, &[(key, &name)], Some(part), series);
        }
    }
}

fn push(
    out: &mut Vec<MetricSamples>,
    measurement: &'static str,
    keys: &[(&str, &str)],
    part: Option<&'static str>,
    series: Series,
) {
    if series.n() == 0 {
        return;
    }
    let mut params = Params::default();
    for (key, value) in keys {
        // A nameless handler or thread has no name a limit could use.
        params.set(key, if value.is_empty() { "unnamed" } else { value });
    }
    out.push(MetricSamples {
        measurement,
        params,
        part,
        series,
    });
}
