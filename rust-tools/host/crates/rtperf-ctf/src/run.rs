// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs programs over events.

use crate::bits::{Load, align_up};
use crate::program::{
    ArraySpec, Block, Frame, Leaf, LeafKind, LoopLen, Op, Program, Stop, array_bits,
};
use crate::visit::{IntArray, Value, Visitor};
use std::cell::Cell;
use std::ops::Range;

impl Program {
    /// Runs over one event from bit `pos`; returns where it ends.
    pub fn run<V: Visitor>(&self, frame: &Frame, pos: u64, visitor: &mut V) -> Result<u64, Stop> {
        let mut pos = pos;
        let count = match V::ACTIVE && V::COMPOUNDS {
            true => self.ops.len(),
            false => self.essential,
        };
        let mut at = 0;
        while at < count {
            (pos, at) = self.step(at, frame, pos, visitor)?;
        }
        Ok(pos)
    }

    fn range<V: Visitor>(
        &self,
        ops: Range<usize>,
        frame: &Frame,
        mut pos: u64,
        visitor: &mut V,
    ) -> Result<u64, Stop> {
        let mut at = ops.start;
        while at < ops.end {
            (pos, at) = self.step(at, frame, pos, visitor)?;
        }
        Ok(pos)
    }

    /// One operation; returns where it ends and which one follows.
    #[inline(always)]
    fn step<V: Visitor>(
        &self,
        at: usize,
        frame: &Frame,
        pos: u64,
        visitor: &mut V,
    ) -> Result<(u64, usize), Stop> {
        let next = at + 1;
        Ok(match &self.ops[at] {
            Op::Block(block) => (self.block(block, frame, pos, visitor)?, next),
            Op::Str { field, slot } => (string(*field, *slot, frame, pos, visitor)?, next),
            op @ Op::Ints { .. } => (ints(op, frame, pos, visitor)?, next),
            op @ Op::Loop { body, .. } => {
                let after = next + *body as usize;
                (self.repeat(op, next..after, frame, pos, visitor)?, after)
            }
            op @ Op::Switch { body, .. } => {
                let after = next + *body as usize;
                (self.switch(op, next, frame, pos, visitor)?, after)
            }
        })
    }

    #[inline(always)]
    fn block<V: Visitor>(
        &self,
        block: &Block,
        frame: &Frame,
        pos: u64,
        visitor: &mut V,
    ) -> Result<u64, Stop> {
        let base = align_up(pos, block.align);
        let end = base.saturating_add(block.bits);
        if end > frame.end {
            return Err(Stop::PastEnd);
        }
        set_slot(frame, block.slot, base);
        for save in &self.saves[block.saves.start as usize..block.saves.end as usize] {
            let value = save.spec.register(frame.data, base + save.offset);
            if let Some(register) = frame.registers.get(usize::from(save.register)) {
                register.set(value);
            }
        }
        if V::ACTIVE {
            self.visit_block(block, frame, base, visitor);
        }
        Ok(end)
    }

    /// Visits the fields of a block that is known to lie in the packet.
    #[inline(always)]
    pub fn visit_block<V: Visitor>(
        &self,
        block: &Block,
        frame: &Frame,
        base: u64,
        visitor: &mut V,
    ) {
        let (list, range) = match V::COMPOUNDS {
            true => (&self.leaves, &block.leaves),
            false => (&self.values, &block.values),
        };
        for leaf in &list[range.start as usize..range.end as usize] {
            leaf.visit(self, frame, base, visitor);
        }
    }

    fn repeat<V: Visitor>(
        &self,
        op: &Op,
        body: Range<usize>,
        frame: &Frame,
        pos: u64,
        visitor: &mut V,
    ) -> Result<u64, Stop> {
        let Op::Loop {
            field,
            slot,
            len,
            align,
            ..
        } = op
        else {
            return Ok(pos);
        };
        let mut pos = align_up(pos, *align);
        if pos > frame.end {
            return Err(Stop::PastEnd);
        }
        set_slot(frame, *slot, pos);
        if V::ACTIVE {
            visitor.enter(&frame.fields[*field as usize]);
        }
        let count = match len {
            LoopLen::Fixed(n) => *n,
            LoopLen::Register(r) => register(frame, *r),
        };
        for _ in 0..count {
            let end = self.range(body.clone(), frame, pos, visitor)?;
            // An element without bits repeats itself: a hostile count must
            // not keep us here.
            if end == pos {
                break;
            }
            pos = end;
        }
        if V::ACTIVE {
            visitor.leave();
        }
        Ok(pos)
    }

    fn switch<V: Visitor>(
        &self,
        op: &Op,
        first: usize,
        frame: &Frame,
        pos: u64,
        visitor: &mut V,
    ) -> Result<u64, Stop> {
        let Op::Switch {
            field,
            slot,
            register: r,
            signed,
            cases,
            ..
        } = op
        else {
            return Ok(pos);
        };
        let raw = register(frame, *r);
        let tag = if *signed {
            i128::from(raw as i64)
        } else {
            i128::from(raw)
        };
        let case = cases.iter().find(|c| (c.low..=c.high).contains(&tag));
        let case = case.ok_or(Stop::NoOption(tag))?;
        set_slot(frame, *slot, pos);
        if V::ACTIVE {
            visitor.enter(&frame.fields[*field as usize]);
        }
        let ops = first + case.ops.start as usize..first + case.ops.end as usize;
        let end = self.range(ops, frame, pos, visitor)?;
        if V::ACTIVE {
            visitor.leave();
        }
        Ok(end)
    }
}

