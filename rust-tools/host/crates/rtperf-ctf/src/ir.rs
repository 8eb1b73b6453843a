// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What metadata says, independent of its language: a second front end (CTF 2)
//! produces the same. Types are shared trees of bounded depth; positions are
//! not known yet.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Nesting of one type; deeper metadata is refused, so that recursion over a
/// type is bounded.
pub const MAX_DEPTH: u32 = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// As the trace declares.
    Native,
    Little,
    Big,
}

#[derive(Debug, Clone)]
pub enum Class {
    Int(Int),
    Enum(Arc<Enum>),
    Float(Float),
    Str,
    Struct(Arc<Struct>),
    Array(Arc<Array>),
    Variant(Arc<Variant>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Int {
    /// 1 to 64 bits.
    pub size: u8,
    /// In bits, a power of two.
    pub align: u64,
    pub signed: bool,
    pub order: ByteOrder,
    /// How people want it printed: 2, 8, 10 or 16.
    pub base: u8,
    /// A character: arrays of it are text.
    pub text: bool,
    /// Index into [`Metadata::clock_names`].
    pub clock: Option<u16>,
}

#[derive(Debug)]
pub struct Enum {
    pub int: Int,
    pub mappings: Vec<Mapping>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    pub label: String,
    pub low: i128,
    pub high: i128,
}

#[derive(Debug, Clone, Copy)]
pub struct Float {
    /// 32 or 64 bits.
    pub size: u8,
    pub align: u64,
    pub order: ByteOrder,
}

#[derive(Debug)]
pub struct Struct {
    pub fields: Vec<Member>,
    /// The largest alignment of its members and of its own declaration.
    pub align: u64,
    pub depth: u32,
}

#[derive(Debug, Clone)]
pub struct Member {
    pub name: String,
    pub class: Class,
}

#[derive(Debug)]
pub struct Array {
    pub len: Len,
    pub element: Class,
    pub depth: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Len {
    Fixed(u64),
    /// The value of an earlier integer field.
    Field(Vec<String>),
}

#[derive(Debug)]
pub struct Variant {
    /// The enumeration field that selects; empty while it is not known.
    pub tag: Vec<String>,
    pub options: Vec<Member>,
    pub depth: u32,
}

impl Class {
    /// Alignment in bits. A variant has none of its own: its option does.
    pub fn align(&self) -> u64 {
        match self {
            Class::Int(i) => i.align,
            Class::Enum(e) => e.int.align,
            Class::Float(f) => f.align,
            Class::Str => 8,
            Class::Struct(s) => s.align,
            Class::Array(a) => a.element.align(),
            Class::Variant(_) => 1,
        }
    }

    pub fn depth(&self) -> u32 {
        match self {
            Class::Struct(s) => s.depth,
            Class::Array(a) => a.depth,
            Class::Variant(v) => v.depth,
            _ => 0,
        }
    }

    /// The integer below, for tags and lengths.
    pub fn int(&self) -> Option<&Int> {
        match self {
            Class::Int(i) => Some(i),
            Class::Enum(e) => Some(&e.int),
            _ => None,
        }
    }
}

impl Struct {
    /// `None` if it would be nested too deeply.
    pub fn new(fields: Vec<Member>, declared_align: u64) -> Option<Struct> {
        let align = fields.iter().map(|m| m.class.align()).max().unwrap_or(1);
        let depth = nested(fields.iter().map(|m| &m.class))?;
        Some(Struct {
            align: align.max(declared_align),
            fields,
            depth,
        })
    }
}

/// Depth of something around `classes`.
pub fn nested<'a>(classes: impl Iterator<Item = &'a Class>) -> Option<u32> {
    let depth = 1 + classes.map(Class::depth).max().unwrap_or(0);
    (depth <= MAX_DEPTH).then_some(depth)
}

/// A value of the environment block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvValue {
    Text(String),
    Int(i128),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clock {
    pub name: String,
    pub uuid: Option<String>,
    /// Ticks per second, never 0.
    pub frequency: u64,
    pub offset_seconds: i64,
    pub offset_ticks: i64,
}

#[derive(Debug, Default)]
pub struct StreamDecl {
    pub id: u64,
    pub packet_context: Option<Class>,
    pub event_header: Option<Class>,
    pub event_context: Option<Class>,
}

#[derive(Debug)]
pub struct EventDecl {
    pub id: u64,
    pub stream_id: u64,
    pub name: String,
    pub context: Option<Class>,
    pub fields: Option<Class>,
    /// Line of the metadata, for diagnostics.
    pub line: u32,
}

#[derive(Debug, Default)]
pub struct Metadata {
    pub big_endian: bool,
    pub uuid: Option<[u8; 16]>,
    pub env: BTreeMap<String, EnvValue>,
    pub clocks: Vec<Clock>,
    /// Names that integers map to, whether declared or not.
    pub clock_names: Vec<String>,
    pub packet_header: Option<Class>,
    pub streams: Vec<StreamDecl>,
    pub events: Vec<EventDecl>,
}
