// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! One stream, read event by event.

use crate::diag::{Diagnostics, Place};
use crate::fault::EventFault;
use crate::header::{Head, HeaderFields, extend};
use crate::layout::{EventClass, StreamClass, StreamInfo};
use crate::packet::{self, MAGIC, Packet, PacketFault};
use crate::program::{Frame, Stop};
use crate::reader::Lost;
use crate::time::ToNs;
use crate::trace::{Part, StreamFile};
use crate::visit::{Nothing, Visitor};
use std::cell::Cell;

/// Reads the files of one stream in order. The event that was decoded last is
/// the current one.
pub struct Cursor<'t> {
    files: Vec<(&'t Part, &'t StreamFile)>,
    file: usize,
    /// Where the next packet of the file begins.
    next_packet: u64,
    part: &'t Part,
    class: &'t StreamClass,
    pub packet: Packet<'t>,
    /// Next event's first bit; beyond the packet's end when there is none.
    pos: u64,
    registers: Vec<Cell<u64>>,
    pub slots: Vec<Cell<u64>>,
    to_ns: ToNs,
    /// What the last packet said, to notice losses.
    before: Option<Before>,
    went_back: bool,
    // The current event:
    event: Option<&'t EventClass>,
    start: u64,
    pub ticks: u64,
    pub time_ns: i64,
    pub class_index: u32,
}

struct Before {
    discarded: Option<u64>,
    sequence: Option<u64>,
    end_ns: i64,
}

