// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! A real LTTng user-space session around real measurements: what the trace
//! says agrees with every sample. A program of its own, since the provider
//! stays loaded.
#![cfg(not(target_feature = "crt-static"))]

use rtperf_probe::pipe_switch::{self, PipeSwitch};
use rtperf_probe::timer_latency::{self, TimerLatency};
use rtperf_probe::ust::{activate, active, deactivate, load, Traced, PROVIDER_VARIABLE};
use rtperf_probe::{check_task, lock_memory, online_cpus, Clock, Policy, Sampled, TaskSetup};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: u32 = 300;

#[test]
fn events_agree_with_samples() {
    let bench = match Bench::set_up() {
        Ok(bench) => bench,
        Err(why) => return eprintln!("skipped: {why}"),
    };
    assert!(!active());
    load().unwrap();
    let first_cpu = online_cpus().unwrap()[0];

    let mut expected = Vec::new();
    for (clock, bound) in [(Clock::Monotonic, 1), (Clock::Counter, i64::MAX)] {
        let name = format!("context-switch-{}", clock.name());
        activate(&[traced(&name, bound)]).unwrap();
        assert!(active());
        let got = pipe_switch::measure(&pipe(first_cpu, clock)).unwrap();
        expected.push((name, bound, got));
    }
    deactivate();
    let cpus = online_cpus().unwrap();
    let names: Vec<String> = cpus.iter().map(|c| format!("timer-latency-{c}")).collect();
    // A bound that some samples are over and others not, most likely.
    let bound = median(timer_latency::measure(&timer(&cpus)).unwrap().remove(0));
    let entries: Vec<Traced> = names.iter().map(|n| traced(n, bound)).collect();
    activate(&entries).unwrap();
    let got = timer_latency::measure(&timer(&cpus)).unwrap();
    expected.extend(names.into_iter().zip(got).map(|(n, s)| (n, bound, s)));
    deactivate();
    pipe_switch::measure(&pipe(first_cpu, Clock::Raw)).unwrap();

    let events = bench.finish();
    let mut known = BTreeSet::new();
    for (name, bound, got) in &expected {
        agree(&events, name, *bound, got);
        known.insert(name.clone());
    }
    let seen: BTreeSet<String> = events.iter().map(|e| e.measurement.clone()).collect();
    assert_eq!(seen, known, "no event of warm-ups or untraced measurements");
    let tasks: BTreeSet<(u64, u64)> = events
        .iter()
        .filter(|e| e.measurement == "context-switch-monotonic" && e.name == "handoff")
        .map(|e| (e.task, e.process))
        .collect();
    let processes: BTreeSet<u64> = tasks.iter().map(|t| t.1).collect();
    assert_eq!((tasks.len(), processes.len()), (2, 2), "{tasks:?}");
    assert!(!processes.contains(&u64::from(std::process::id())));
}

/// Every sample of `got` has its events, with its figures, and no others.
fn agree(events: &[Event], name: &str, bound: i64, got: &Sampled) {
    let samples = got.samples.as_slice();
    let forked = name.starts_with("context-switch");
    assert_eq!(samples.len(), ROUNDS as usize * if forked { 2 } else { 1 });
    let of = |kind: &str| -> Vec<(u64, u64, i64)> {
        let mine = events.iter();
        let mine = mine.filter(|e| e.name == kind && e.measurement == name);
        let mut list: Vec<_> = mine.map(|e| (e.round, e.task, e.latency)).collect();
        list.sort_unstable();
        list
    };
    let expect = |keep: &dyn Fn(i64) -> bool| -> Vec<(u64, u64, i64)> {
        let all = samples.iter().filter(|s| keep(s.latency_ns));
        let mut list: Vec<_> = all
            .map(|s| (u64::from(s.round), u64::from(s.task), s.latency_ns))
            .collect();
        list.sort_unstable();
        list
    };
    let starts: Vec<_> = (0..u64::from(ROUNDS)).map(|r| (r, 0, 0)).collect();
    // Hundreds of entries would bury the message of assert_eq.
    let (got_starts, got_over, got_hands) = (of("round_start"), of("over_bound"), of("handoff"));
    assert!(got_starts == starts, "{name}: round starts {got_starts:?}");
    let over = expect(&|ns| ns > bound);
    assert!(
        got_over == over,
        "{name}: over bound {got_over:?}\nnot {over:?}"
    );
    let hands = expect(&|_| forked);
    assert!(
        got_hands == hands,
        "{name}: hand-offs {got_hands:?}\nnot {hands:?}"
    );
    for task in &got.tasks {
        assert_eq!(task.allocations, 0, "{name}");
    }
    eprintln!(
        "{name}: {} samples, {} round starts, {} hand-offs, {} over the bound, faults {:?}",
        samples.len(),
        starts.len(),
        hands.len(),
        over.len(),
        (got.tasks.iter().map(|t| t.minor_faults)).collect::<Vec<_>>(),
    );
}

fn traced(name: &str, bound_ns: i64) -> Traced {
    Traced {
        measurement: name.into(),
        bound_ns: (bound_ns != i64::MAX).then_some(bound_ns),
    }
}

fn task(cpu: u32) -> TaskSetup {
    TaskSetup {
        cpu,
        policy: Policy::Fifo,
        priority: 10,
    }
}

fn pipe(cpu: u32, clock: Clock) -> PipeSwitch {
    PipeSwitch {
        tasks: [task(cpu); 2],
        clock,
        rounds: ROUNDS,
        warm_up: 20,
    }
}

