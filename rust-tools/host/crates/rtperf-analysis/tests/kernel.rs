// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! A kernel written event by event, so that every figure is known.

mod board;
#[path = "../../rtperf-ctf/tests/support/mod.rs"]
mod support;

use board::*;
use proptest::prelude::*;
use rtperf_analysis::{Analysis, AnalysisError, Kind, Options, analyze};
use support::*;

fn analyse_with(
    cpus: &[Cpu],
    metadata: &str,
    options: &Options,
) -> Result<Analysis, AnalysisError> {
    let dir = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..cpus.len()).map(|i| format!("ch_{i}")).collect();
    let streams: Vec<(&str, Vec<u8>)> = names
        .iter()
        .zip(cpus)
        .map(|(n, c)| (n.as_str(), c.0.to_bytes()))
        .collect();
    write(dir.path(), metadata.as_bytes(), &streams);
    analyze(dir.path(), options)
}

fn analyse(cpus: &[Cpu]) -> Analysis {
    analyse_with(cpus, &kernel(), &Options::default()).unwrap()
}

#[test]
fn handlers_nest_and_have_periods() {
    let mut cpu = Cpu::new(0);
    for i in 0..20 {
        let t = 1_000_000 * i;
        cpu.at(t + 1000, 4).int(3, 32);
        cpu.irq(t + 2000, t + 2500 + i, 40, "daq");
        cpu.at(t + 4000, 5).int(3, 32);
    }
    let a = analyse(&[cpu]);
    assert_eq!(
        (a.irqs.len(), a.irqs[0].number, a.irqs[0].name.as_str()),
        (1, 40, "daq")
    );
    let exec = a.irqs[0].exec.unwrap();
    assert_eq!(
        (exec.n, exec.min_ns, exec.p50_ns, exec.max_ns, exec.p99_ns),
        (20, 500, 509, 519, None)
    );
    let period = a.irqs[0].period.unwrap();
    assert_eq!(
        (period.n, period.min_ns, period.max_ns),
        (19, 1_000_000, 1_000_000)
    );
    assert_eq!(
        (
            a.softirqs[0].name.as_str(),
            a.softirqs[0].exec.unwrap().max_ns
        ),
        ("NET_RX", 3000)
    );
    assert_eq!(a.findings, []);
    let names: Vec<String> = a.metrics().iter().map(|m| m.name()).collect();
    assert!(
        names.contains(&"trace.irq{name=daq}.exec".into()),
        "{names:?}"
    );
    let all = a.metrics();
    let exec = all
        .iter()
        .find(|m| m.name() == "trace.irq{name=daq}.exec")
        .unwrap();
    assert_eq!(exec.sorted_ns(), (500..520).collect::<Vec<i64>>());
}

#[test]
fn a_long_handler_is_found_with_its_place() {
    let mut cpu = Cpu::new(3);
    for i in 0..100 {
        let long = if i == 70 { 800_000 } else { 0 };
        cpu.irq(1_000_000 * i, 1_000_000 * i + 1500 + long, 40, "daq");
    }
    let a = analyse(&[Cpu::new(0), cpu]);
    assert_eq!(a.findings.len(), 1);
    let f = &a.findings[0];
    assert_eq!(f.kind, Kind::LongHandler);
    assert_eq!(
        f.message,
        "IRQ 40 'daq': 1 of 100 handlers ran longer than 51.500 us (their median is 1.500 us); \
         the longest 801.500 us at 0.070000000 on CPU 3"
    );
    assert_eq!(
        (f.evidence[0].time_ns, f.evidence[0].cpu),
        (70_000_000, Some(3))
    );
    assert!(a.to_string().contains("Findings\n* IRQ 40 'daq'"));
}

#[test]
fn a_bound_makes_findings_of_few_and_even_handlers() {
    let mut cpu = Cpu::new(0);
    cpu.irq(1000, 3000, 40, "daq").irq(5000, 6000, 40, "daq");
    let options = Options {
        handler_bound_ns: Some(1500),
        ..Options::default()
    };
    let a = analyse_with(&[cpu], &kernel(), &options).unwrap();
    assert!(
        a.findings[0]
            .message
            .contains("1 of 2 handlers ran longer than the bound of 1.500 us")
    );
}