impl<'t> Cursor<'t> {
    /// `None` for no files.
    pub fn new(files: Vec<(&'t Part, &'t StreamFile)>) -> Option<Cursor<'t>> {
        let (part, _) = *files.first()?;
        let class = part.layout.streams.first()?;
        let streams = || files.iter().flat_map(|(p, _)| &p.layout.streams);
        let registers = streams().map(|s| s.registers).max().unwrap_or(0);
        let slots = streams().map(|s| s.max_slots).max().unwrap_or(0);
        Some(Cursor {
            file: 0,
            next_packet: 0,
            part,
            class,
            packet: Packet::default(),
            pos: 0,
            registers: vec![Cell::new(0); registers.into()],
            slots: vec![Cell::new(0); slots.into()],
            to_ns: ToNs::new(None),
            before: None,
            went_back: false,
            event: None,
            start: 0,
            ticks: 0,
            time_ns: i64::MIN,
            class_index: u32::MAX,
            files,
        })
    }

    pub fn class(&self) -> &'t EventClass {
        // A cursor without an event is never handed out.
        self.event.unwrap_or(&self.part.nothing)
    }

    pub fn info(&self) -> StreamInfo<'t> {
        let (part, file) = self.files[self.file.min(self.files.len() - 1)];
        StreamInfo {
            dir: &part.dir,
            file: &file.path,
            metadata: &part.metadata,
            class_id: self.class.id,
        }
    }

    fn frame(&self) -> Frame<'_> {
        Frame {
            data: self.packet.data,
            end: self.packet.end,
            registers: &self.registers,
            slots: &self.slots,
            fields: &self.class.fields,
        }
    }

    #[inline]
    pub fn visit_event<V: Visitor>(&self, visitor: &mut V) {
        let class = self.class();
        if let Some(block) = &class.single {
            let base = self.slots.first().map_or(0, Cell::get);
            class
                .program
                .visit_block(block, &self.frame(), base, visitor);
            return;
        }
        // It was decoded once without fault.
        let _ = self.class().program.run(&self.frame(), self.start, visitor);
    }

    pub fn visit_packet_context<V: Visitor>(&self, visitor: &mut V) {
        let start = self.packet.context;
        // The slots are the current event's.
        let frame = Frame {
            slots: &[],
            ..self.frame()
        };
        let _ = self.class.packet_context.run(&frame, start, visitor);
    }

    /// Decodes the next event; false at the end of the stream.
    #[inline]
    pub fn advance(&mut self, diagnostics: &mut Diagnostics, lost: &mut Vec<Lost>) -> bool {
        loop {
            if self.pos >= self.packet.end {
                if !self.next_packet(diagnostics, lost) {
                    return false;
                }
                continue;
            }
            match self.decode() {
                Ok(()) => {
                    if self.went_back {
                        self.report_went_back(diagnostics);
                    }
                    return true;
                }
                Err(fault) => self.give_up_packet(&fault, diagnostics),
            }
        }
    }

    #[inline(always)]
    fn decode(&mut self) -> Result<(), EventFault> {
        let head = match &self.class.fast_header {
            Some(fast) => fast.read(self.packet.data, self.pos, self.packet.end),
            None => self.general_header(),
        };
        let head = head.ok_or(EventFault::Header)?;
        let event = self
            .class
            .event(head.id)
            .ok_or(EventFault::NoClass(head.id))?;
        let end = match &event.single {
            Some(block) => {
                let base = crate::bits::align_up(head.end, block.align);
                let end = base.saturating_add(block.bits);
                if end > self.packet.end {
                    return Err(EventFault::Fields(event.index, Stop::PastEnd));
                }
                if let Some(slot) = self.slots.first() {
                    slot.set(base);
                }
                end
            }
            None => {
                let run = event.program.run(&self.frame(), head.end, &mut Nothing);
                run.map_err(|stop| EventFault::Fields(event.index, stop))?
            }
        };
        if end == self.pos {
            return Err(EventFault::NoSize);
        }
        if head.time_bits > 0 {
            self.ticks = extend(self.ticks, head.time, head.time_bits);
        }
        let time = self.to_ns.ns(self.ticks);
        self.went_back = time < self.time_ns;
        self.time_ns = time;
        self.start = head.end;
        self.event = Some(event);
        self.class_index = event.index;
        self.pos = end;
        Ok(())
    }

    /// Any shape of header: the last `id` and the integer mapped to a clock.
    fn general_header(&self) -> Option<Head> {
        let mut seen = HeaderFields::default();
        let end = self
            .class
            .event_header
            .run(&self.frame(), self.pos, &mut seen)
            .ok()?;
        Some(Head {
            id: seen.id,
            time: seen.time,
            time_bits: seen.time_bits,
            end,
        })
    }

    fn give_up_packet(&mut self, fault: &EventFault, diagnostics: &mut Diagnostics) {
        let file = &self.info().file;
        let at = self.packet.offset + self.pos / 8;
        let message = fault.message(self.part);
        // A packet that the file cuts off was reported when it was opened.
        if self.packet.missing == 0 {
            let message = format!("{message}; the rest of the packet is skipped");
            diagnostics.push(file, Place::Byte(at), message);
        }
        self.pos = self.packet.end;
    }

    fn report_went_back(&mut self, diagnostics: &mut Diagnostics) {
        self.went_back = false;
        let at = self.packet.offset + self.start / 8;
        let message = "time goes back within the stream; order and durations around here are wrong";
        diagnostics.push(self.info().file, Place::Byte(at), message);
    }

    /// Opens the next packet that can be; false when there is none.
    fn next_packet(&mut self, diagnostics: &mut Diagnostics, lost: &mut Vec<Lost>) -> bool {
        loop {
            let Some((part, file)) = self.files.get(self.file).copied() else {
                return false;
            };
            let data = file.data();
            if self.next_packet >= data.len() as u64 {
                self.file += 1;
                self.next_packet = 0;
                continue;
            }
            self.part = part;
            let at = self.next_packet;
            let uuid = part.metadata.uuid;
            match packet::open(data, at, &part.layout, uuid, &self.registers) {
                Ok((index, packet)) => {
                    self.next_packet = at.saturating_add(packet.size.max(1));
                    self.begin(&part.layout.streams[index], packet, file, diagnostics, lost);
                    return true;
                }
                Err(fault) => {
                    let next = resume(data, at, &fault);
                    let message = match next {
                        Some(n) if fault != PacketFault::Zeros => {
                            format!("{fault}; reading goes on at byte {n}")
                        }
                        _ => fault.to_string(),
                    };
                    diagnostics.push(&file.path, Place::Byte(at), message);
                    self.next_packet = next.unwrap_or(data.len() as u64);
                }
            }
        }
    }

    fn begin(
        &mut self,
        class: &'t StreamClass,
        packet: Packet<'t>,
        file: &StreamFile,
        diagnostics: &mut Diagnostics,
        lost: &mut Vec<Lost>,
    ) {
        if packet.missing > 0 {
            let message = format!(
                "the file ends within this packet, {} bytes are missing; the events before are read",
                packet.missing
            );
            diagnostics.push(&file.path, Place::Byte(packet.offset), message);
        }
        self.class = class;
        self.to_ns = ToNs::new(class.clock.as_ref());
        self.pos = packet.first;
        if let Some(begin) = packet.roles.begin {
            self.ticks = begin;
        }
        self.packet = packet;
        self.notice_losses(lost);
    }

    fn notice_losses(&mut self, lost: &mut Vec<Lost>) {
        let roles = &self.packet.roles;
        let end_ns = roles.end.map_or(self.time_ns, |t| self.to_ns.ns(t));
        let begin_ns = roles.begin.map_or(end_ns, |t| self.to_ns.ns(t));
        let first = roles.sequence == Some(0);
        let events = match (&self.before, roles.discarded) {
            (
                Some(Before {
                    discarded: Some(b), ..
                }),
                Some(n),
            ) => wrapped(n, *b, roles.discarded_size),
            // The counter started with the first packet; a later first packet
            // says nothing of what was lost since.
            (None, Some(n)) if first => n,
            _ => 0,
        };
        let packets = match (&self.before, roles.sequence) {
            (
                Some(Before {
                    sequence: Some(b), ..
                }),
                Some(n),
            ) if n > *b => n - b - 1,
            _ => 0,
        };
        if events > 0 || packets > 0 {
            let from_ns = self.before.as_ref().map_or(begin_ns, |b| b.end_ns);
            let cpu = self.packet.cpu;
            lost.push(Lost {
                events,
                packets,
                cpu,
                from_ns,
                to_ns: end_ns,
            });
        }
        let roles = &self.packet.roles;
        self.before = Some(Before {
            discarded: roles.discarded,
            sequence: roles.sequence,
            end_ns,
        });
    }
}

/// How far a counter of `size` bits went on.
fn wrapped(now: u64, before: u64, size: u8) -> u64 {
    let mask = u64::MAX >> (64 - u32::from(size.clamp(1, 64)));
    now.wrapping_sub(before) & mask
}

/// Where reading can go on after a packet that could not be opened: at the
/// next magic number.
fn resume(data: &[u8], at: u64, fault: &PacketFault) -> Option<u64> {
    if matches!(fault, PacketFault::Zeros | PacketFault::HeaderCut) {
        return None;
    }
    let from = usize::try_from(at).ok()?.checked_add(4)?;
    let rest = data.get(from..)?;
    let little = memchr::memmem::find(rest, &MAGIC.to_le_bytes());
    let found = little.or_else(|| memchr::memmem::find(rest, &MAGIC.to_be_bytes()))?;
    Some((from + found) as u64)
}
