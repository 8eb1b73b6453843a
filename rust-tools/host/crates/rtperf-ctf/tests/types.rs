// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Every type of CTF 1.8 in both byte orders, with known values, and the same
//! text as babeltrace2 prints where it is installed.

mod support;

use support::*;

const EVENTS: &str = r#"
typealias integer { size = 16; align = 16; signed = true; } := int16a;
struct point { int16a x; int16a y; };
enum kind : uint8_t { ZERO, ONE, "two words" = 5 ... 7, ALSO = 6 };
variant any { uint8_t ZERO; string ONE; struct point ALSO; };
event { id = 0; name = "ints"; stream_id = 0; loglevel = 6; model.emf.uri = "http://x";
    fields := struct {
        integer { size = 3; align = 1; signed = true; } _a;
        integer { size = 13; align = 1; } _b;
        integer { size = 1; align = 1; } _c;
        integer { size = 64; align = 1; base = hex; } _d;
        int16a _e;
        integer { size = 12; align = 4; base = oct; } _f;
        integer { size = 8; base = 2; } _g;
    };
};
event { id = 1; name = "texts"; stream_id = 0; fields := struct {
        string _s;
        integer { size = 8; encoding = UTF8; } _name[6];
        uint8_t __n; integer { size = 8; encoding = UTF8; } _t[ __n ];
    };
};
event { id = 2; name = "arrays"; stream_id = 0; fields := struct {
        uint8_t _n;
        struct point _p[2];
        int16a _q[_n];
        struct { uint8_t k; uint8_t v[k]; } _rows[_n];
        integer { size = 5; align = 1; } _fives[3];
    };
};
event { id = 3; name = "variants"; stream_id = 0; fields := struct {
        enum kind _k;
        variant any <_k> _v;
        uint8_t _after;
    };
};
event { id = 4; name = "floats"; stream_id = 0;
    context := struct { uint8_t _len; };
    fields := struct {
        floating_point { exp_dig = 8; mant_dig = 24; align = 32; } _f;
        floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _d;
        uint8_t _list[event.context._len];
    };
};
event { id = 77; name = "nothing"; stream_id = 0; fields := struct { }; };
callsite { name = "ints"; func = "main"; };
"#;

fn trace(big: bool) -> (String, Vec<u8>) {
    let mut p = Packet::new(big, 1000, 2000);
    let b = &mut p.events;
    compact(b, 0, 1001)
        .int(5, 3)
        .int(0x1abc, 13)
        .int(1, 1)
        .int(0x8123_4567_89ab_cdef, 64);
    b.align(16)
        .int(-2i16 as u64, 16)
        .align(4)
        .int(0o1234, 12)
        .align(8)
        .int(0b101, 8);
    compact(b, 1, 1002)
        .text("a \"b\"\n'?\x1b\x07\x01é")
        .bytes(b"abc\0zz")
        .int(3, 8)
        .bytes(b"xyz");
    compact(b, 2, 1003).align(16).int(2, 8);
    for v in [1i16, -2, 3, -4, 5, -6] {
        b.align(16).int(v as u64, 16);
    }
    b.int(1, 8).int(9, 8).int(2, 8).int(8, 8).int(7, 8);
    b.int(1, 5).int(2, 5).int(31, 5);
    compact(b, 3, 1004).int(0, 8).int(200, 8).int(1, 8);
    compact(b, 3, 1005).int(1, 8).text("one").int(2, 8);
    compact(b, 3, 1006)
        .int(6, 8)
        .align(16)
        .int(10, 16)
        .int(-1i16 as u64, 16)
        .int(3, 8);
    compact(b, 4, 1007)
        .int(2, 8)
        .align(32)
        .int(1.5f32.to_bits().into(), 32);
    b.int((-0.1f64).to_bits(), 64).int(4, 8).int(5, 8);
    extended(b, 77, 1008);
    (
        metadata(
            big,
            "freq = 1000000000; offset_s = 5; offset = 7;",
            &format!("{COMPACT}{EVENTS}"),
        ),
        p.to_bytes(),
    )
}