#[test]
fn threads_wait_run_and_sleep() {
    let mut cpu = Cpu::new(0);
    cpu.switch(1000, 0, 0, 7); // ran since nobody knows when
    cpu.switch(2000, 7, 1, 0);
    cpu.wake(3000, 7).switch(3400, 0, 0, 7);
    cpu.switch(3500, 7, 0, 8); // preempted
    cpu.switch(4500, 8, 256, 7);
    cpu.wake(4600, 7); // woken while running: no wait
    cpu.switch(4700, 7, 0, 8);
    cpu.switch(4800, 8, 1, 7).switch(5000, 7, 2, 0);
    let a = analyse(&[cpu]);
    let t = |tid| a.threads.iter().find(|t| t.tid == tid).unwrap();
    assert_eq!(
        (t(7).cpu_ns, t(7).switches, t(7).comm.as_str()),
        (1000 + 100 + 200 + 200, 4, "t7")
    );
    let wakeup = t(7).wakeup.unwrap();
    assert_eq!((wakeup.n, wakeup.max_ns), (1, 400));
    let exec = t(7).exec.unwrap();
    assert_eq!((exec.n, exec.max_ns), (1, 500));
    assert_eq!((t(8).cpu_ns, t(8).wakeup), (1100, None));
    assert_eq!(a.cpus[0].busy_ns, 1000 + 1600);
}

#[test]
fn idle_threads_of_two_cpus_are_not_one() {
    let (mut a, mut b) = (Cpu::new(0), Cpu::new(1));
    a.switch(1000, 5, 1, 0).switch(9000, 0, 0, 5);
    b.switch(2000, 6, 1, 0)
        .switch(3000, 0, 0, 6)
        .switch(9000, 6, 1, 0);
    let got = analyse(&[a, b]);
    assert_eq!(
        got.threads
            .iter()
            .map(|t| (t.tid, t.cpu_ns))
            .collect::<Vec<_>>(),
        [(6, 6000), (5, 0)]
    );
}

#[test]
fn timers_tell_how_late_they_fire() {
    let mut cpu = Cpu::new(0);
    cpu.at(1000, 6).int(0xabc, 64).int(0xf0, 64).int(5000, 64);
    cpu.at(5300, 7).int(0xabc, 64).int(5200, 64).int(0xf0, 64);
    cpu.at(5900, 8).int(0xabc, 64);
    let a = analyse(&[cpu]);
    assert_eq!(
        (
            a.hrtimers[0].exec.unwrap().max_ns,
            a.hrtimers[0].late.unwrap().max_ns
        ),
        (600, 200)
    );
    assert!(
        a.metrics()
            .iter()
            .any(|m| m.name() == "trace.hrtimer{function=0xf0}.late")
    );
}

#[test]
fn daq_stages() {
    let mut cpu = Cpu::new(0);
    block(&mut cpu, 10_000, 0, 0);
    block(&mut cpu, 20_000, 2, 0); // late: its edge is not known
    cpu.at(25_000, 16).int(0, 32).int(3, 32).int(4, 32);
    let a = analyse(&[cpu]);
    let stage = |name: &str| {
        let c = a.chains.iter().find(|c| c.name == name).unwrap();
        (c.summary.n, c.summary.max_ns)
    };
    assert_eq!(stage("edge-hardirq"), (1, 100));
    assert_eq!(stage("hardirq-thread"), (1, 190));
    assert_eq!(stage("thread-i2c"), (2, 100));
    assert_eq!(stage("i2c"), (2, 150));
    assert_eq!(stage("i2c-spi"), (2, 50));
    assert_eq!(stage("spi"), (2, 200));
    assert_eq!(stage("spi-pushed"), (2, 100));
    assert_eq!(stage("edge-i2c"), (1, 400));
    assert_eq!(stage("edge-spi"), (1, 800));
    assert_eq!(stage("edge-pushed"), (1, 900));
    assert_eq!(a.findings[0].message, "DAQ device 0 lost 4 of 6 blocks");
    assert!(
        a.metrics()
            .iter()
            .any(|m| m.name() == "trace.chain{name=edge-i2c}")
    );
}

#[test]
fn stamps_of_another_clock_are_not_mixed_with_the_traces() {
    let mut cpu = Cpu::new(0);
    block(&mut cpu, 10_000, 0, 7_000_000_000);
    let a = analyse(&[cpu]);
    assert!(
        a.chains
            .iter()
            .any(|c| c.name == "edge-hardirq" && c.summary.max_ns == 100)
    );
    assert!(!a.chains.iter().any(|c| c.name == "edge-i2c"));
    assert_eq!(a.findings[0].kind, Kind::ForeignClock);
}

