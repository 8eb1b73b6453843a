// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Event headers: the shapes that tracers write, read without the general
//! machinery, and their time stamps.

use crate::bits::{Load, align_up, array};
use crate::ir::{Class, Int, Metadata, Struct};
use crate::refs::shown;
use crate::visit::{FieldInfo, Value, Visitor};

/// A number inside a header.
#[derive(Debug, Clone, Copy)]
struct Part {
    offset: u64,
    size: u8,
    load: Load,
}

/// An id and a time stamp at fixed places: always, or unless the id is an
/// escape to a longer form.
#[derive(Debug)]
pub struct FastHeader {
    align: u64,
    id: Part,
    time: Part,
    bits: u64,
    /// Both lie in the first eight bytes, little-endian.
    word: Option<Word>,
    long: Option<LongForm>,
}

/// Shifts and masks of id and time in one little-endian word.
#[derive(Debug, Clone, Copy)]
struct Word {
    id: (u32, u64),
    time: (u32, u64),
}

#[derive(Debug)]
struct LongForm {
    /// Values of the first id that select it.
    low: u64,
    high: u64,
    id: Part,
    time: Part,
    bits: u64,
}

/// What a header says.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    pub id: u64,
    /// Low bits of the clock, and how many.
    pub time: u64,
    pub time_bits: u8,
    /// Where the header ends.
    pub end: u64,
}

impl FastHeader {
    /// `None`: another shape, to be read in general.
    pub fn recognise(header: &Class, meta: &Metadata) -> Option<FastHeader> {
        let Class::Struct(s) = header else {
            return None;
        };
        let [first, second] = s.fields.as_slice() else {
            return None;
        };
        let id_int = first.class.int().filter(|_| shown(&first.name) == "id")?;
        let id = part(0, id_int, meta);
        let after_id = u64::from(id_int.size);
        match &second.class {
            Class::Int(time) if time.clock.is_some() => {
                let time = part(align_up(after_id, time.align), time, meta);
                Some(FastHeader::new(s.align, id, time, None))
            }
            Class::Variant(v) => {
                let Class::Enum(labels) = &first.class else {
                    return None;
                };
                if v.tag != ["id"] && v.tag.last() != Some(&first.name) {
                    return None;
                }
                let [short, long] = v.options.as_slice() else {
                    return None;
                };
                let time = short_option(&short.class, s, after_id, meta)?;
                let escape = labels.mappings.iter().find(|m| m.label == long.name)?;
                let covered = labels.mappings.iter().find(|m| m.label == short.name)?;
                // Every other id must be the short form's.
                let all = covered.low == 0 && covered.high + 1 == escape.low;
                let last = (1i128 << id_int.size) - 1;
                if !all || escape.high != last || labels.mappings.len() != 2 || id_int.size > 32 {
                    return None;
                }
                let long = long_option(
                    &long.class,
                    s,
                    after_id,
                    meta,
                    escape.low as u64,
                    last as u64,
                )?;
                Some(FastHeader::new(s.align, id, time, Some(long)))
            }
            _ => None,
        }
    }

    fn new(align: u64, id: Part, time: Part, long: Option<LongForm>) -> FastHeader {
        let bits = time.offset + u64::from(time.size);
        let little = |p: &Part| {
            let one_byte = p.size == 8 && matches!(p.load, Load::U8);
            one_byte
                || matches!(
                    p.load,
                    Load::U16 | Load::U32 | Load::Bits { big: false, .. }
                )
        };
        let fits = align.is_multiple_of(8) && bits <= 64 && little(&id) && little(&time);
        let word = fits.then_some(Word {
            id: (id.offset as u32, mask(id.size)),
            time: (time.offset as u32, mask(time.size)),
        });
        FastHeader {
            align,
            id,
            time,
            bits,
            word,
            long,
        }
    }

    /// `None`: the packet ends within it.
    #[inline(always)]
    pub fn read(&self, data: &[u8], pos: u64, end: u64) -> Option<Head> {
        let base = align_up(pos, self.align);
        let after = base.checked_add(self.bits)?;
        if after > end {
            // The long form is longer.
            return None;
        }
        let bytes = array(data, (base / 8) as usize);
        let (id, time) = match (&self.word, bytes) {
            (Some(w), Some(bytes)) => {
                let word = u64::from_le_bytes(bytes);
                ((word >> w.id.0) & w.id.1, (word >> w.time.0) & w.time.1)
            }
            _ => (self.id.at(data, base)?, self.time.at(data, base)?),
        };
        match &self.long {
            Some(long) if id >= long.low && id <= long.high => long.read(data, base, end),
            _ => Some(Head {
                id,
                time,
                time_bits: self.time.size,
                end: after,
            }),
        }
    }
}

