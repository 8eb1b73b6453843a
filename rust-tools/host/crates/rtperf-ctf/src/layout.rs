// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What of the metadata is needed to read streams, compiled.

use crate::builder::Builder;
use crate::compile::{Compiler, MAX_FIELDS};
use crate::event::{Access, Field};
use crate::header::FastHeader;
use crate::ir::{Class, Clock, EventDecl, Metadata, StreamDecl};
use crate::program::{Block, Program};
use crate::visit::{FieldInfo, Kind};
use std::collections::HashMap;
use std::path::Path;

/// Which group of an event's fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// What every event of the stream has, such as `tid` if it was asked for.
    StreamContext,
    EventContext,
    Payload,
}

/// One kind of event.
#[derive(Debug)]
pub struct EventClass {
    pub name: String,
    /// Index among all classes of the trace.
    pub index: u32,
    /// Id in its stream.
    pub id: u64,
    pub(crate) program: Program,
    /// The whole program where it is one block without references: then an
    /// event is skipped by one addition.
    pub(crate) single: Option<Block>,
    access: Vec<(String, Access)>,
}

impl EventClass {
    pub(crate) fn nothing() -> EventClass {
        EventClass {
            name: String::new(),
            index: u32::MAX,
            id: 0,
            program: Program::default(),
            single: None,
            access: vec![],
        }
    }

    /// Resolves a field by name, once; `a.b` is `b` in the structure `a`.
    /// `None` if there is none, or if it lies in an array or variant.
    pub fn field(&self, scope: Scope, name: &str) -> Option<Field> {
        let root = match scope {
            Scope::StreamContext => STREAM_CONTEXT,
            Scope::EventContext => EVENT_CONTEXT,
            Scope::Payload => PAYLOAD,
        };
        let full = format!("{root}/{}", name.replace('.', "/"));
        let found = self.access.iter().find(|(n, _)| *n == full)?;
        Some(Field {
            class: self.index,
            access: found.1,
        })
    }
}

const PACKET_HEADER: &str = "trace.packet.header";
const PACKET_CONTEXT: &str = "stream.packet.context";
const EVENT_HEADER: &str = "stream.event.header";
const STREAM_CONTEXT: &str = "stream.event.context";
const EVENT_CONTEXT: &str = "event.context";
const PAYLOAD: &str = "event.fields";

/// Which stream an event came from.
#[derive(Debug, Clone, Copy)]
pub struct StreamInfo<'t> {
    /// Folder of the metadata.
    pub dir: &'t Path,
    pub file: &'t Path,
    pub metadata: &'t Metadata,
    pub class_id: u64,
}

#[derive(Debug)]
pub(crate) struct StreamClass {
    pub id: u64,
    pub packet_header: Program,
    pub packet_context: Program,
    pub event_header: Program,
    pub fast_header: Option<FastHeader>,
    /// Dense for small ids: index into `events`, or `u32::MAX`.
    by_id: Vec<u32>,
    by_big_id: HashMap<u64, u32>,
    pub events: Vec<EventClass>,
    pub fields: Vec<FieldInfo>,
    pub registers: u16,
    pub max_slots: u16,
    pub clock: Option<Clock>,
}

const DENSE: u64 = 1 << 16;

impl StreamClass {
    #[inline(always)]
    pub fn event(&self, id: u64) -> Option<&EventClass> {
        let index = if id < DENSE {
            *self.by_id.get(id as usize)?
        } else {
            *self.by_big_id.get(&id)?
        };
        self.events.get(index as usize)
    }

    fn index(&mut self, id: u64, index: u32) {
        if id < DENSE {
            let at = id as usize;
            if self.by_id.len() <= at {
                self.by_id.resize(at + 1, u32::MAX);
            }
            self.by_id[at] = index;
        } else {
            self.by_big_id.insert(id, index);
        }
    }
}

/// The compiled metadata of one trace folder.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Reads just enough to learn the stream class.
    pub packet_header: Program,
    pub header_fields: Vec<FieldInfo>,
    pub streams: Vec<StreamClass>,
}

/// Line (0 for none) and message.
type Fault = (u32, String);

/// Compiles `meta`; event classes are numbered from `first_class`.
pub(crate) fn compile(meta: &Metadata, first_class: u32) -> (Layout, Vec<Fault>) {
    let (mut layout, mut faults) = (Layout::default(), vec![]);
    if let Some(header) = &meta.packet_header {
        let mut c = Compiler::new(meta.big_endian, MAX_FIELDS);
        match c.scope(PACKET_HEADER, Kind::Header, header) {
            Ok(()) => {
                layout.header_fields = c.fields;
                layout.packet_header = programs(c.builders).remove(0).0;
            }
            Err(e) => faults.push((0, e)),
        }
    }
    let implied = [StreamDecl::default()];
    let declared = if meta.streams.is_empty() {
        &implied
    } else {
        meta.streams.as_slice()
    };
    let (mut next, mut budget) = (first_class, MAX_FIELDS);
    for decl in declared {
        match stream(meta, decl, &mut next, &mut budget, &mut faults) {
            Ok(stream) => layout.streams.push(stream),
            Err(e) => faults.push((0, format!("stream {}: {e}", decl.id))),
        }
    }
    for event in &meta.events {
        if !declared.iter().any(|s| s.id == event.stream_id) {
            let (name, id) = (&event.name, event.stream_id);
            faults.push((
                event.line,
                format!("event '{name}' is of stream {id}, which is missing"),
            ));
        }
    }
    (layout, faults)
}

