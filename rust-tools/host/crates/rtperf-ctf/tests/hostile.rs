// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Mutated metadata and packets: reading ends, without panic. PROPTEST_CASES
//! makes it try longer.

mod support;

use proptest::prelude::*;
use support::*;

const EVENTS: &str = r#"
enum kind : uint8_t { A, B = 3 ... 9 };
event { id = 0; name = "mixed"; stream_id = 0; fields := struct {
    string _s; uint8_t _n; uint32_t _list[_n];
    struct { uint8_t k; string t[k]; } _rows[_n];
    enum kind _k; variant <_k> { uint8_t A; struct { string x; } B; } _v;
    integer { size = 8; encoding = UTF8; } _c[16];
    floating_point { exp_dig = 11; mant_dig = 53; align = 32; } _f;
    integer { size = 3; align = 1; signed = true; byte_order = be; } _b;
}; };
event { id = 1; name = "fixed"; stream_id = 0; fields := struct { uint64_t a; uint32_t b; }; };
"#;

fn trace() -> (Vec<u8>, Vec<u8>) {
    let mut stream = vec![];
    for sequence in 0..3u64 {
        let mut p = Packet::new(false, sequence * 100, sequence * 100 + 50);
        p.sequence = sequence;
        for t in 0..4u64 {
            let b = &mut p.events;
            compact(b, 0, sequence * 100 + t)
                .text("hello")
                .int(2, 8)
                .int(1, 32)
                .int(2, 32);
            b.int(1, 8)
                .text("x")
                .int(0, 8)
                .int(3, 8)
                .text("y")
                .bytes(b"0123456789abcdef");
            b.align(32).int(1.5f64.to_bits(), 64).int(5, 3);
            compact(b, 1, sequence * 100 + t).int(7, 64).int(8, 32);
        }
        stream.extend(p.to_bytes());
    }
    (
        metadata(false, "freq = 1000000;", &format!("{COMPACT}{EVENTS}")).into_bytes(),
        stream,
    )
}

/// A change of a file.
#[derive(Debug, Clone)]
enum Change {
    Flip { at: usize, bit: u8 },
    Set { at: usize, value: u8 },
    Cut { at: usize },
    Copy { from: usize, len: usize, to: usize },
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let at = 0..1usize << 14;
    let one = prop_oneof![
        (at.clone(), 0..8u8).prop_map(|(at, bit)| Change::Flip { at, bit }),
        (at.clone(), any::<u8>()).prop_map(|(at, value)| Change::Set { at, value }),
        at.clone().prop_map(|at| Change::Cut { at }),
        (at.clone(), 1..64usize, at).prop_map(|(from, len, to)| Change::Copy { from, len, to }),
    ];
    prop::collection::vec(one, 0..6)
}

fn apply(data: &mut Vec<u8>, changes: &[Change]) {
    for change in changes {
        let len = data.len().max(1);
        match *change {
            Change::Flip { at, bit } => {
                if let Some(b) = data.get_mut(at % len) {
                    *b ^= 1 << bit;
                }
            }
            Change::Set { at, value } => {
                if let Some(b) = data.get_mut(at % len) {
                    *b = value;
                }
            }
            Change::Cut { at } if at % 8 == 0 => data.truncate(at % len),
            Change::Cut { .. } => {}
            Change::Copy { from, len: n, to } => {
                let from = from % len;
                let part: Vec<u8> = data[from.min(data.len())..(from + n).min(data.len())].to_vec();
                let to = (to % len).min(data.len());
                data.splice(to..to, part);
            }
        }
    }
}

/// Reads all there is; the event count is bounded by the bits there are.
fn survives(metadata: &[u8], stream: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), metadata, &[("s", stream.to_vec())]);
    let Ok(trace) = rtperf_ctf::Trace::open(dir.path()) else {
        return;
    };
    let (mut reader, mut text, mut events) = (trace.read(), rtperf_ctf::TextWriter::new(), 0);
    while let Some(event) = reader.next_event() {
        text.line(&event);
        events += 1;
        assert!(events <= stream.len() * 8);
    }
}

#[test]
fn the_trace_itself_is_sound() {
    let (metadata, stream) = trace();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &metadata, &[("s", stream)]);
    let got = read(dir.path());
    assert_eq!(
        (got.lines.len(), got.faults.len()),
        (24, 0),
        "{:?}",
        got.faults
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_packets(changes in changes()) {
        let (metadata, mut stream) = trace();
        apply(&mut stream, &changes);
        survives(&metadata, &stream);
    }

    #[test]
    fn mutated_metadata(changes in changes()) {
        let (mut metadata, stream) = trace();
        apply(&mut metadata, &changes);
        survives(&metadata, &stream);
    }

    #[test]
    fn any_bytes_as_metadata(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        survives(&bytes, b"");
    }

    #[test]
    fn tokens_in_any_order(words in prop::collection::vec(prop::sample::select(WORDS), 0..80)) {
        survives(words.join(" ").as_bytes(), &trace().1);
    }
}

const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "(",
    ")",
    ";",
    ",",
    ":",
    ":=",
    "=",
    ".",
    "...",
    "-",
    "1",
    "64",
    "0xffffffffffffffff",
    "struct",
    "variant",
    "enum",
    "integer",
    "floating_point",
    "string",
    "typealias",
    "typedef",
    "trace",
    "stream",
    "event",
    "clock",
    "env",
    "callsite",
    "packet",
    "header",
    "context",
    "fields",
    "id",
    "size",
    "align",
    "name",
    "x",
    "\"text\"",
    "/*",
    "*/",
    "//",
    "const",
    "*",
    "byte_order",
    "le",
    "map",
    "value",
    "signed",
    "true",
];
