// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Writes small traces of every shape, so that tests know the right answer.
#![allow(dead_code)] // each test uses its part

use std::path::{Path, PathBuf};

pub const MAGIC: u32 = 0xc1fc_1fc1;
pub const UUID: [u8; 16] = *b"\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef";

/// Bits in the order of either byte order.
#[derive(Clone, Default)]
pub struct Bits {
    pub big: bool,
    bits: Vec<bool>,
}

impl Bits {
    pub fn new(big: bool) -> Bits {
        Bits { big, bits: vec![] }
    }

    pub fn align(&mut self, bits: usize) -> &mut Bits {
        self.bits
            .resize(self.bits.len().next_multiple_of(bits), false);
        self
    }

    /// The low `size` bits of a number.
    pub fn int(&mut self, value: u64, size: usize) -> &mut Bits {
        for i in 0..size {
            let bit = if self.big { size - 1 - i } else { i };
            self.bits.push(value >> bit & 1 == 1);
        }
        self
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Bits {
        self.align(8);
        for b in bytes {
            self.int(u64::from(*b), 8);
        }
        self
    }

    pub fn text(&mut self, text: &str) -> &mut Bits {
        self.bytes(text.as_bytes()).int(0, 8)
    }

    pub fn len(&self) -> usize {
        self.bits.len()
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let byte = |chunk: &[bool]| {
            (0..8).fold(0u8, |b, i| {
                let bit = u8::from(chunk.get(i).copied().unwrap_or(false));
                b | bit << (if self.big { 7 - i } else { i })
            })
        };
        self.bits.chunks(8).map(byte).collect()
    }
}

/// A packet with the header and context of [`prelude`].
#[derive(Clone)]
pub struct Packet {
    pub begin: u64,
    pub end: u64,
    pub sequence: u64,
    pub discarded: u64,
    pub cpu: u64,
    pub stream: u64,
    pub events: Bits,
    pub padding: usize,
}

/// Bytes before the first event.
pub const HEADER_BYTES: usize = 4 + 16 + 8 + 8 * 4 + 8 + 4 + 4;

impl Packet {
    pub fn new(big: bool, begin: u64, end: u64) -> Packet {
        let mut events = Bits::new(big);
        // Positions of events count from the packet's start.
        events.bits = vec![false; HEADER_BYTES * 8];
        Packet {
            begin,
            end,
            sequence: 0,
            discarded: 0,
            cpu: 0,
            stream: 0,
            events,
            padding: 16,
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let content = self.events.len();
        let size = content.next_multiple_of(8) + self.padding * 8;
        let mut head = Bits::new(self.events.big);
        head.int(MAGIC.into(), 32).bytes(&UUID).int(self.stream, 64);
        head.int(self.begin, 64)
            .int(self.end, 64)
            .int(content as u64, 64)
            .int(size as u64, 64);
        head.int(self.sequence, 64)
            .int(self.discarded, 32)
            .int(self.cpu, 32);
        assert_eq!(head.len(), HEADER_BYTES * 8);
        let mut all = self.events.clone();
        all.bits[..head.len()].copy_from_slice(&head.bits);
        all.bits.resize(size, false);
        all.to_bytes()
    }
}

/// The declarations that all traces here share. `streams` are the blocks of
/// streams and events.
pub fn metadata(big: bool, clock: &str, streams: &str) -> String {
    let order = if big { "be" } else { "le" };
    format!(
        "/* CTF 1.8 */\r\n\
typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
trace {{
    major = 1; minor = 8; byte_order = {order};
    uuid = \"01234567-89ab-cdef-0123-456789abcdef\";
    packet.header := struct {{ uint32_t magic; uint8_t uuid[16]; uint64_t stream_id; }};
}};
env {{ hostname = \"board\"; domain = \"kernel\"; tracer_major = 2; }};
clock {{ name = \"monotonic\"; {clock} }};
typealias integer {{ size = 64; align = 8; map = clock.monotonic.value; }} := stamp64;
struct packet_context {{
    stamp64 timestamp_begin; stamp64 timestamp_end;
    uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num;
    uint32_t events_discarded; uint32_t cpu_id;
}};
{streams}"
    )
}

/// A stream whose events have LTTng's compact header.
pub const COMPACT: &str = "
stream {
    id = 0;
    packet.context := struct packet_context;
    event.header := struct {
        enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;
        variant <id> {
            struct { integer { size = 27; align = 1; map = clock.monotonic.value; } timestamp; } compact;
            struct { uint32_t id; stamp64 timestamp; } extended;
        } v;
    } align(8);
};
";

/// A compact event header.
pub fn compact(bits: &mut Bits, id: u64, time: u64) -> &mut Bits {
    bits.align(8).int(id, 5).int(time & 0x7ff_ffff, 27)
}

/// Its extended form.
pub fn extended(bits: &mut Bits, id: u64, time: u64) -> &mut Bits {
    bits.align(8).int(31, 5).align(8).int(id, 32).int(time, 64)
}

/// Writes a trace folder: metadata and streams by name.
pub fn write(dir: &Path, metadata: &[u8], streams: &[(&str, Vec<u8>)]) -> PathBuf {
    std::fs::create_dir_all(dir).unwrap();
    std::fs::write(dir.join("metadata"), metadata).unwrap();
    for (name, bytes) in streams {
        std::fs::write(dir.join(name), bytes).unwrap();
    }
    dir.to_owned()
}

/// All events as text, losses and diagnostics.
pub struct Read {
    pub lines: Vec<String>,
    pub lost: Vec<rtperf_ctf::Lost>,
    pub faults: Vec<String>,
}

pub fn read(dir: &Path) -> Read {
    let trace = rtperf_ctf::Trace::open(dir).unwrap();
    let (mut reader, mut text) = (trace.read(), rtperf_ctf::TextWriter::new());
    let mut out = Read {
        lines: vec![],
        lost: vec![],
        faults: vec![],
    };
    while let Some(item) = reader.next_item() {
        match item {
            rtperf_ctf::Item::Event(e) => {
                out.lines
                    .push(String::from_utf8_lossy(text.line(&e)).into_owned());
            }
            rtperf_ctf::Item::Lost(lost) => out.lost.push(lost),
        }
    }
    let all = trace
        .diagnostics()
        .list()
        .iter()
        .chain(reader.diagnostics().list());
    out.faults = all.map(ToString::to_string).collect();
    out
}
