// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The start of a packet: where it ends, what it is of, what was lost before.

use crate::layout::{Layout, StreamClass};
use crate::program::{Frame, Stop};
use crate::visit::{FieldInfo, Value, Visitor};
use std::cell::Cell;

pub const MAGIC: u32 = 0xc1fc_1fc1;

/// An open packet.
#[derive(Debug, Clone, Default)]
pub struct Packet<'t> {
    /// From the packet's first byte to its content's last.
    pub data: &'t [u8],
    /// Byte offset in the file.
    pub offset: u64,
    /// Bytes to the next packet.
    pub size: u64,
    /// Bit where the packet's context begins, for visiting it again.
    pub context: u64,
    /// Bit of the first event.
    pub first: u64,
    /// Bit after the content, never beyond `data`.
    pub end: u64,
    pub roles: Roles,
    pub cpu: Option<u32>,
    /// The file ends within the packet: bytes missing.
    pub missing: u64,
}

/// Fields of the packet that mean something to every reader.
#[derive(Debug, Clone, Default)]
pub struct Roles {
    pub magic: Option<u64>,
    pub uuid: Option<[u8; 16]>,
    pub stream_id: Option<u64>,
    pub instance: Option<u64>,
    pub begin: Option<u64>,
    pub end: Option<u64>,
    pub content_bits: Option<u64>,
    pub packet_bits: Option<u64>,
    pub sequence: Option<u64>,
    pub discarded: Option<u64>,
    /// Bits of the counter of discarded events: it wraps.
    pub discarded_size: u8,
    pub cpu: Option<u64>,
}

impl Visitor for Roles {
    fn value(&mut self, field: &FieldInfo, value: Value<'_>) {
        let number = match value {
            Value::Uint(n) => Some(n),
            Value::Int(n) => Some(n as u64),
            Value::Ints(array) if &*field.name == "uuid" && array.len() == 16 => {
                let mut uuid = [0; 16];
                for (byte, v) in uuid.iter_mut().zip(array.iter()) {
                    if let Value::Uint(v) = v {
                        *byte = v as u8;
                    }
                }
                self.uuid = Some(uuid);
                return;
            }
            _ => None,
        };
        match &*field.name {
            "magic" => self.magic = number,
            "stream_id" => self.stream_id = number,
            "stream_instance_id" => self.instance = number,
            "timestamp_begin" => self.begin = number,
            "timestamp_end" => self.end = number,
            "content_size" => self.content_bits = number,
            "packet_size" => self.packet_bits = number,
            "packet_seq_num" => self.sequence = number,
            "events_discarded" => {
                self.discarded = number;
                self.discarded_size = field.size;
            }
            "cpu_id" => self.cpu = number,
            _ => {}
        }
    }
}

/// Why a packet cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PacketFault {
    /// Only zeros from here to the end: a file that was extended but not
    /// written.
    Zeros,
    NoMagic(u64),
    OtherTrace,
    NoStream(Option<u64>),
    HeaderCut,
    Sizes {
        content: u64,
        packet: u64,
    },
}

impl std::fmt::Display for PacketFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PacketFault::Zeros => f.write_str("only zeros from here to the end of the file"),
            PacketFault::NoMagic(m) => {
                write!(
                    f,
                    "no packet here: the magic number is {m:#010x}, not {MAGIC:#010x}"
                )
            }
            PacketFault::OtherTrace => f.write_str("a packet of another trace (its UUID differs)"),
            PacketFault::NoStream(Some(id)) => {
                write!(
                    f,
                    "a packet of stream {id}, which the metadata does not declare"
                )
            }
            PacketFault::NoStream(None) => {
                f.write_str("the packet does not say of which of the declared streams it is")
            }
            PacketFault::HeaderCut => f.write_str("the file ends within the packet's header"),
            PacketFault::Sizes { content, packet } => {
                write!(
                    f,
                    "a packet of {packet} bits cannot hold {content} bits of content"
                )
            }
        }
    }
}

/// Opens the packet at `offset` of a file. Returns the index of its stream
/// class with it.
pub fn open<'t>(
    file: &'t [u8],
    offset: u64,
    layout: &Layout,
    uuid: Option<[u8; 16]>,
    registers: &[Cell<u64>],
) -> Result<(usize, Packet<'t>), PacketFault> {
    let rest = usize::try_from(offset)
        .ok()
        .and_then(|o| file.get(o..))
        .unwrap_or_default();
    let end = rest.len() as u64 * 8;
    let mut roles = Roles::default();
    let frame = Frame {
        data: rest,
        end,
        registers: &[],
        slots: &[],
        fields: &layout.header_fields,
    };
    let after_header = layout
        .packet_header
        .run(&frame, 0, &mut roles)
        .map_err(cut)?;
    check_identity(&roles, rest, uuid)?;
    let index = stream_index(layout, roles.stream_id)?;
    let stream = &layout.streams[index];
    let (context, first) = run_context(stream, rest, end, registers, &mut roles, after_header)?;
    let packet_bits = roles.packet_bits.filter(|b| *b > 0);
    let content_bits = roles.content_bits.or(packet_bits).unwrap_or(end);
    let packet_bits = packet_bits.unwrap_or(end);
    if content_bits > packet_bits || content_bits < first || packet_bits % 8 != 0 {
        return Err(PacketFault::Sizes {
            content: content_bits,
            packet: packet_bits,
        });
    }
    let content_end = content_bits.min(end);
    let data = &rest[..(content_end.div_ceil(8) as usize).min(rest.len())];
    let packet = Packet {
        data,
        offset,
        size: packet_bits / 8,
        context,
        first,
        end: content_end,
        cpu: roles.cpu.and_then(|c| u32::try_from(c).ok()),
        roles,
        missing: (packet_bits / 8).saturating_sub(rest.len() as u64),
    };
    Ok((index, packet))
}

fn cut(_: Stop) -> PacketFault {
    PacketFault::HeaderCut
}

fn check_identity(roles: &Roles, rest: &[u8], uuid: Option<[u8; 16]>) -> Result<(), PacketFault> {
    match roles.magic {
        Some(m) if m == u64::from(MAGIC) => {}
        Some(0) if rest.iter().all(|b| *b == 0) => return Err(PacketFault::Zeros),
        Some(m) => return Err(PacketFault::NoMagic(m)),
        None => {}
    }
    match (roles.uuid, uuid) {
        (Some(a), Some(b)) if a != b => Err(PacketFault::OtherTrace),
        _ => Ok(()),
    }
}

fn stream_index(layout: &Layout, id: Option<u64>) -> Result<usize, PacketFault> {
    let found = match id {
        Some(id) => layout.streams.iter().position(|s| s.id == id),
        None if layout.streams.len() == 1 => Some(0),
        None => None,
    };
    found.ok_or(PacketFault::NoStream(id))
}

/// Runs the stream's own header and context; returns where the context
/// begins and where the events do.
fn run_context(
    stream: &StreamClass,
    data: &[u8],
    end: u64,
    registers: &[Cell<u64>],
    roles: &mut Roles,
    after_header: u64,
) -> Result<(u64, u64), PacketFault> {
    let frame = Frame {
        data,
        end,
        registers,
        slots: &[],
        fields: &stream.fields,
    };
    if !stream.packet_header.saves.is_empty() {
        stream
            .packet_header
            .run(&frame, 0, &mut crate::visit::Nothing)
            .map_err(cut)?;
    }
    let first = stream
        .packet_context
        .run(&frame, after_header, roles)
        .map_err(cut)?;
    Ok((after_header, first))
}
