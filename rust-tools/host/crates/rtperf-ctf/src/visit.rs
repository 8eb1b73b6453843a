// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Every field of an event in order.

use crate::ir::Enum;
use crate::program::IntSpec;
use std::sync::Arc;

/// What a compound field is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Fields of the packet around the event.
    PacketContext,
    /// Fields that every event of the stream has.
    StreamContext,
    /// Fields that every event of the class has besides its own.
    EventContext,
    /// The event's own fields.
    Payload,
    Header,
    Struct,
    Array,
    Variant,
    /// No compound.
    Scalar,
}

/// What is known of a field without its value.
#[derive(Debug, Clone)]
pub struct FieldInfo {
    /// As people know it: without the underscore that LTTng puts before. Empty
    /// for an array's elements.
    pub name: Arc<str>,
    pub kind: Kind,
    /// 2, 8, 10 or 16: how people want its numbers printed.
    pub base: u8,
    /// Bits of its number.
    pub size: u8,
    /// Its value is a time stamp.
    pub clock: bool,
    /// Names of values.
    pub labels: Option<Arc<Enum>>,
}

impl FieldInfo {
    /// The names of a value.
    pub fn labels_of(&self, value: i128) -> impl Iterator<Item = &str> {
        let mappings = self.labels.iter().flat_map(|e| &e.mappings);
        mappings
            .filter(move |m| (m.low..=m.high).contains(&value))
            .map(|m| m.label.as_str())
    }
}

/// A field's value. Text is what the trace holds, perhaps not UTF-8.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    Uint(u64),
    Int(i64),
    Float(f64),
    Text(&'a [u8]),
    Ints(IntArray<'a>),
}

/// An array of integers in the packet.
#[derive(Debug, Clone, Copy)]
pub struct IntArray<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) pos: u64,
    pub(crate) len: u64,
    pub(crate) stride: u64,
    pub(crate) spec: IntSpec,
}

impl<'a> IntArray<'a> {
    pub fn len(&self) -> u64 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// [`Value::Uint`] or [`Value::Int`], one by one.
    pub fn iter(&self) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let array = *self;
        (0..self.len).map(move |i| array.spec.value(array.data, array.pos + i * array.stride))
    }
}

/// Takes the fields of an event in order.
pub trait Visitor {
    /// False for a visitor that wants nothing: its calls are compiled out.
    const ACTIVE: bool = true;
    /// False if structs, arrays and variants themselves do not matter.
    const COMPOUNDS: bool = true;

    fn value(&mut self, field: &FieldInfo, value: Value<'_>);

    /// A struct, array or variant begins; its members follow.
    fn enter(&mut self, _field: &FieldInfo) {}

    fn leave(&mut self) {}
}

/// Skips.
pub struct Nothing;

impl Visitor for Nothing {
    const ACTIVE: bool = false;

    fn value(&mut self, _: &FieldInfo, _: Value<'_>) {}
}