#[test]
fn lost_events_mark_what_they_touch_and_forget_what_ran() {
    let mut first = Cpu::new(0);
    first.irq(1000, 2000, 40, "daq");
    first.at(3000, 0).int(40, 32).text("daq"); // its exit is lost
    (first.0.begin, first.0.end) = (1000, 4000);
    let mut second = Cpu::new(0);
    second.at(9000, 1).int(40, 32).int(1, 32); // the exit of another one
    second.irq(10_000, 10_500, 40, "daq");
    (
        second.0.begin,
        second.0.end,
        second.0.sequence,
        second.0.discarded,
    ) = (9000, 11_000, 1, 2);
    let dir = tempfile::tempdir().unwrap();
    let stream = [first.0.to_bytes(), second.0.to_bytes()].concat();
    write(dir.path(), kernel().as_bytes(), &[("ch_0", stream)]);
    let a = analyze(dir.path(), &Options::default()).unwrap();
    assert_eq!((a.lost_events, a.findings[0].kind), (2, Kind::LostEvents));
    // The exit at 9000 is not of the entry at 3000. [10000, 10500] stands
    // marked: the tracer does not say where in its packet events were lost.
    let exec = a.irqs[0].exec.unwrap();
    assert_eq!((exec.n, exec.suspect), (2, 1));
    assert!(
        a.to_string()
            .contains("* some instances overlap lost events")
    );
}

#[test]
fn what_would_mean_nothing_is_refused() {
    let mut still = Cpu::new(0);
    still.irq(500, 500, 40, "daq");
    let error =
        |cpus: &[Cpu], text: &str| analyse_with(cpus, text, &Options::default()).err().unwrap();
    let e = error(&[still], &kernel());
    assert!(
        matches!(e, AnalysisError::ClockStandsStill { events: 2, .. }),
        "{e}"
    );
    assert!(matches!(
        error(&[Cpu::new(0)], &kernel()),
        AnalysisError::Empty(_)
    ));
    let poor = "event { id = 2; name = \"sched_switch\"; stream_id = 0; fields := struct { uint32_t x; }; };";
    let text = metadata(false, "freq = 1000000000;", &format!("{COMPACT}{poor}"));
    let mut cpu = Cpu::new(0);
    cpu.at(1, 2).int(1, 32);
    cpu.at(2, 2).int(1, 32);
    let e = error(&[cpu], &text).to_string();
    assert!(
        e.ends_with("event 'sched_switch' has no field 'prev_tid' and cannot be used"),
        "{e}"
    );
}

#[test]
fn two_recordings_are_not_one() {
    let dir = tempfile::tempdir().unwrap();
    let other = kernel().replace("01234567", "11234567");
    write(&dir.path().join("a"), kernel().as_bytes(), &[]);
    write(&dir.path().join("b"), other.as_bytes(), &[]);
    let e = analyze(dir.path(), &Options::default())
        .unwrap_err()
        .to_string();
    assert!(e.contains("kernel traces of different recordings"), "{e}");
}

#[test]
fn names_from_a_trace_cannot_steer_a_terminal() {
    let mut cpu = Cpu::new(0);
    cpu.irq(0, 1000, 40, "\x1b[2Jevil")
        .irq(2000, 3000, 40, "\x1b[2Jevil");
    let text = analyse(&[cpu]).to_string();
    assert!(
        !text.contains('\x1b') && text.contains("?[2Jevil"),
        "{text}"
    );
    assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
}

/// A trace with everything in it, to be damaged.
fn busy_kernel() -> Vec<Cpu> {
    let mut cpu = Cpu::new(0);
    for i in 0..12 {
        let t = 100_000 * (i + 1);
        cpu.switch(t, 0, 0, 7)
            .irq(t + 100, t + 200, 40, "daq")
            .wake(t + 300, 8);
        cpu.switch(t + 400, 7, 1, 8).switch(t + 500, 8, 2, 0);
        block(&mut cpu, t + 1000, 0, 0);
    }
    vec![cpu, Cpu::new(1)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_traces_are_analysed_or_refused(
        flips in prop::collection::vec((HEADER_BYTES / 2..8000usize, any::<u8>()), 0..40),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut stream = busy_kernel()[0].0.to_bytes();
        let len = stream.len();
        for (at, value) in flips {
            stream[at % len] = value;
        }
        write(dir.path(), kernel().as_bytes(), &[("ch_0", stream)]);
        if let Ok(a) = analyze(dir.path(), &Options::default()) {
            let text = a.to_string();
            prop_assert!(text.contains("events"));
            prop_assert!(serde_json::to_string(&a).is_ok());
            for m in a.metrics() {
                prop_assert!(m.sorted_ns().is_sorted());
                let name = m.name() + ".max";
                prop_assert!(name.parse::<rtperf_record::Metric>().is_ok(), "{}", name);
            }
        }
    }
}
