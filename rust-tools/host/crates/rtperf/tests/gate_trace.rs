// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `rtperf gate` on a run with a trace, and with several limits files.

use assert_cmd::Command;
use rtperf_testkit::{RunBuilder, temp_dir};
use std::path::Path;

const METADATA: &str = r#"/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; }; };
env { domain = "kernel"; };
clock { name = "monotonic"; freq = 1000000000; };
typealias integer { size = 64; align = 8; map = clock.monotonic.value; } := stamp;
stream {
    packet.context := struct { stamp timestamp_begin; stamp timestamp_end; uint64_t content_size;
        uint64_t packet_size; uint32_t events_discarded; uint32_t cpu_id; };
    event.header := struct { uint32_t id; stamp timestamp; };
};
event { id = 0; name = "irq_handler_entry"; fields := struct { uint32_t irq; string name; }; };
event { id = 1; name = "irq_handler_exit"; fields := struct { uint32_t irq; uint32_t ret; }; };
"#;

/// Handlers that run for the given ns, one a millisecond.
fn write_trace(dir: &Path, handlers: &[(&str, u64)], lost: u32) {
    std::fs::create_dir_all(dir).unwrap();
    std::fs::write(dir.join("metadata"), METADATA).unwrap();
    let mut events = Vec::new();
    let mut event = |id: u32, time: u64, irq: u32, rest: &[u8]| {
        events.extend(id.to_le_bytes());
        events.extend(time.to_le_bytes());
        events.extend(irq.to_le_bytes());
        events.extend(rest);
    };
    for (i, (name, ns)) in handlers.iter().enumerate() {
        let (irq, time) = (name.len() as u32, 1_000_000 * (i as u64 + 1));
        event(0, time, irq, &[name.as_bytes(), &[0]].concat());
        event(1, time + ns, irq, &[1, 0, 0, 0]);
    }
    let end = 1_000_000 * (handlers.len() as u64 + 2);
    // What is lost shows as a difference to the packet before.
    let all = [packet(0, 1, 0, &[]), packet(1, end, lost, &events)].concat();
    std::fs::write(dir.join("channel_0"), all).unwrap();
}

fn packet(begin: u64, end: u64, lost: u32, events: &[u8]) -> Vec<u8> {
    let bits = 8 * (events.len() as u64 + 44);
    let mut packet = 0xc1fc_1fc1u32.to_le_bytes().to_vec();
    for word in [begin, end, bits, bits] {
        packet.extend(word.to_le_bytes());
    }
    packet.extend(lost.to_le_bytes());
    packet.extend(0u32.to_le_bytes());
    packet.extend(events);
    packet
}

struct Desk {
    dir: tempfile::TempDir,
    run: std::path::PathBuf,
}

impl Desk {
    fn new() -> Desk {
        let dir = temp_dir();
        let run = RunBuilder::new("image-1-0a1b2c3d-001")
            .measured("timer-latency", &[("cpu", "0")], &[10_000; 100])
            .write(dir.path());
        Desk { dir, run }
    }

    fn trace(self, handlers: &[(&str, u64)], lost: u32) -> Desk {
        write_trace(&self.run.join("explain/trace/kernel"), handlers, lost);
        // Listed, as the board lists it.
        let files = ["metadata", "channel_0"].map(|f| format!("explain/trace/kernel/{f}"));
        let line = |f: &String| {
            let bytes = std::fs::read(self.run.join(f)).unwrap();
            format!("{}  {f}\n", rtperf_testkit::sha256(&bytes))
        };
        let sums = self.run.join("SHA256SUMS");
        let more: String = files.iter().map(line).collect();
        let all = std::fs::read_to_string(&sums).unwrap() + &more;
        std::fs::write(sums, all).unwrap();
        self
    }

    /// Judges by files `0.yaml`, `1.yaml` …; output with single spaces.
    fn gate(&self, files: &[&str]) -> (i32, String) {
        let mut command = Command::cargo_bin("rtperf").unwrap();
        command.current_dir(self.dir.path()).arg("gate");
        for (i, text) in files.iter().enumerate() {
            let name = format!("{i}.yaml");
            std::fs::write(self.dir.path().join(&name), format!("version: 1\n{text}\n")).unwrap();
            command.args(["--limits", &name]);
        }
        let out = command.arg(&self.run).output().unwrap();
        let all = [out.stdout, out.stderr].concat();
        let words = String::from_utf8(all).unwrap();
        let words: Vec<&str> = words.split_whitespace().collect();
        (out.status.code().unwrap(), words.join(" "))
    }
}

const TIMER: &str = "limits: [{metric: timer-latency.max, at_most: 1ms}]";
const ALL_IRQS: &str = "limits: [{metric: trace.irq.exec.max, at_most: 150us}]";

fn short() -> Vec<(&'static str, u64)> {
    vec![("rtperf-daq", 1_600); 400]
}