fn timer(cpus: &[u32]) -> TimerLatency {
    TimerLatency {
        tasks: cpus.iter().copied().map(task).collect(),
        interval_ns: 500_000,
        rounds: ROUNDS,
        warm_up: 5,
    }
}

fn median(got: Sampled) -> i64 {
    let mut all: Vec<i64> = got
        .samples
        .as_slice()
        .iter()
        .map(|s| s.latency_ns)
        .collect();
    all.sort_unstable();
    all[all.len() / 2]
}

/// One event as babeltrace2 prints it.
#[derive(Debug)]
struct Event {
    name: String,
    process: u64,
    measurement: String,
    task: u64,
    round: u64,
    /// 0 where the event has none.
    latency: i64,
}

impl Event {
    fn parse(line: &str) -> Event {
        let after = |key: &str| {
            let rest = line.split_once(key).map(|x| x.1);
            rest.map(|r| r.split([',', ' ']).next().unwrap_or("").trim_matches('"'))
        };
        let number = |key| after(key).map_or(0, |text| text.parse().unwrap());
        Event {
            name: after("rtperf:").unwrap().trim_end_matches(':').into(),
            process: number("vpid = "),
            measurement: after("measurement = ").unwrap().into(),
            task: number("task = "),
            round: number("round = "),
            latency: after("latency_ns = ").map_or(0, |text| text.parse().unwrap()),
        }
    }
}

/// The provider, a session daemon that sees nothing else, and its session.
struct Bench {
    daemon: Child,
    trace: PathBuf,
}

impl Bench {
    /// Fails with the reason why this cannot be tested here.
    fn set_up() -> Result<Bench, String> {
        let tried = [
            check_task(task(online_cpus().map_err(|e| e.0)?[0])),
            lock_memory(),
        ];
        tried
            .into_iter()
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| e.0)?;
        for tool in ["lttng", "lttng-sessiond", "babeltrace2"] {
            let asked = Command::new(tool).arg("--version").output();
            asked.map_err(|_| format!("{tool} is not installed"))?;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ust");
        // Absent the first time.
        let _ = std::fs::remove_dir_all(&folder);
        std::env::set_var(PROVIDER_VARIABLE, build_provider(&folder)?);
        // The command remembers its session there, else in the user's home.
        std::env::set_var("LTTNG_HOME", &folder);
        own_run_folder()?;
        let daemon = Command::new("lttng-sessiond")
            .args(["--no-kernel", "--quiet"])
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("lttng-sessiond: {e}"))?;
        let trace = folder.join("trace");
        let bench = Bench { daemon, trace };
        let begun = Instant::now();
        while !lttng(&["--no-sessiond", "list"]) {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "no session daemon"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        let output = format!("--output={}", bench.trace.display());
        assert!(lttng(&["create", "rtperf-test", &output]));
        assert!(lttng(&["enable-event", "--userspace", "rtperf:*"]));
        assert!(lttng(&["add-context", "--userspace", "--type=vpid"]));
        assert!(lttng(&["start"]));
        Ok(bench)
    }

    /// Ends the session and reads its trace.
    fn finish(self) -> Vec<Event> {
        assert!(lttng(&["stop"]) && lttng(&["destroy", "rtperf-test"]));
        let read = Command::new("babeltrace2")
            .arg(&self.trace)
            .output()
            .unwrap();
        let complaints = String::from_utf8_lossy(&read.stderr);
        assert!(
            read.status.success() && complaints.is_empty(),
            "{complaints}"
        );
        let text = String::from_utf8(read.stdout).unwrap();
        text.lines().map(Event::parse).collect()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // SAFETY: a plain system call on our own child, not yet waited for.
        unsafe { libc::kill(self.daemon.id() as libc::pid_t, libc::SIGTERM) };
        let _ = self.daemon.wait();
    }
}

fn lttng(arguments: &[&str]) -> bool {
    let quiet = Command::new("lttng").args(arguments).output();
    quiet.is_ok_and(|o| o.status.success())
}

fn build_provider(folder: &Path) -> Result<PathBuf, String> {
    let headers = Command::new("cc")
        .args(["-E", "-include", "lttng/ust-fork.h", "-x", "c", "/dev/null"])
        .output();
    if !headers.is_ok_and(|o| o.status.success()) {
        return Err("no C compiler, or liblttng-ust 2.13 is not there to build with".into());
    }
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/../rtperf-ust");
    let made = Command::new("make")
        .args(["-s", "-C", sources, "CFLAGS=-O2 -Werror"])
        .arg(format!("OUT={}", folder.display()))
        .status();
    made.map_err(|_| "make is not installed")
        .map(|status| assert!(status.success()))?;
    Ok(folder.join("librtperf-ust.so"))
}

/// Gives the calling thread and what it starts an empty /run, where root's
/// session daemon lives: another one on this machine is neither used nor
/// disturbed.
fn own_run_folder() -> Result<(), String> {
    // SAFETY: a plain system call; it concerns the calling thread only.
    let apart = unsafe { libc::unshare(libc::CLONE_NEWNS) } == 0;
    let mount = |arguments: &[&str]| {
        let done = Command::new("mount").args(arguments).output();
        done.is_ok_and(|o| o.status.success())
    };
    let own =
        apart && mount(&["--make-rprivate", "/"]) && mount(&["-t", "tmpfs", "rtperf-test", "/run"]);
    own.then_some(())
        .ok_or_else(|| "no permission for a mount namespace (run as root)".into())
}
