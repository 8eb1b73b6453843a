// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What is recorded, in buffers of which size, and what did not fit in them.

/// Kernel events that explain a latency, as far as the board's tracer has
/// them; `*` at the end stands for any ending.
const KERNEL: [&str; 11] = [
    "irq_handler_entry",
    "irq_handler_exit",
    "irq_softirq_*",
    "sched_switch",
    "sched_waking",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_migrate_task",
    "timer_hrtimer_*",
    "i2c_*",
    "rtperf_daq_*",
];

/// All events of our own provider.
pub const UST: &str = "rtperf:*";

/// Buffers of each CPU and channel.
pub const BUFFERS: u64 = 4;

/// Of the tracepoints that `lttng list --kernel` tells, those to record.
pub fn wanted(offered: &str) -> Vec<String> {
    let matches = |name: &str, pattern: &str| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    };
    // A name that could not stand in a list of names is none of ours.
    let plain = |name: &&str| name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    let tracepoints = offered.lines().filter(|l| l.contains("(type: tracepoint)"));
    let names = tracepoints.filter_map(|l| l.split_whitespace().next());
    let ours = |name: &&str| KERNEL.iter().any(|pattern| matches(name, pattern));
    let names = names.filter(plain).filter(ours);
    names.map(str::to_owned).collect()
}

/// Bytes of one of the kernel channel's buffers.
pub fn kernel_buffers() -> u64 {
    buffer_size(memory(), cpus())
}

/// Bytes of one of the user-space channel's buffers: much fewer events.
pub fn ust_buffers() -> u64 {
    (kernel_buffers() / 4).max(SMALLEST)
}

const SMALLEST: u64 = 64 << 10;
const LARGEST: u64 = 2 << 20;

/// A power of two, as LTTng wants it, with which the buffers of all CPUs take
/// about a 64th of the memory.
fn buffer_size(memory: u64, cpus: u64) -> u64 {
    let share = memory / 64 / BUFFERS / cpus.max(1);
    // The kernel has taken its part of what a board is sold with.
    let share = share.saturating_add(share / 3);
    let power = share.checked_ilog2().map_or(0, |n| 1 << n);
    power.clamp(SMALLEST, LARGEST)
}

fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"));
    let kilobytes = line.and_then(|l| l.split_whitespace().next()?.parse().ok());
    kilobytes.unwrap_or(0_u64).saturating_mul(1024)
}

fn cpus() -> u64 {
    // SAFETY: a plain call; it fails with -1.
    let configured = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    u64::try_from(configured).unwrap_or(1)
}

/// The sum of the numbers in all elements `name` of LTTng's machine interface;
/// `None` where it has none, or one that is no number.
pub fn sum_of(xml: &str, name: &str) -> Option<u64> {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    let mut parts = xml.split(&start).skip(1).peekable();
    parts.peek()?;
    parts.try_fold(0_u64, |sum, part| {
        let number: u64 = part.split(&end).next()?.trim().parse().ok()?;
        Some(sum.saturating_add(number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFERED: &str = "Kernel events (tracepoints):\n-------------\n\
        \x20     irq_handler_entry (loglevel: TRACE_EMERG (0)) (type: tracepoint)\n\
        \x20     irq_softirq_raise (loglevel: TRACE_EMERG (0)) (type: tracepoint)\n\
        \x20     sched_switch (loglevel: TRACE_EMERG (0)) (type: tracepoint)\n\
        \x20     sched_stat_wait (loglevel: TRACE_EMERG (0)) (type: tracepoint)\n\
        \x20     timer_hrtimer_start (loglevel: TRACE_EMERG (0)) (type: tracepoint)\n\
        \x20     rtperf_daq_edge (loglevel: TRACE_EMERG (0)) (type: tracepoint)\n\
        \x20     i2c_,-x (loglevel: TRACE_EMERG (0)) (type: tracepoint)\n\
        \x20     i2c_write (type: syscall)\n";

    #[test]
    fn events_are_those_that_the_tracer_has() {
        let expected = [
            "irq_handler_entry",
            "irq_softirq_raise",
            "sched_switch",
            "timer_hrtimer_start",
            "rtperf_daq_edge",
        ];
        assert_eq!(wanted(OFFERED), expected);
        assert!(wanted("").is_empty());
        for cut in 0..OFFERED.len() {
            assert!(wanted(&OFFERED[..cut]).len() <= expected.len());
        }
    }

    #[test]
    fn buffers_suit_the_memory() {
        const MIB: u64 = 1 << 20;
        assert_eq!(buffer_size(512 * MIB, 2), MIB);
        assert_eq!(buffer_size(470 * MIB, 2), MIB, "the kernel's share is gone");
        assert_eq!(buffer_size(256 * MIB, 4), MIB / 4);
        assert_eq!(buffer_size(60 * MIB, 1), MIB / 4);
        assert_eq!(buffer_size(32 * MIB, 8), SMALLEST);
        assert_eq!(buffer_size(0, 0), SMALLEST);
        assert_eq!(buffer_size(u64::MAX, 1), LARGEST);
        assert!(memory() > MIB && cpus() > 0);
    }

    #[test]
    fn what_was_lost_is_added_up() {
        let xml = "<a><discarded_events>3</discarded_events>\
            <lost_packets>0</lost_packets></a><discarded_events>4</discarded_events>";
        assert_eq!(sum_of(xml, "discarded_events"), Some(7));
        assert_eq!(sum_of(xml, "lost_packets"), Some(0));
        assert_eq!(sum_of(xml, "other"), None);
        assert_eq!(sum_of("<n>-1</n>", "n"), None);
        let most = u64::MAX;
        assert_eq!(sum_of(&format!("<n>9</n><n>{most}"), "n"), Some(most));
        for cut in 0..xml.len() {
            let _ = sum_of(&xml[..cut], "discarded_events");
        }
    }
}