const TEXT: [&str; 8] = [
    "ints: { cpu_id = 0 }, { a = -3, b = 6844, c = 1, d = 0x8123456789ABCDEF, e = -2, f = 01234, g = 0b00000101 }",
    r#"texts: { cpu_id = 0 }, { s = "a \"b\"\n\'\?\e\a\x01é", name = "abc", _n = 3, t = "xyz" }"#,
    "arrays: { cpu_id = 0 }, { n = 2, p = [ [0] = { x = 1, y = -2 }, [1] = { x = 3, y = -4 } ], \
     q = [ [0] = 5, [1] = -6 ], rows = [ [0] = { k = 1, v = [ [0] = 9 ] }, \
     [1] = { k = 2, v = [ [0] = 8, [1] = 7 ] } ], fives = [ [0] = 1, [1] = 2, [2] = 31 ] }",
    r#"variants: { cpu_id = 0 }, { k = ( "ZERO" : container = 0 ), v = { 200 }, after = 1 }"#,
    r#"variants: { cpu_id = 0 }, { k = ( "ONE" : container = 1 ), v = { "one" }, after = 2 }"#,
    r#"variants: { cpu_id = 0 }, { k = ( "two words", "ALSO" : container = 6 ), v = { { x = 10, y = -1 } }, after = 3 }"#,
    "floats: { cpu_id = 0 }, { len = 2 }, { f = 1.5, d = -0.1, list = [ [0] = 4, [1] = 5 ] }",
    "nothing: { cpu_id = 0 }, { }",
];

#[test]
fn every_type_in_both_byte_orders() {
    for big in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let (metadata, stream) = trace(big);
        write(dir.path(), metadata.as_bytes(), &[("s", stream)]);
        let got = read(dir.path());
        assert_eq!(got.faults, [""; 0]);
        for (i, (got, want)) in got.lines.iter().zip(TEXT).enumerate() {
            assert_eq!(
                got,
                &format!("[5.0000010{:02}] board {want}", 8 + i),
                "big endian: {big}"
            );
        }
        assert_eq!(got.lines.len(), TEXT.len());
    }
}

#[test]
fn fields_by_name() {
    use rtperf_ctf::{Scope, Trace};
    let dir = tempfile::tempdir().unwrap();
    let (metadata, stream) = trace(true);
    write(dir.path(), metadata.as_bytes(), &[("s", stream)]);
    let trace = Trace::open(dir.path()).unwrap();
    let class = |name: &str| trace.classes().find(|(c, _)| c.name == name).unwrap().0;
    let field = |event: &str, name: &str| class(event).field(Scope::Payload, name);
    let (a, e, s) = (
        field("ints", "a").unwrap(),
        field("ints", "e").unwrap(),
        field("texts", "s").unwrap(),
    );
    let (t, d) = (
        field("texts", "name").unwrap(),
        field("floats", "d").unwrap(),
    );
    let len = class("floats").field(Scope::EventContext, "len").unwrap();
    assert!(field("ints", "nope").is_none() && field("arrays", "rows").is_none());
    let (mut reader, mut seen) = (trace.read(), 0);
    while let Some(event) = reader.next_event() {
        match event.name() {
            "ints" => {
                assert_eq!((event.int(&a), event.int(&e)), (Some(-3), Some(-2)));
                // Another class's field says nothing here, and no number is text.
                assert_eq!(
                    (event.text(&s), event.text(&a), event.float(&a)),
                    (None, None, None)
                );
                assert_eq!(event.ticks(), 1001);
            }
            "texts" => {
                assert_eq!(event.text(&s), Some("a \"b\"\n'?\x1b\x07\x01é".as_bytes()));
                assert_eq!(event.text(&t), Some(&b"abc"[..]));
            }
            "floats" => assert_eq!((event.float(&d), event.uint(&len)), (Some(-0.1), Some(2))),
            _ => continue,
        }
        seen += 1;
    }
    assert_eq!(seen, 3);
}

#[test]
fn babeltrace2_agrees() {
    for big in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let (metadata, stream) = trace(big);
        write(dir.path(), metadata.as_bytes(), &[("s", stream)]);
        let args = ["--clock-seconds", "--no-delta"];
        let Ok(out) = std::process::Command::new("babeltrace2")
            .args(args)
            .arg(dir.path())
            .output()
        else {
            eprintln!("skipped: no babeltrace2 here");
            return;
        };
        let theirs = String::from_utf8_lossy(&out.stdout).into_owned();
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{error}");
        assert_eq!(
            theirs.lines().collect::<Vec<_>>(),
            read(dir.path()).lines,
            "{error}"
        );
    }
}
