// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Packets, streams and clocks: what is whole is read in order, what is
//! damaged is named, and the rest is read.

mod support;

use rtperf_ctf::{CtfError, Trace};
use support::*;

const TICK: &str =
    "event { id = 0; name = \"tick\"; stream_id = 0; fields := struct { uint32_t n; }; };";
const NS: &str = "freq = 1000000000;";

fn ns_metadata() -> String {
    metadata(false, NS, &format!("{COMPACT}{TICK}"))
}

/// A packet of `tick` events at the given times, numbered from `first`.
fn ticks(first: u64, times: &[u64]) -> Packet {
    let mut p = Packet::new(false, times[0], *times.last().unwrap());
    for (i, t) in times.iter().enumerate() {
        compact(&mut p.events, 0, *t).int(first + i as u64, 32);
    }
    p
}

fn read_streams(metadata: &str, streams: &[(&str, Vec<u8>)]) -> Read {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), metadata.as_bytes(), streams);
    read(dir.path())
}

/// The numbers of the ticks read.
fn numbers(read: &Read) -> Vec<u64> {
    let number = |l: &String| {
        l.rsplit("n = ")
            .next()
            .unwrap()
            .trim_end_matches(" }")
            .parse()
            .unwrap()
    };
    read.lines.iter().map(number).collect()
}

fn times(read: &Read) -> Vec<String> {
    read.lines
        .iter()
        .map(|l| l[1..l.find(']').unwrap()].to_owned())
        .collect()
}

#[test]
fn compact_time_wraps_and_extended_headers_set_it() {
    let wrap = 1u64 << 27;
    let mut p = Packet::new(false, wrap - 2, 9 * wrap);
    for (n, t) in [(0, wrap - 1), (1, wrap + 3), (2, 2 * wrap + 1)] {
        compact(&mut p.events, 0, t).int(n, 32);
    }
    extended(&mut p.events, 0, 7 * wrap + 5).int(3, 32);
    compact(&mut p.events, 0, 7 * wrap + 6).int(4, 32);
    let got = read_streams(&ns_metadata(), &[("s", p.to_bytes())]);
    assert_eq!(numbers(&got), [0, 1, 2, 3, 4]);
    let want = [wrap - 1, wrap + 3, 2 * wrap + 1, 7 * wrap + 5, 7 * wrap + 6];
    assert_eq!(
        times(&got),
        want.map(|t| format!("{}.{:09}", t / 1_000_000_000, t % 1_000_000_000))
    );
}

#[test]
fn clocks_of_other_frequencies_and_negative_offsets() {
    let text = metadata(
        false,
        "freq = 1000; offset_s = -2; offset = 500;",
        &format!("{COMPACT}{TICK}"),
    );
    let got = read_streams(&text, &[("s", ticks(0, &[0, 1, 2500]).to_bytes())]);
    assert_eq!(times(&got), ["-2.500000000", "-2.501000000", "1.000000000"]);
}

#[test]
fn a_thousand_streams_merge_in_order_and_ties_by_stream() {
    let streams: Vec<(String, Vec<u8>)> = (0..1000)
        .map(|s| {
            (
                format!("s{s:04}"),
                ticks(s, &[10_000 - s, 20_000, 20_001 + s % 7]).to_bytes(),
            )
        })
        .collect();
    let streams: Vec<(&str, Vec<u8>)> = streams
        .iter()
        .map(|(n, b)| (n.as_str(), b.clone()))
        .collect();
    let got = read_streams(&ns_metadata(), &streams);
    assert_eq!(got.lines.len(), 3000);
    let times = times(&got);
    assert!(times.is_sorted());
    assert_eq!(numbers(&got)[..3], [999, 998, 997]);
    assert_eq!(numbers(&got)[1000..1003], [1, 2, 3]);
}

#[test]
fn lost_events_are_counted_across_a_wrapping_counter() {
    let packet = |sequence, discarded, time| {
        let mut p = ticks(0, &[time, time + 5]);
        (p.sequence, p.discarded, p.cpu) = (sequence, discarded, 3);
        p.to_bytes()
    };
    let max = u64::from(u32::MAX);
    let stream = [
        packet(0, max - 1, 10),
        packet(1, max - 1, 20),
        packet(2, 2, 30),
        packet(5, 2, 40),
    ]
    .concat();
    let got = read_streams(&ns_metadata(), &[("s", stream)]);
    let lost: Vec<_> = got
        .lost
        .iter()
        .map(|l| (l.events, l.packets, l.cpu, l.from_ns, l.to_ns))
        .collect();
    assert_eq!(
        lost,
        [
            (max - 1, 0, Some(3), 10, 15),
            (4, 0, Some(3), 25, 35),
            (0, 2, Some(3), 35, 45)
        ]
    );
    assert_eq!(got.lines.len(), 8);
}

