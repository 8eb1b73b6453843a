// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which events mean what: resolved once for each event class, so that an
//! event costs one look into a table.

use rtperf_ctf::{EnvValue, EventClass, Field, Metadata, Scope, Trace};

/// What to do with an event of a class.
#[derive(Debug, Clone, Copy)]
pub enum Handler {
    /// Counted only.
    Other,
    IrqEntry {
        irq: Field,
        name: Field,
    },
    IrqExit {
        irq: Field,
    },
    SoftirqEntry {
        vec: Field,
    },
    SoftirqExit {
        vec: Field,
    },
    Switch(SwitchFields),
    Waking {
        tid: Field,
        comm: Option<Field>,
    },
    Wakeup {
        tid: Field,
        comm: Option<Field>,
        new: bool,
    },
    TimerStart {
        timer: Field,
        expires: Field,
    },
    TimerCancel {
        timer: Field,
    },
    TimerEntry {
        timer: Field,
        now: Field,
        function: Field,
    },
    TimerExit,
    Daq(DaqEvent),
}

#[derive(Debug, Clone, Copy)]
pub struct SwitchFields {
    pub prev_tid: Field,
    pub prev_state: Field,
    pub next_tid: Field,
    pub prev_comm: Field,
    pub next_comm: Field,
}

/// A stage of the sample data-acquisition driver.
#[derive(Debug, Clone, Copy)]
pub enum DaqEvent {
    Thread {
        device: Field,
    },
    I2cStart {
        device: Field,
    },
    I2cDone {
        device: Field,
    },
    SpiStart {
        device: Field,
    },
    SpiDone {
        device: Field,
    },
    Pushed(PushedFields),
    Lost {
        device: Field,
        sequence: Field,
        count: Field,
    },
}

#[derive(Debug, Clone, Copy)]
pub struct PushedFields {
    pub device: Field,
    pub flags: Field,
    pub edge_ns: Field,
    pub hardirq_ns: Field,
    pub thread_ns: Field,
    pub pushed_ns: Field,
}

/// A handler for each event class of the trace, and what cannot be used and
/// why.
pub fn handlers(trace: &Trace) -> (Vec<Handler>, Vec<String>) {
    let mut problems = vec![];
    let list = trace.classes().map(|(class, metadata)| {
        if !is_kernel(metadata) {
            return Handler::Other;
        }
        handler(class).unwrap_or_else(|missing| {
            let name = &class.name;
            let problem = format!("event '{name}' has no field '{missing}' and cannot be used");
            if !problems.contains(&problem) {
                problems.push(problem);
            }
            Handler::Other
        })
    });
    let list = list.collect();
    (list, problems)
}

/// Other domains may use the same names for other things.
pub fn is_kernel(metadata: &Metadata) -> bool {
    match metadata.env.get("domain") {
        Some(EnvValue::Text(domain)) => domain == "kernel",
        _ => true,
    }
}

type Missing = &'static str;

fn handler(class: &EventClass) -> Result<Handler, Missing> {
    let maybe = |name: &str| class.field(Scope::Payload, name);
    let field = |name: &'static str| maybe(name).ok_or(name);
    // LTTng before 2.0 had no prefixes for softirq and hrtimer events.
    let name = class
        .name
        .strip_prefix("irq_")
        .filter(|n| n.starts_with("softirq"));
    let name = name.or_else(|| {
        class
            .name
            .strip_prefix("timer_")
            .filter(|n| n.starts_with("hrtimer"))
    });
    Ok(match name.unwrap_or(&class.name) {
        "irq_handler_entry" => Handler::IrqEntry {
            irq: field("irq")?,
            name: field("name")?,
        },
        "irq_handler_exit" => Handler::IrqExit { irq: field("irq")? },
        "softirq_entry" => Handler::SoftirqEntry { vec: field("vec")? },
        "softirq_exit" => Handler::SoftirqExit { vec: field("vec")? },
        "sched_switch" => Handler::Switch(SwitchFields {
            prev_tid: field("prev_tid")?,
            prev_state: field("prev_state")?,
            next_tid: field("next_tid")?,
            prev_comm: field("prev_comm")?,
            next_comm: field("next_comm")?,
        }),
        "sched_waking" => Handler::Waking {
            tid: field("tid")?,
            comm: maybe("comm"),
        },
        "sched_wakeup" => Handler::Wakeup {
            tid: field("tid")?,
            comm: maybe("comm"),
            new: false,
        },
        "sched_wakeup_new" => Handler::Wakeup {
            tid: field("tid")?,
            comm: maybe("comm"),
            new: true,
        },
        "hrtimer_start" => Handler::TimerStart {
            timer: field("hrtimer")?,
            expires: field("expires")?,
        },
        "hrtimer_cancel" => Handler::TimerCancel {
            timer: field("hrtimer")?,
        },
        "hrtimer_expire_entry" => Handler::TimerEntry {
            timer: field("hrtimer")?,
            now: field("now")?,
            function: field("function")?,
        },
        "hrtimer_expire_exit" => Handler::TimerExit,
        name if name.starts_with("rtperf_daq_") => match daq(name, field)? {
            Some(event) => Handler::Daq(event),
            None => Handler::Other,
        },
        _ => Handler::Other,
    })
}

fn daq(
    name: &str,
    field: impl Fn(&'static str) -> Result<Field, Missing>,
) -> Result<Option<DaqEvent>, Missing> {
    let device = || field("device");
    Ok(Some(match name {
        "rtperf_daq_thread" => DaqEvent::Thread { device: device()? },
        "rtperf_daq_i2c_start" => DaqEvent::I2cStart { device: device()? },
        "rtperf_daq_i2c_done" => DaqEvent::I2cDone { device: device()? },
        "rtperf_daq_spi_start" => DaqEvent::SpiStart { device: device()? },
        "rtperf_daq_spi_done" => DaqEvent::SpiDone { device: device()? },
        "rtperf_daq_pushed" => DaqEvent::Pushed(PushedFields {
            device: device()?,
            flags: field("flags")?,
            edge_ns: field("edge_ns")?,
            hardirq_ns: field("hardirq_ns")?,
            thread_ns: field("thread_ns")?,
            pushed_ns: field("pushed_ns")?,
        }),
        "rtperf_daq_lost" => DaqEvent::Lost {
            device: device()?,
            sequence: field("sequence")?,
            count: field("count")?,
        },
        _ => return Ok(None),
    }))
}