#[inline(always)]
fn set_slot(frame: &Frame, slot: u16, pos: u64) {
    if let Some(slot) = frame.slots.get(usize::from(slot)) {
        slot.set(pos);
    }
}

#[inline(always)]
fn register(frame: &Frame, register: u16) -> u64 {
    frame
        .registers
        .get(usize::from(register))
        .map_or(0, Cell::get)
}

/// The characters from bit `pos` and the bit after their final NUL.
#[inline(always)]
pub fn string_at(data: &[u8], pos: u64, end: u64) -> Option<(&[u8], u64)> {
    let start = usize::try_from(pos / 8).ok()?;
    let bytes = data.get(start..(end / 8) as usize)?;
    // Most strings are short.
    let len = match bytes.first_chunk().map(|chunk| first_zero(*chunk)) {
        Some(len @ 0..16) => len,
        _ => memchr::memchr(0, bytes)?,
    };
    Some((&bytes[..len], (start + len + 1) as u64 * 8))
}

/// Text of a character array: up to its first NUL.
#[inline(always)]
pub fn text_at(data: &[u8], pos: u64, len: u64) -> Option<&[u8]> {
    let start = usize::try_from(pos / 8).ok()?;
    let len = usize::try_from(len).ok()?;
    let bytes = data.get(start..start.checked_add(len)?)?;
    // The names of threads, 16 bytes, are most of all text.
    let end = match bytes.first_chunk::<16>() {
        Some(chunk) if len == 16 => first_zero(*chunk),
        _ => memchr::memchr(0, bytes).unwrap_or(len),
    };
    Some(&bytes[..end])
}

/// Index of the first zero byte, 16 if there is none: all bytes at once.
#[inline(always)]
fn first_zero(bytes: [u8; 16]) -> usize {
    let word = u128::from_le_bytes(bytes);
    const ONES: u128 = u128::MAX / 255;
    // The lowest set bit is in the first zero byte; higher ones may be wrong.
    let zeros = word.wrapping_sub(ONES) & !word & (ONES << 7);
    (zeros.trailing_zeros() / 8) as usize
}

#[inline(always)]
fn string<V: Visitor>(
    field: u32,
    slot: u16,
    frame: &Frame,
    pos: u64,
    visitor: &mut V,
) -> Result<u64, Stop> {
    let pos = align_up(pos, 8);
    let (text, end) = string_at(frame.data, pos, frame.end).ok_or(Stop::PastEnd)?;
    set_slot(frame, slot, pos);
    if V::ACTIVE {
        visitor.value(&frame.fields[field as usize], Value::Text(text));
    }
    Ok(end)
}

fn ints<V: Visitor>(op: &Op, frame: &Frame, pos: u64, visitor: &mut V) -> Result<u64, Stop> {
    let Op::Ints {
        field,
        slot,
        register: r,
        spec,
        align,
        stride,
        text,
    } = op
    else {
        return Ok(pos);
    };
    let pos = align_up(pos, *align);
    let len = register(frame, *r);
    let bits = array_bits(len, *stride, spec.size);
    let end = pos.saturating_add(bits);
    if end > frame.end {
        return Err(Stop::PastEnd);
    }
    set_slot(frame, *slot, pos);
    if V::ACTIVE {
        let value = if *text {
            Value::Text(text_at(frame.data, pos, len).unwrap_or_default())
        } else {
            Value::Ints(IntArray {
                data: frame.data,
                pos,
                len,
                stride: *stride,
                spec: *spec,
            })
        };
        visitor.value(&frame.fields[*field as usize], value);
    }
    Ok(end)
}

impl Leaf {
    #[inline(always)]
    fn visit<V: Visitor>(&self, program: &Program, frame: &Frame, base: u64, visitor: &mut V) {
        let info = &frame.fields[self.field as usize];
        let pos = base + u64::from(self.offset);
        let data = frame.data;
        let raw = |load: Load| load.at(data, pos).unwrap_or(0);
        let value = match self.kind {
            LeafKind::U8 => Value::Uint(raw(Load::U8)),
            LeafKind::U16 => Value::Uint(raw(Load::U16)),
            LeafKind::U32 => Value::Uint(raw(Load::U32)),
            LeafKind::U64 => Value::Uint(raw(Load::U64)),
            LeafKind::I32 => Value::Int(i64::from(raw(Load::U32) as i32)),
            LeafKind::I64 => Value::Int(raw(Load::U64) as i64),
            LeafKind::Int(spec) => spec.value(data, pos),
            LeafKind::Float(load) => float_at(data, pos, load),
            LeafKind::Text { len } => {
                Value::Text(text_at(data, pos, len.into()).unwrap_or_default())
            }
            LeafKind::Ints(i) => {
                let ArraySpec { spec, len, stride } = program.arrays[i as usize];
                Value::Ints(IntArray {
                    data,
                    pos,
                    len,
                    stride,
                    spec,
                })
            }
            LeafKind::Enter => return visitor.enter(info),
            LeafKind::Leave => return visitor.leave(),
        };
        visitor.value(info, value);
    }
}

pub fn float_at(data: &[u8], pos: u64, load: Load) -> Value<'static> {
    let raw = load.at(data, pos).unwrap_or(0);
    let single = matches!(load, Load::U32 | Load::U32Big | Load::Bits { size: 32, .. });
    Value::Float(if single {
        f32::from_bits(raw as u32).into()
    } else {
        f64::from_bits(raw)
    })
}