#[test]
fn a_first_packet_in_the_middle_says_nothing_of_what_was_lost() {
    let mut p = ticks(0, &[5]);
    (p.sequence, p.discarded) = (9, 1000);
    assert_eq!(
        read_streams(&ns_metadata(), &[("s", p.to_bytes())]).lost,
        []
    );
}

#[test]
fn a_stream_cut_at_any_byte_keeps_the_events_before() {
    let whole = [
        ticks(0, &[1, 2, 3]).to_bytes(),
        ticks(3, &[4, 5, 6]).to_bytes(),
    ]
    .concat();
    let all = numbers(&read_streams(&ns_metadata(), &[("s", whole.clone())]));
    assert_eq!(all, [0, 1, 2, 3, 4, 5]);
    let mut seen = std::collections::BTreeSet::new();
    for cut in 0..whole.len() {
        let got = read_streams(&ns_metadata(), &[("s", whole[..cut].to_vec())]);
        let numbers = numbers(&got);
        assert_eq!(numbers, all[..numbers.len()], "cut at {cut}");
        let boundary = cut == 0 || cut == whole.len() / 2;
        assert_eq!(
            got.faults.is_empty(),
            boundary,
            "cut at {cut}: {:?}",
            got.faults
        );
        seen.insert(numbers.len());
    }
    assert_eq!(seen.len(), 7, "{seen:?}");
}

#[test]
fn zeros_after_the_last_packet_are_named() {
    let mut stream = ticks(0, &[1, 2]).to_bytes();
    let end = stream.len();
    stream.resize(end + 4096, 0);
    let got = read_streams(&ns_metadata(), &[("s", stream)]);
    assert_eq!(numbers(&got), [0, 1]);
    assert!(
        got.faults[0].ends_with(&format!(
            "byte {end}: only zeros from here to the end of the file"
        )),
        "{:?}",
        got.faults
    );
}

#[test]
fn after_a_damaged_packet_reading_goes_on_at_the_next() {
    let (first, second) = (ticks(0, &[1, 2]).to_bytes(), ticks(2, &[3, 4]).to_bytes());
    let mut bad = first.clone();
    bad[0] ^= 0xff;
    let got = read_streams(&ns_metadata(), &[("s", [bad, second].concat())]);
    assert_eq!(numbers(&got), [2, 3]);
    assert!(
        got.faults[0].contains("byte 0: no packet here"),
        "{:?}",
        got.faults
    );
    assert!(got.faults[0].ends_with(&format!("reading goes on at byte {}", first.len())));
}

#[test]
fn an_event_that_is_not_in_the_metadata_costs_the_rest_of_its_packet() {
    let mut p = ticks(0, &[1, 2]);
    compact(&mut p.events, 7, 3).int(99, 32);
    compact(&mut p.events, 0, 4).int(98, 32);
    let got = read_streams(
        &ns_metadata(),
        &[("s", [p.to_bytes(), ticks(2, &[5]).to_bytes()].concat())],
    );
    assert_eq!(numbers(&got), [0, 1, 2]);
    assert!(
        got.faults[0].contains("event id 7 is not in the metadata"),
        "{:?}",
        got.faults
    );
}

#[test]
fn time_that_goes_back_is_named_and_read() {
    let stream = [
        ticks(0, &[50, 60]).to_bytes(),
        ticks(2, &[10, 70]).to_bytes(),
    ]
    .concat();
    let got = read_streams(
        &ns_metadata(),
        &[("s", stream), ("t", ticks(4, &[55, 65]).to_bytes())],
    );
    assert_eq!(got.lines.len(), 6);
    assert!(got.faults[0].contains("time goes back"), "{:?}", got.faults);
}

#[test]
fn other_traces_streams_and_unknown_stream_ids_are_named() {
    let mut other = ticks(0, &[1]).to_bytes();
    other[4] ^= 1;
    let mut unknown = ticks(0, &[1]);
    unknown.stream = 8;
    let got = read_streams(
        &ns_metadata(),
        &[
            ("a", other),
            ("b", unknown.to_bytes()),
            ("c", ticks(5, &[2]).to_bytes()),
            ("empty", vec![]),
        ],
    );
    assert_eq!(numbers(&got), [5]);
    assert!(
        got.faults[0].contains("packet of another trace"),
        "{:?}",
        got.faults
    );
    assert!(
        got.faults[1].contains("stream 8, which the metadata does not declare"),
        "{:?}",
        got.faults
    );
    assert_eq!(got.faults.len(), 2);
}

