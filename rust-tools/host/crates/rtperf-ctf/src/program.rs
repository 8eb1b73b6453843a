// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! A layout as a flat list of operations, compiled once per event class.
//!
//! Neighbouring fields whose offsets are known form one block: one alignment,
//! one bounds check. Most event classes are a single block. The same list
//! skips an event (marking where its fields are) and visits every field.

use crate::bits::{Load, sign_extend};
use crate::visit::{FieldInfo, Value};
use std::cell::Cell;
use std::ops::Range;

pub const NO_SLOT: u16 = u16::MAX;

#[derive(Debug, Clone, Copy)]
pub struct IntSpec {
    pub load: Load,
    pub size: u8,
    pub signed: bool,
}

impl IntSpec {
    #[inline(always)]
    pub fn value(self, data: &[u8], pos: u64) -> Value<'static> {
        let raw = self.load.at(data, pos).unwrap_or(0);
        if self.signed {
            Value::Int(sign_extend(raw, self.size))
        } else {
            Value::Uint(raw)
        }
    }

    /// The value as a register holds it: sign-extended.
    #[inline(always)]
    pub fn register(self, data: &[u8], pos: u64) -> u64 {
        let raw = self.load.at(data, pos).unwrap_or(0);
        if self.signed {
            sign_extend(raw, self.size) as u64
        } else {
            raw
        }
    }
}

/// The common integers have a kind of their own: one jump per field.
#[derive(Debug, Clone, Copy)]
pub enum LeafKind {
    U8,
    U16,
    U32,
    U64,
    I32,
    I64,
    Int(IntSpec),
    Float(Load),
    /// Characters of a fixed-size array.
    Text {
        len: u32,
    },
    /// Index into [`Program::arrays`].
    Ints(u32),
    Enter,
    Leave,
}

impl LeafKind {
    pub fn int(spec: IntSpec) -> LeafKind {
        match (spec.load, spec.signed) {
            (Load::U8, false) => LeafKind::U8,
            (Load::U16, false) => LeafKind::U16,
            (Load::U32, false) => LeafKind::U32,
            (Load::U64, false) => LeafKind::U64,
            (Load::U32, true) => LeafKind::I32,
            (Load::U64, true) => LeafKind::I64,
            _ => LeafKind::Int(spec),
        }
    }
}

/// A field at a fixed offset from its block's start.
#[derive(Debug, Clone, Copy)]
pub struct Leaf {
    /// Index of its [`FieldInfo`].
    pub field: u32,
    /// In bits.
    pub offset: u32,
    pub kind: LeafKind,
}

/// A fixed-size array of integers.
#[derive(Debug, Clone, Copy)]
pub struct ArraySpec {
    pub spec: IntSpec,
    pub len: u64,
    pub stride: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct Save {
    pub offset: u64,
    pub spec: IntSpec,
    pub register: u16,
}

#[derive(Debug, Clone)]
pub struct Block {
    pub align: u64,
    pub bits: u64,
    pub slot: u16,
    pub leaves: Range<u32>,
    pub values: Range<u32>,
    /// Fields that lengths or tags refer to.
    pub saves: Range<u32>,
}

#[derive(Debug, Clone)]
pub enum Op {
    Block(Block),
    Str {
        field: u32,
        slot: u16,
    },
    /// Integers, as many as a register says; text if they are characters.
    Ints {
        field: u32,
        slot: u16,
        register: u16,
        spec: IntSpec,
        align: u64,
        stride: u64,
        text: bool,
    },
    /// Any other array: `body` operations follow.
    Loop {
        field: u32,
        slot: u16,
        len: LoopLen,
        align: u64,
        body: u32,
    },
    /// A variant: one of the ranges of operations that follow.
    Switch {
        field: u32,
        slot: u16,
        register: u16,
        signed: bool,
        cases: Vec<Case>,
        body: u32,
    },
}

#[derive(Debug, Clone, Copy)]
pub enum LoopLen {
    Fixed(u64),
    Register(u16),
}

#[derive(Debug, Clone)]
pub struct Case {
    pub low: i128,
    pub high: i128,
    /// Relative to the operation after the switch.
    pub ops: Range<u32>,
}

#[derive(Debug, Default)]
pub struct Program {
    pub ops: Vec<Op>,
    pub leaves: Vec<Leaf>,
    /// The leaves without [`LeafKind::Enter`] and [`LeafKind::Leave`].
    pub values: Vec<Leaf>,
    pub arrays: Vec<ArraySpec>,
    pub saves: Vec<Save>,
    pub slots: u16,
    /// How many operations there are before those that only end structures.
    pub essential: usize,
}

/// Why an event could not be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// A field reaches past the packet's content.
    PastEnd,
    /// A variant's tag selects none of its options.
    NoOption(i128),
}

/// What a program runs on.
pub struct Frame<'a> {
    /// The packet.
    pub data: &'a [u8],
    /// End of its content in bits, never beyond `data`.
    pub end: u64,
    pub registers: &'a [Cell<u64>],
    pub slots: &'a [Cell<u64>],
    pub fields: &'a [FieldInfo],
}

impl Program {
    /// The only block of a program without references.
    pub fn single_block(&self) -> Option<Block> {
        match self.ops.as_slice() {
            [Op::Block(b)] if b.saves.is_empty() && b.slot == 0 => Some(b.clone()),
            _ => None,
        }
    }
}

/// Size of an array: no padding follows its last element.
pub fn array_bits(len: u64, stride: u64, size: u8) -> u64 {
    match len.checked_sub(1) {
        Some(before) => before.saturating_mul(stride).saturating_add(size.into()),
        None => 0,
    }
}
