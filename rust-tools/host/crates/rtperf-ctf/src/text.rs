// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! An event as one line of text, in the shape that `babeltrace2` made
//! customary: `[seconds.ns] host name: { packet }, { context }, { fields }`.

use crate::event::Event;
use crate::ir::EnvValue;
use crate::visit::{FieldInfo, Kind, Value, Visitor};
use std::io::Write;

/// Writes events as text.
#[derive(Default)]
pub struct TextWriter {
    out: Vec<u8>,
    /// Per open compound: its kind and how many members it has so far.
    open: Vec<(Kind, u64)>,
}

/// Fields of a packet that say how it is stored, not what happened.
const STORAGE: [&str; 6] = [
    "timestamp_begin",
    "timestamp_end",
    "content_size",
    "packet_size",
    "packet_seq_num",
    "events_discarded",
];

impl TextWriter {
    pub fn new() -> TextWriter {
        TextWriter::default()
    }

    /// The line of an event, without a line end.
    pub fn line(&mut self, event: &Event<'_>) -> &[u8] {
        self.out.clear();
        self.open.clear();
        let (ns, out) = (event.time_ns(), &mut self.out);
        let (seconds, rest) = (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
        // Writing to memory does not fail.
        let _ = write!(out, "[{seconds}.{rest:09}] ");
        if let Some(EnvValue::Text(host)) = event.stream().metadata.env.get("hostname") {
            out.extend_from_slice(host.as_bytes());
            out.push(b' ');
        }
        out.extend_from_slice(event.name().as_bytes());
        out.push(b':');
        let start = out.len();
        event.visit_packet_context(self);
        event.visit(self);
        if self.out.len() > start {
            // Scopes are joined by ", "; the first needs none.
            self.out.drain(start..=start);
        }
        &self.out
    }

    fn hidden(&self, field: &FieldInfo) -> bool {
        matches!(self.open.as_slice(), [(Kind::PacketContext, _)])
            && STORAGE.contains(&&*field.name)
    }

    /// What stands before a member: separator and name or index.
    fn begin(&mut self, field: &FieldInfo) {
        let Some((kind, count)) = self.open.last_mut() else {
            return;
        };
        self.out
            .extend_from_slice(if *count > 0 { b", " } else { b" " });
        match kind {
            Kind::Array => {
                let _ = write!(self.out, "[{count}] = ");
            }
            // The option shows by what it holds.
            Kind::Variant => {}
            _ => {
                self.out.extend_from_slice(field.name.as_bytes());
                self.out.extend_from_slice(b" = ");
            }
        }
        *count += 1;
    }

    fn number(&mut self, field: &FieldInfo, value: Value<'_>) {
        let (raw, decimal) = match value {
            Value::Uint(n) => (n, i128::from(n)),
            Value::Int(n) => (n as u64, i128::from(n)),
            _ => return,
        };
        let raw = raw & (u64::MAX >> (64 - u32::from(field.size.clamp(1, 64))));
        let _ = match field.base {
            16 => write!(self.out, "0x{raw:X}"),
            8 => write!(self.out, "0{raw:o}"),
            2 => write!(
                self.out,
                "0b{raw:0width$b}",
                width = usize::from(field.size)
            ),
            _ => write!(self.out, "{decimal}"),
        };
    }

    fn labelled(&mut self, field: &FieldInfo, value: Value<'_>) {
        let number = match value {
            Value::Uint(n) => i128::from(n),
            Value::Int(n) => i128::from(n),
            _ => 0,
        };
        let labels: Vec<&str> = field.labels_of(number).collect();
        self.out.extend_from_slice(b"( ");
        if labels.is_empty() {
            self.out.extend_from_slice(b"<unknown>");
        }
        for (i, label) in labels.iter().enumerate() {
            self.out.extend_from_slice(if i > 0 { b", " } else { b"" });
            quote(&mut self.out, label.as_bytes());
        }
        self.out.extend_from_slice(b" : container = ");
        self.number(field, value);
        self.out.extend_from_slice(b" )");
    }
}

impl Visitor for TextWriter {
    fn value(&mut self, field: &FieldInfo, value: Value<'_>) {
        if self.hidden(field) {
            return;
        }
        self.begin(field);
        match value {
            Value::Text(text) => quote(&mut self.out, text),
            Value::Float(f) => general(&mut self.out, f),
            Value::Ints(array) => {
                self.out.push(b'[');
                for (i, v) in array.iter().enumerate() {
                    let comma = if i > 0 { "," } else { "" };
                    let _ = write!(self.out, "{comma} [{i}] = ");
                    self.number(field, v);
                }
                self.out.extend_from_slice(b" ]");
            }
            _ if field.labels.is_some() => self.labelled(field, value),
            _ => self.number(field, value),
        }
    }

    fn enter(&mut self, field: &FieldInfo) {
        match field.kind {
            Kind::Struct | Kind::Array | Kind::Variant => self.begin(field),
            _ => self.out.extend_from_slice(b", "),
        }
        self.out.push(if field.kind == Kind::Array {
            b'['
        } else {
            b'{'
        });
        self.open.push((field.kind, 0));
    }

    fn leave(&mut self) {
        let close = match self.open.pop() {
            Some((Kind::Array, _)) => b" ]",
            _ => b" }",
        };
        self.out.extend_from_slice(close);
    }
}

fn quote(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for b in text {
        let escaped: &[u8] = match b {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\'' => b"\\'",
            b'\n' => b"\\n",
            b'\t' => b"\\t",
            b'\r' => b"\\r",
            0x07 => b"\\a",
            0x08 => b"\\b",
            0x0b => b"\\v",
            0x0c => b"\\f",
            0x1b => b"\\e",
            b'?' => b"\\?",
            0..0x20 | 0x7f => {
                let _ = write!(out, "\\x{b:02x}");
                continue;
            }
            _ => {
                out.push(*b);
                continue;
            }
        };
        out.extend_from_slice(escaped);
    }
    out.push(b'"');
}

/// As C's `%g`: six significant digits, the shorter of two notations.
fn general(out: &mut Vec<u8>, f: f64) {
    if f.is_nan() || f.is_infinite() {
        let sign = if f.is_sign_negative() { "-" } else { "" };
        let _ = write!(out, "{sign}{}", if f.is_nan() { "nan" } else { "inf" });
        return;
    }
    let scientific = format!("{f:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |s: &str| match s.contains('.') {
        true => s.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => s.to_owned(),
    };
    let _ = if (-4..6).contains(&exponent) {
        let decimals = (5 - exponent).max(0) as usize;
        write!(out, "{}", trim(&format!("{f:.decimals$}")))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "{}e{sign}{:02}", trim(digits), exponent.abs())
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_as_c_prints_them() {
        for (f, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.333333333, "0.333333"),
            (-2.5, "-2.5"),
            (123456.7, "123457"),
            (1234567.0, "1.23457e+06"),
            (0.0001, "0.0001"),
            (0.00001234, "1.234e-05"),
            (1e100, "1e+100"),
            (999999.9, "1e+06"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            let mut out = vec![];
            general(&mut out, f);
            assert_eq!(String::from_utf8(out).unwrap(), text, "{f:?}");
        }
    }

    #[test]
    fn quotes() {
        let mut out = vec![];
        quote(&mut out, b"a\"b\\c\n\xff");
        assert_eq!(out, b"\"a\\\"b\\\\c\\n\xff\"");
    }
}