#[test]
fn a_wrong_index_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        ns_metadata().as_bytes(),
        &[("s", ticks(0, &[1, 2]).to_bytes())],
    );
    std::fs::create_dir(dir.path().join("index")).unwrap();
    std::fs::write(dir.path().join("index/s.idx"), [0xff; 100]).unwrap();
    let got = read(dir.path());
    assert_eq!((numbers(&got), got.faults.len()), (vec![0, 1], 0));
}

#[test]
fn rotated_chunks_continue_each_other() {
    let instance = ns_metadata().replace(
        "uint64_t stream_id; };",
        "uint32_t stream_id; uint32_t stream_instance_id; };",
    );
    let dir = tempfile::tempdir().unwrap();
    // The later chunk's name sorts first.
    let mut later = ticks(2, &[30, 40]);
    (later.sequence, later.discarded) = (1, 3);
    write(
        &dir.path().join("a"),
        instance.as_bytes(),
        &[("s", later.to_bytes())],
    );
    write(
        &dir.path().join("b"),
        instance.as_bytes(),
        &[("s", ticks(0, &[10, 20]).to_bytes())],
    );
    let got = read(dir.path());
    assert_eq!((numbers(&got), got.faults.len()), (vec![0, 1, 2, 3], 0));
    assert_eq!(
        (got.lost[0].events, got.lost[0].from_ns, got.lost[0].to_ns),
        (3, 20, 40)
    );
}

#[test]
fn a_faulty_declaration_costs_only_itself() {
    let bad = "event { id = 1; name = \"bad\"; stream_id = 0; fields := struct { nosuch x; }; };";
    let deep = format!(
        "event {{ id = 2; name = \"deep\"; stream_id = 0; fields := {} uint32_t x; {}; }};",
        "struct { ".repeat(500),
        "} a;".repeat(499) + "}"
    );
    let dangling =
        "event { id = 3; name = \"ref\"; stream_id = 0; fields := struct { uint32_t x[nope]; }; };";
    let text = metadata(false, NS, &format!("{COMPACT}{bad}{deep}{dangling}{TICK}"));
    let got = read_streams(&text, &[("s", ticks(0, &[1]).to_bytes())]);
    assert_eq!(numbers(&got), [0]);
    assert!(
        got.faults
            .iter()
            .any(|f| f.contains("unknown type 'nosuch x'")),
        "{:?}",
        got.faults
    );
    assert!(
        got.faults.iter().any(|f| f.contains("nested too deeply")),
        "{:?}",
        got.faults
    );
    assert!(
        got.faults
            .iter()
            .any(|f| f.contains("no earlier integer field 'nope'")),
        "{:?}",
        got.faults
    );
}

#[test]
fn what_is_no_trace_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Trace::open(dir.path()).err().unwrap();
    assert!(matches!(open(), CtfError::NoTrace(_)));
    std::fs::write(dir.path().join("metadata"), "").unwrap();
    assert!(open().to_string().contains("the metadata is empty"));
    std::fs::write(dir.path().join("metadata"), "\x1e{\"type\":\"preamble\"}").unwrap();
    assert!(open().to_string().contains("this is CTF 2"));
    assert!(matches!(
        Trace::open(&dir.path().join("none")),
        Err(CtfError::Io { .. })
    ));
}

#[test]
fn types_that_double_at_each_nesting_are_refused() {
    let mut text = String::from("struct d0 { uint32_t x; };\n");
    for i in 0..40 {
        text += &format!("struct d{} {{ struct d{i} a; struct d{i} b; }};\n", i + 1);
    }
    for id in 1..30 {
        let line = format!(
            "event {{ id = {id}; name = \"e{id}\"; stream_id = 0; fields := struct d{}; }};\n",
            10 + id
        );
        text += &line;
    }
    let got = read_streams(
        &metadata(false, NS, &format!("{COMPACT}{TICK}{text}")),
        &[("s", ticks(0, &[1]).to_bytes())],
    );
    assert_eq!(numbers(&got), [0]);
    assert!(
        got.faults
            .iter()
            .any(|f| f.contains("more than 65536 fields")),
        "{:?}",
        got.faults
    );
}

#[test]
fn counts_without_bits_do_not_keep_us() {
    let event = "event { id = 1; name = \"empty\"; stream_id = 0; fields := struct {
        struct { } a[1000000000000];
        uint64_t n; struct { struct { } x[n]; } b[n];
    }; };";
    let text = metadata(false, NS, &format!("{COMPACT}{TICK}{event}"));
    let mut p = Packet::new(false, 1, 2);
    compact(&mut p.events, 1, 1).int(u64::MAX, 64);
    let got = read_streams(&text, &[("s", p.to_bytes())]);
    assert_eq!(got.lines.len(), 1);
}
