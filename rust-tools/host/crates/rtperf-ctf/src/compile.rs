// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! From types to programs: offsets, and which earlier field a length or tag
//! refers to.

use crate::bits::{Load, align_up};
use crate::builder::{Builder, OpenBlock};
use crate::event::{Access, AccessKind};
use crate::ir::{Array, ByteOrder, Class, Enum, Float, Int, Len, Struct, Variant};
use crate::program::{ArraySpec, Block, IntSpec, Leaf, LeafKind, LoopLen, NO_SLOT, Op, array_bits};
use crate::refs::{IntRef, Seen, cases, shown};
use crate::visit::{FieldInfo, Kind};
use std::sync::Arc;

/// Fields of one event class; more is hostile (types that double at each
/// nesting).
const MAX_LEAVES: usize = 1 << 16;
/// Fields of all event classes together.
pub const MAX_FIELDS: usize = 1 << 20;
/// Size of one block in bits: 128 MiB.
const MAX_BITS: u64 = 1 << 30;

/// Compiles the scopes of one stream class in the order in which they stand
/// in a packet.
pub struct Compiler<'m> {
    pub builders: Vec<Builder>,
    pub fields: Vec<FieldInfo>,
    pub registers: u16,
    /// How many fields the trace may still have.
    pub budget: usize,
    /// Finished scopes, outermost first: their dotted names.
    pub roots: Vec<(&'static str, Seen)>,
    /// Structs around, innermost last, with the fields seen of each.
    pub frames: Vec<Vec<(String, Seen)>>,
    /// Not 0 inside an array or variant: there, positions have no slot.
    dynamic: u32,
    big_endian: bool,
    /// Name of the scope in work.
    pub current: &'static str,
    /// Names of the structs around, for access by name.
    path: Vec<&'m str>,
}

pub type Compiled<T> = Result<T, String>;

