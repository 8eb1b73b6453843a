// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The blocks trace, env, clock, stream, event and callsite.

use super::attributes::{Value, byte_order};
use super::parser::{Parsed, Parser};
use crate::ir::{ByteOrder, Class, Clock, EnvValue, EventDecl, StreamDecl};

/// One line of a block: a value or a type under a dotted name.
enum Entry {
    Value(String, Value),
    Type(String, Class),
}

impl Parser<'_> {
    fn block(&mut self, mut entry: impl FnMut(&mut Self, Entry) -> Parsed<()>) -> Parsed<()> {
        self.bump();
        self.enter()?;
        while !self.is("}") {
            const TYPES: [&str; 5] = ["typealias", "typedef", "struct", "variant", "enum"];
            if TYPES.iter().any(|t| self.is_word(t)) {
                self.type_statement()?;
                continue;
            }
            let name = self.path()?.join(".");
            let found = if self.accept(":=") {
                Entry::Type(name, self.type_spec(false)?)
            } else {
                self.expect("=")?;
                Entry::Value(name, self.value()?)
            };
            entry(self, found)?;
            self.expect(";")?;
        }
        self.leave()
    }

    pub fn trace_block(&mut self) -> Parsed<()> {
        self.block(|p, entry| {
            match entry {
                Entry::Type(name, class) if name == "packet.header" => {
                    p.meta.packet_header = Some(class);
                }
                Entry::Value(name, value) if name == "byte_order" => {
                    p.meta.big_endian = byte_order(&value, p.line)? == ByteOrder::Big;
                }
                Entry::Value(name, Value::Text(text)) if name == "uuid" => {
                    p.meta.uuid = uuid(&text);
                }
                _ => {}
            }
            Ok(())
        })
    }

    pub fn env_block(&mut self) -> Parsed<()> {
        self.block(|p, entry| {
            match entry {
                Entry::Value(name, Value::Text(t)) => p.meta.env.insert(name, EnvValue::Text(t)),
                Entry::Value(name, Value::Int(n)) => p.meta.env.insert(name, EnvValue::Int(n)),
                _ => None,
            };
            Ok(())
        })
    }

    pub fn clock_block(&mut self) -> Parsed<()> {
        let mut clock = Clock {
            name: String::new(),
            uuid: None,
            frequency: 1_000_000_000,
            offset_seconds: 0,
            offset_ticks: 0,
        };
        self.block(|p, entry| {
            let Entry::Value(name, value) = entry else {
                return Ok(());
            };
            match (name.as_str(), value) {
                ("name", Value::Text(text)) => clock.name = text,
                ("name", Value::Path(path)) => clock.name = path.join("."),
                ("uuid", Value::Text(text)) => clock.uuid = Some(text),
                ("freq", Value::Int(n)) => match u64::try_from(n) {
                    Ok(n) if n > 0 => clock.frequency = n,
                    _ => return p.fault("a clock frequency must be above 0"),
                },
                ("offset_s", Value::Int(n)) => clock.offset_seconds = clamp(n),
                ("offset", Value::Int(n)) => clock.offset_ticks = clamp(n),
                _ => {}
            }
            Ok(())
        })?;
        self.meta.clocks.push(clock);
        Ok(())
    }

    pub fn stream_block(&mut self) -> Parsed<()> {
        let mut stream = StreamDecl::default();
        self.block(|p, entry| {
            match entry {
                Entry::Value(name, value) if name == "id" => stream.id = p.id(&value)?,
                Entry::Type(name, class) => match name.as_str() {
                    "packet.context" => stream.packet_context = Some(class),
                    "event.header" => stream.event_header = Some(class),
                    "event.context" => stream.event_context = Some(class),
                    _ => {}
                },
                _ => {}
            }
            Ok(())
        })?;
        if self.meta.streams.iter().any(|s| s.id == stream.id) {
            return self.fault(format!("a second stream with id {}", stream.id));
        }
        self.meta.streams.push(stream);
        Ok(())
    }

    pub fn event_block(&mut self) -> Parsed<()> {
        let mut event = EventDecl {
            id: 0,
            stream_id: 0,
            name: String::new(),
            context: None,
            fields: None,
            line: self.line,
        };
        self.block(|p, entry| {
            match entry {
                Entry::Type(name, class) => match name.as_str() {
                    "context" => event.context = Some(class),
                    "fields" => event.fields = Some(class),
                    _ => {}
                },
                Entry::Value(name, value) => match (name.as_str(), value) {
                    ("id", value) => event.id = p.id(&value)?,
                    ("stream_id", value) => event.stream_id = p.id(&value)?,
                    ("name", Value::Text(text)) => event.name = text,
                    ("name", Value::Path(path)) => event.name = path.join("."),
                    _ => {}
                },
            }
            Ok(())
        })?;
        self.meta.events.push(event);
        Ok(())
    }

    /// Where in the traced program an event is: of no use here.
    pub fn callsite_block(&mut self) -> Parsed<()> {
        self.block(|_, _| Ok(()))
    }

    fn id(&self, value: &Value) -> Parsed<u64> {
        match value {
            Value::Int(n) if *n >= 0 => Ok(*n as u64),
            _ => self.fault("an id must be a number from 0"),
        }
    }
}

fn clamp(n: i128) -> i64 {
    n.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

fn uuid(text: &str) -> Option<[u8; 16]> {
    let hex: Vec<u8> = text.bytes().filter(|b| *b != b'-').collect();
    let mut out = [0; 16];
    if hex.len() != 32 {
        return None;
    }
    for (byte, pair) in out.iter_mut().zip(hex.chunks(2)) {
        let digit = |b: u8| (b as char).to_digit(16);
        *byte = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
    }
    Some(out)
}