/// The last of the programs gets the event; empty ones stand for scopes that
/// are not there.
fn programs(builders: Vec<Builder>) -> Vec<(Program, Vec<(String, Access)>)> {
    builders.into_iter().map(Builder::finish).collect()
}

fn stream(
    meta: &Metadata,
    decl: &StreamDecl,
    next: &mut u32,
    budget: &mut usize,
    faults: &mut Vec<Fault>,
) -> Result<StreamClass, String> {
    let mut c = Compiler::new(meta.big_endian, *budget);
    let around = [
        (PACKET_HEADER, &meta.packet_header),
        (PACKET_CONTEXT, &decl.packet_context),
        (EVENT_HEADER, &decl.event_header),
    ];
    for (root, class) in around {
        c.builders.push(Builder::default());
        if let Some(class) = class {
            c.scope(root, Kind::Header, class)?;
            if root == PACKET_CONTEXT {
                mark_packet_context(&mut c);
            }
        }
    }
    let own_header_registers = c.registers;
    let mut finished = vec![];
    for event in meta.events.iter().filter(|e| e.stream_id == decl.id) {
        let before = (c.roots.len(), c.fields.len());
        c.builders.push(Builder::default());
        match event_scopes(&mut c, decl, event) {
            Ok(()) => {
                if let Some(builder) = c.builders.pop() {
                    finished.push((event, builder));
                }
            }
            Err(e) => {
                faults.push((event.line, format!("event '{}': {e}", event.name)));
                c.builders.pop();
                c.fields.truncate(before.1);
            }
        }
        c.roots.truncate(before.0);
    }
    *budget = budget.saturating_sub(c.fields.len());
    let mut around = programs(c.builders).into_iter().map(|(p, _)| p);
    let mut out = StreamClass {
        id: decl.id,
        packet_header: around.next().unwrap_or_default(),
        packet_context: around.next().unwrap_or_default(),
        event_header: around.next().unwrap_or_default(),
        fast_header: None,
        by_id: vec![],
        by_big_id: HashMap::new(),
        events: vec![],
        fields: c.fields,
        registers: c.registers,
        max_slots: 0,
        clock: clock_of(meta, decl),
    };
    // Fields of the header that events refer to need it read in full.
    let used: Vec<u16> = out.event_header.saves.iter().map(|s| s.register).collect();
    if used.iter().all(|r| *r < own_header_registers) {
        let header = decl.event_header.as_ref();
        out.fast_header = header.and_then(|h| FastHeader::recognise(h, meta));
    }
    for (decl, builder) in finished {
        add_event(&mut out, decl, builder, next, faults);
    }
    Ok(out)
}

fn add_event(
    out: &mut StreamClass,
    decl: &EventDecl,
    builder: Builder,
    next: &mut u32,
    faults: &mut Vec<Fault>,
) {
    if out.event(decl.id).is_some() {
        faults.push((
            decl.line,
            format!("a second event with id {}: '{}'", decl.id, decl.name),
        ));
        return;
    }
    let (program, access) = builder.finish();
    out.max_slots = out.max_slots.max(program.slots);
    let single = program.single_block();
    let name = decl.name.clone();
    out.index(decl.id, out.events.len() as u32);
    out.events.push(EventClass {
        name,
        index: *next,
        id: decl.id,
        program,
        single,
        access,
    });
    *next += 1;
}

fn event_scopes<'m>(
    c: &mut Compiler<'m>,
    stream: &'m StreamDecl,
    event: &'m EventDecl,
) -> Result<(), String> {
    let scopes: [(&str, Kind, &Option<Class>); 3] = [
        (STREAM_CONTEXT, Kind::StreamContext, &stream.event_context),
        (EVENT_CONTEXT, Kind::EventContext, &event.context),
        (PAYLOAD, Kind::Payload, &event.fields),
    ];
    for (root, kind, class) in scopes {
        if let Some(class) = class {
            c.scope(root, kind, class)?;
        }
    }
    Ok(())
}

/// The packet context is shown to people, the other headers are not.
fn mark_packet_context(c: &mut Compiler) {
    let root = c.fields.iter_mut().rev().find(|f| f.kind == Kind::Header);
    if let Some(root) = root {
        root.kind = Kind::PacketContext;
    }
}

/// The clock that the stream's time stamps map to.
fn clock_of(meta: &Metadata, decl: &StreamDecl) -> Option<Clock> {
    let classes = [&decl.event_header, &decl.packet_context];
    let name = classes.into_iter().flatten().find_map(mapped_clock)?;
    let name = meta.clock_names.get(usize::from(name))?;
    meta.clocks.iter().find(|c| c.name == *name).cloned()
}

fn mapped_clock(class: &Class) -> Option<u16> {
    match class {
        Class::Int(i) => i.clock,
        Class::Enum(e) => e.int.clock,
        Class::Struct(s) => s.fields.iter().find_map(|m| mapped_clock(&m.class)),
        Class::Variant(v) => v.options.iter().find_map(|m| mapped_clock(&m.class)),
        Class::Array(a) => mapped_clock(&a.element),
        Class::Float(_) | Class::Str => None,
    }
}