impl<'m> Compiler<'m> {
    pub fn new(big_endian: bool, budget: usize) -> Compiler<'m> {
        Compiler {
            builders: vec![],
            fields: vec![],
            registers: 0,
            budget,
            roots: vec![],
            frames: vec![],
            dynamic: 0,
            big_endian,
            current: "",
            path: vec![],
        }
    }

    /// Adds a scope to the last builder.
    pub fn scope(&mut self, root: &'static str, kind: Kind, class: &'m Class) -> Compiled<()> {
        let Class::Struct(s) = class else {
            return Err(format!("{root} is no struct"));
        };
        self.frames.clear();
        self.path.clear();
        self.dynamic = 0;
        self.current = root;
        let seen = self.structure(s, root, kind)?;
        self.roots.push((root, seen));
        Ok(())
    }

    fn builder(&mut self) -> &mut Builder {
        if self.builders.is_empty() {
            self.builders.push(Builder::default());
        }
        let last = self.builders.len() - 1;
        &mut self.builders[last]
    }

    fn field(
        &mut self,
        name: &str,
        kind: Kind,
        int: Option<&Int>,
        labels: Option<Arc<Enum>>,
    ) -> Compiled<u32> {
        let own = self.builder().leaves.len() + self.builder().ops.len();
        if own > MAX_LEAVES || self.fields.len() > self.budget {
            return Err(format!(
                "more than {MAX_LEAVES} fields, or {MAX_FIELDS} in the trace"
            ));
        }
        self.fields.push(FieldInfo {
            name: shown(name).into(),
            kind,
            base: int.map_or(10, |i| i.base),
            size: int.map_or(0, |i| i.size),
            clock: int.is_some_and(|i| i.clock.is_some()),
            labels,
        });
        Ok(self.fields.len() as u32 - 1)
    }

    fn order_is_big(&self, order: ByteOrder) -> bool {
        match order {
            ByteOrder::Native => self.big_endian,
            ByteOrder::Little => false,
            ByteOrder::Big => true,
        }
    }

    fn class(&mut self, name: &'m str, class: &'m Class) -> Compiled<Seen> {
        match class {
            Class::Int(int) => self.int(name, int, None),
            Class::Enum(e) => self.int(name, &e.int, Some(e.clone())),
            Class::Float(float) => self.float(name, float),
            Class::Str => self.string(name),
            Class::Struct(s) => self.structure(s, name, Kind::Struct),
            Class::Array(a) => self.array(name, a),
            Class::Variant(v) => self.variant(name, v),
        }
    }

    fn structure(&mut self, s: &'m Struct, name: &'m str, kind: Kind) -> Compiled<Seen> {
        let field = self.field(name, kind, None, None)?;
        self.place(field, s.align, 0, LeafKind::Enter)?;
        self.frames.push(vec![]);
        if kind == Kind::Struct {
            self.path.push(name);
        }
        for member in &s.fields {
            let seen = self.class(&member.name, &member.class)?;
            if let Some(frame) = self.frames.last_mut() {
                frame.push((member.name.clone(), seen));
            }
        }
        if kind == Kind::Struct {
            self.path.pop();
        }
        self.place(field, 1, 0, LeafKind::Leave)?;
        Ok(Seen::Struct(self.frames.pop().unwrap_or_default()))
    }

    fn spec(&self, int: &Int) -> IntSpec {
        let aligned = int.align.is_multiple_of(8);
        let big = self.order_is_big(int.order);
        IntSpec {
            load: Load::new(int.size, big, aligned),
            size: int.size,
            signed: int.signed,
        }
    }

    fn int(&mut self, name: &str, int: &Int, labels: Option<Arc<Enum>>) -> Compiled<Seen> {
        let spec = self.spec(int);
        let field = self.field(name, Kind::Scalar, Some(int), labels.clone())?;
        self.place(field, int.align, int.size.into(), LeafKind::int(spec))?;
        self.grant(name, AccessKind::Int(spec));
        let builder = self.builders.len() - 1;
        let leaf = self.builder().leaves.len() - 1;
        Ok(Seen::Int(IntRef {
            builder,
            leaf,
            spec,
            labels,
        }))
    }

    fn float(&mut self, name: &str, float: &Float) -> Compiled<Seen> {
        let load = Load::new(
            float.size,
            self.order_is_big(float.order),
            float.align.is_multiple_of(8),
        );
        let field = self.field(name, Kind::Scalar, None, None)?;
        self.place(field, float.align, float.size.into(), LeafKind::Float(load))?;
        self.grant(name, AccessKind::Float(load));
        Ok(Seen::Other)
    }

    fn string(&mut self, name: &str) -> Compiled<Seen> {
        let field = self.field(name, Kind::Scalar, None, None)?;
        let slot = self.slot();
        self.push(Op::Str { field, slot });
        self.grant_slot(name, slot, AccessKind::Str);
        Ok(Seen::Other)
    }

    fn array(&mut self, name: &'m str, array: &'m Array) -> Compiled<Seen> {
        let Class::Int(int) = &array.element else {
            return self.repeat(name, array);
        };
        let spec = self.spec(int);
        let stride = align_up(int.size.into(), int.align);
        let text = int.text && int.size == 8 && int.align.is_multiple_of(8);
        let field = self.field(name, Kind::Array, Some(int), None)?;
        match &array.len {
            Len::Fixed(len) => {
                let bits = array_bits(*len, stride, int.size);
                let kind = match u32::try_from(*len) {
                    Ok(len) if text => LeafKind::Text { len },
                    _ => {
                        let arrays = &mut self.builder().arrays;
                        arrays.push(ArraySpec {
                            spec,
                            len: *len,
                            stride,
                        });
                        LeafKind::Ints(arrays.len() as u32 - 1)
                    }
                };
                self.place(field, int.align, bits, kind)?;
                if let LeafKind::Text { len } = kind {
                    self.grant(name, AccessKind::Text { len });
                }
            }
            Len::Field(path) => {
                let (register, _) = self.refer(path)?;
                let slot = self.slot();
                self.push(Op::Ints {
                    field,
                    slot,
                    register,
                    spec,
                    align: int.align,
                    stride,
                    text,
                });
            }
        }
        Ok(Seen::Other)
    }

    fn repeat(&mut self, name: &'m str, array: &'m Array) -> Compiled<Seen> {
        let field = self.field(name, Kind::Array, None, None)?;
        let len = match &array.len {
            Len::Fixed(n) => LoopLen::Fixed(*n),
            Len::Field(path) => LoopLen::Register(self.refer(path)?.0),
        };
        let slot = self.slot();
        let at = self.push(Op::Loop {
            field,
            slot,
            len,
            align: array.element.align(),
            body: 0,
        });
        self.dynamic += 1;
        self.class("", &array.element)?;
        self.dynamic -= 1;
        self.builder().close();
        let end = self.builder().ops.len();
        if let Op::Loop { body, .. } = &mut self.builder().ops[at] {
            *body = (end - at - 1) as u32;
        }
        Ok(Seen::Other)
    }

    fn variant(&mut self, name: &'m str, variant: &'m Variant) -> Compiled<Seen> {
        let (register, int) = self.refer(&variant.tag)?;
        let Some(labels) = int.labels.clone() else {
            return Err(format!(
                "tag '{}' of '{name}' is no enum",
                variant.tag.join(".")
            ));
        };
        let field = self.field(name, Kind::Variant, None, None)?;
        let slot = self.slot();
        let signed = int.spec.signed;
        let at = self.push(Op::Switch {
            field,
            slot,
            register,
            signed,
            cases: vec![],
            body: 0,
        });
        self.dynamic += 1;
        let mut bodies = vec![];
        for option in &variant.options {
            let start = self.builder().ops.len();
            self.class(&option.name, &option.class)?;
            self.builder().close();
            let end = self.builder().ops.len();
            bodies.push((start - at - 1) as u32..(end - at - 1) as u32);
        }
        self.dynamic -= 1;
        let end = self.builder().ops.len();
        let found = cases(&labels, &variant.options, &bodies);
        if let Op::Switch { cases, body, .. } = &mut self.builder().ops[at] {
            *cases = found;
            *body = (end - at - 1) as u32;
        }
        Ok(Seen::Other)
    }

    fn slot(&mut self) -> u16 {
        if self.dynamic > 0 {
            return NO_SLOT;
        }
        self.builder().new_slot()
    }

    /// Puts a field of fixed size into the open block, or opens one.
    fn place(&mut self, field: u32, align: u64, bits: u64, kind: LeafKind) -> Compiled<()> {
        let dynamic = self.dynamic > 0;
        let builder = self.builder();
        if builder.open.as_ref().is_none_or(|o| o.block.align < align) {
            builder.close();
            let slot = if dynamic { NO_SLOT } else { builder.new_slot() };
            let first = builder.leaves.len() as u32;
            builder.open = Some(OpenBlock {
                block: Block {
                    align,
                    bits: 0,
                    slot,
                    leaves: first..first,
                    values: 0..0,
                    saves: 0..0,
                },
            });
        }
        if let Some(open) = &mut builder.open {
            let offset = align_up(open.block.bits, align);
            open.block.bits = offset.saturating_add(bits);
            open.block.leaves.end += 1;
            if open.block.bits > MAX_BITS {
                return Err("a field of more than 128 MiB".into());
            }
            builder.leaves.push(Leaf {
                field,
                offset: offset as u32,
                kind,
            });
            builder.registers.push(None);
        }
        Ok(())
    }

    fn push(&mut self, op: Op) -> usize {
        self.builder().close();
        self.builder().ops.push(op);
        self.builder().ops.len() - 1
    }

    /// Access by name to the leaf just placed.
    fn grant(&mut self, name: &str, kind: AccessKind) {
        let builder = self.builder();
        let Some(open) = &builder.open else { return };
        let offset = builder.leaves.last().map_or(0, |l| l.offset.into());
        let slot = open.block.slot;
        self.grant_at(name, slot, offset, kind);
    }

    fn grant_slot(&mut self, name: &str, slot: u16, kind: AccessKind) {
        self.grant_at(name, slot, 0, kind);
    }

    fn grant_at(&mut self, name: &str, slot: u16, offset: u64, kind: AccessKind) {
        if slot == NO_SLOT {
            return;
        }
        let mut full = self.current.to_owned();
        for part in self.path.iter().copied().chain([name]) {
            full.push('/');
            full.push_str(shown(part));
        }
        self.builder()
            .access
            .push((full, Access { slot, offset, kind }));
    }
}
