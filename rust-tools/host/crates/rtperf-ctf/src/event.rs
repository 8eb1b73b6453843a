// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! An event as a view into its packet, and access to its fields.

use crate::bits::Load;
use crate::cursor::Cursor;
use crate::layout::{EventClass, StreamInfo};
use crate::program::IntSpec;
use crate::run::{float_at, string_at, text_at};
use crate::visit::{Value, Visitor};

/// Where a field stands, found once by name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    /// Which marked position it is relative to.
    pub slot: u16,
    /// In bits.
    pub offset: u64,
    pub kind: AccessKind,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum AccessKind {
    Int(IntSpec),
    Float(Load),
    Text { len: u32 },
    Str,
}

/// A field of one event class, resolved by [`EventClass::field`]. Events of
/// another class answer `None` to it.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub(crate) class: u32,
    pub(crate) access: Access,
}

/// One event. Its fields are read on demand, from the mapped file.
pub struct Event<'r> {
    pub(crate) cursor: &'r Cursor<'r>,
}

impl<'r> Event<'r> {
    /// Nanoseconds since 1970 where the trace knows its clock's offset, else
    /// since the clock's zero.
    #[inline]
    pub fn time_ns(&self) -> i64 {
        self.cursor.time_ns
    }

    /// Ticks of the stream's clock.
    pub fn ticks(&self) -> u64 {
        self.cursor.ticks
    }

    /// Index of the event's class among all classes of the trace.
    #[inline]
    pub fn class_index(&self) -> u32 {
        self.cursor.class_index
    }

    pub fn class(&self) -> &'r EventClass {
        self.cursor.class()
    }

    pub fn name(&self) -> &'r str {
        &self.cursor.class().name
    }

    /// The CPU that the packet is of, if it says so.
    #[inline]
    pub fn cpu(&self) -> Option<u32> {
        self.cursor.packet.cpu
    }

    pub fn stream(&self) -> StreamInfo<'r> {
        self.cursor.info()
    }

    #[inline(always)]
    fn position(&self, field: &Field) -> Option<u64> {
        if field.class != self.cursor.class_index {
            return None;
        }
        let slot = self.cursor.slots.get(usize::from(field.access.slot))?;
        Some(slot.get() + field.access.offset)
    }

    /// An integer or enumeration, signed ones as their two's complement.
    #[inline]
    pub fn uint(&self, field: &Field) -> Option<u64> {
        let pos = self.position(field)?;
        match field.access.kind {
            AccessKind::Int(spec) => Some(spec.register(self.cursor.packet.data, pos)),
            _ => None,
        }
    }

    /// An integer or enumeration.
    #[inline]
    pub fn int(&self, field: &Field) -> Option<i64> {
        self.uint(field).map(|v| v as i64)
    }

    pub fn float(&self, field: &Field) -> Option<f64> {
        let pos = self.position(field)?;
        let AccessKind::Float(load) = field.access.kind else {
            return None;
        };
        match float_at(self.cursor.packet.data, pos, load) {
            Value::Float(f) => Some(f),
            _ => None,
        }
    }

    /// A string or an array of characters, up to its first NUL.
    #[inline]
    pub fn text(&self, field: &Field) -> Option<&'r [u8]> {
        let pos = self.position(field)?;
        let packet = &self.cursor.packet;
        match field.access.kind {
            AccessKind::Text { len } => text_at(packet.data, pos, len.into()),
            AccessKind::Str => string_at(packet.data, pos, packet.end).map(|(text, _)| text),
            _ => None,
        }
    }

    /// Every field of the event: stream context, event context, payload.
    #[inline]
    pub fn visit<V: Visitor>(&self, visitor: &mut V) {
        self.cursor.visit_event(visitor);
    }

    /// Every field of the packet's context.
    pub fn visit_packet_context<V: Visitor>(&self, visitor: &mut V) {
        self.cursor.visit_packet_context(visitor);
    }
}