#[test]
fn a_planted_long_handler_is_a_miss() {
    let (status, out) = Desk::new().trace(&short(), 0).gate(&[TIMER, ALL_IRQS]);
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("2 passed, 0 missed"), "{out}");
    let mut long = short();
    long.push(("rtperf-daq-hold", 200_000));
    let (status, out) = Desk::new().trace(&long, 0).gate(&[TIMER, ALL_IRQS]);
    assert_eq!(status, 1, "{out}");
    assert!(
        out.contains("{name=rtperf-daq-hold}.exec.max: 200us is over 150us"),
        "{out}"
    );
    let p99 = "limits: [{metric: 'trace.irq{name=rtperf-daq}.exec.p99', at_most: 1us}]";
    assert_eq!(Desk::new().trace(&short(), 0).gate(&[p99]).0, 1);
}

#[test]
fn a_run_without_a_trace_is_unusable_only_where_one_is_asked_for() {
    let (status, out) = Desk::new().gate(&[TIMER]);
    assert_eq!(status, 0, "{out}");
    let (status, out) = Desk::new().gate(&[TIMER, ALL_IRQS]);
    assert_eq!(status, 2, "{out}");
    assert!(out.contains("1 passed, 0 missed, 1 unusable"), "{out}");
    assert!(
        out.contains("the run has no trace; its board must measure with"),
        "{out}"
    );
}

#[test]
fn damaged_and_lossy_traces_void_their_limits_only() {
    let desk = Desk::new().trace(&short(), 0);
    let channel = desk.run.join("explain/trace/kernel/channel_0");
    let mut bytes = std::fs::read(&channel).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&channel, &bytes).unwrap();
    let (status, out) = desk.gate(&[TIMER, ALL_IRQS]);
    assert_eq!(status, 2, "{out}");
    assert!(
        out.contains("the trace is damaged: explain/trace/kernel/channel_0"),
        "{out}"
    );
    std::fs::write(&channel, &bytes[..bytes.len() / 2]).unwrap();
    let (status, out) = desk.gate(&[TIMER, ALL_IRQS]);
    assert_eq!(status, 2, "{out}");
    assert!(out.contains("1 passed, 0 missed, 1 unusable"), "{out}");
    assert!(out.contains("explain/trace/kernel/channel_0"), "{out}");
    std::fs::write(
        desk.run.join("explain/trace/kernel/metadata"),
        "no metadata",
    )
    .unwrap();
    let (status, out) = desk.gate(&[TIMER, ALL_IRQS]);
    assert_eq!(status, 2, "{out}");
    assert!(out.contains("metadata"), "{out}");

    let strict = format!("require: {{lost_events: 6}}\n{ALL_IRQS}");
    let (status, out) = Desk::new().trace(&short(), 7).gate(&[TIMER, &strict]);
    assert_eq!(status, 2, "{out}");
    assert!(
        out.contains("7 events of the trace lost, and the limits file allows 6"),
        "{out}"
    );
    let (status, out) = Desk::new()
        .trace(&short(), 7)
        .gate(&[&strict.replace('6', "7")]);
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("7 events of the trace lost"), "{out}");
}

#[test]
fn several_limits_files_hold_together() {
    let (status, out) = Desk::new().gate(&[TIMER, &TIMER.replace("1ms", "1us")]);
    assert_eq!(status, 1, "{out}");
    assert!(out.contains("1 passed, 1 missed"), "{out}");
    let other = format!("require: {{pass: armed}}\n{TIMER}");
    let (status, out) = Desk::new().gate(&[TIMER, &other]);
    assert_eq!(status, 2, "{out}");
    assert!(
        out.contains("1.yaml and those before it: 'measure' and 'armed'"),
        "{out}"
    );
}

/// A plan may measure less than the shipped limits name: that is unusable, but
/// does not hide a miss.
#[test]
fn the_shipped_limits_miss_where_a_load_competes() {
    let gates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../conf/gates");
    let board = ("board", "virtual");
    for (latency, want) in [(5_000, 2), (200_000, 1)] {
        let run = RunBuilder::new("image-1-0a1b2c3d-001")
            .measured("timer-latency", &[board, ("cpu", "0")], &[latency; 2_000])
            .measured(
                "context-switch",
                &[board, ("method", "pipe")],
                &[5_000; 2_000],
            )
            .edit(|run| {
                let ok = rtperf_record::Check {
                    name: "preempt_rt".into(),
                    status: rtperf_record::CheckStatus::Ok,
                    found: "yes".into(),
                };
                run.checks.before.push(ok.clone());
                run.checks.after.push(ok);
            });
        let dir = temp_dir();
        let run = run.write(dir.path());
        let mut command = Command::cargo_bin("rtperf").unwrap();
        command.arg("gate");
        for file in ["virtual-board.yaml", "virtual-board-trace.yaml"] {
            command.arg("--limits").arg(gates.join(file));
        }
        let out = command.arg(run).output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        assert_eq!(out.status.code(), Some(want), "{text}");
        assert!(text.contains("no measurement 'daq-stream'"), "{text}");
    }
}