impl LongForm {
    fn read(&self, data: &[u8], base: u64, end: u64) -> Option<Head> {
        let after = base.checked_add(self.bits)?;
        if after > end {
            return None;
        }
        Some(Head {
            id: self.id.at(data, base)?,
            time: self.time.at(data, base)?,
            time_bits: self.time.size,
            end: after,
        })
    }
}

impl Part {
    fn at(&self, data: &[u8], base: u64) -> Option<u64> {
        self.load.at(data, base + self.offset)
    }
}

fn mask(size: u8) -> u64 {
    u64::MAX >> (64 - u32::from(size.clamp(1, 64)))
}

fn part(offset: u64, int: &Int, meta: &Metadata) -> Part {
    let big = match int.order {
        crate::ir::ByteOrder::Native => meta.big_endian,
        order => order == crate::ir::ByteOrder::Big,
    };
    Part {
        offset,
        size: int.size,
        load: Load::new(int.size, big, int.align.is_multiple_of(8)),
    }
}

/// Offsets are fixed only where an option needs no more alignment than the
/// header itself has.
fn option_start<'a>(class: &'a Class, header: &Struct, after_id: u64) -> Option<(u64, &'a Struct)> {
    let Class::Struct(s) = class else { return None };
    (s.align <= header.align)
        .then(|| align_up(after_id, s.align))
        .map(|at| (at, &**s))
}

fn short_option(class: &Class, header: &Struct, after_id: u64, meta: &Metadata) -> Option<Part> {
    let (start, s) = option_start(class, header, after_id)?;
    let [time] = s.fields.as_slice() else {
        return None;
    };
    let int = time.class.int().filter(|i| i.clock.is_some())?;
    Some(part(align_up(start, int.align), int, meta))
}

fn long_option(
    class: &Class,
    header: &Struct,
    after_id: u64,
    meta: &Metadata,
    low: u64,
    high: u64,
) -> Option<LongForm> {
    let (start, s) = option_start(class, header, after_id)?;
    let [id, time] = s.fields.as_slice() else {
        return None;
    };
    let id_int = id.class.int().filter(|_| shown(&id.name) == "id")?;
    let time_int = time.class.int().filter(|i| i.clock.is_some())?;
    let id = part(align_up(start, id_int.align), id_int, meta);
    let time = part(
        align_up(id.offset + u64::from(id.size), time_int.align),
        time_int,
        meta,
    );
    Some(LongForm {
        low,
        high,
        id,
        time,
        bits: time.offset + u64::from(time.size),
    })
}

/// The clock after a time stamp of its low `bits`: the next moment that has
/// them, so that a counter that wrapped goes on.
#[inline(always)]
pub fn extend(now: u64, low: u64, bits: u8) -> u64 {
    if bits >= 64 {
        return low;
    }
    let range = 1u64 << bits;
    let new = now & !(range - 1) | low;
    if new < now {
        new.wrapping_add(range)
    } else {
        new
    }
}

/// Takes from a header of any shape the last `id` and the last time stamp.
#[derive(Default)]
pub struct HeaderFields {
    pub id: u64,
    pub time: u64,
    pub time_bits: u8,
}

impl Visitor for HeaderFields {
    fn value(&mut self, field: &FieldInfo, value: Value<'_>) {
        let number = match value {
            Value::Uint(n) => n,
            Value::Int(n) => n as u64,
            _ => return,
        };
        if field.clock {
            (self.time, self.time_bits) = (number, field.size);
        } else if &*field.name == "id" {
            self.id = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_wrap() {
        assert_eq!(extend(0, 5, 27), 5);
        assert_eq!(extend(0x7ff_ffff, 0, 27), 0x800_0000);
        assert_eq!(extend(0x0a00_0005, 4, 27), 0x1000_0004);
        assert_eq!(extend(77, 3, 64), 3);
        assert_eq!(extend(u64::MAX, 0, 8), 0);
    }
}
