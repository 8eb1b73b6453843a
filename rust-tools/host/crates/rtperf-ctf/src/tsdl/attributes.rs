// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Types that attributes describe: integers, floats, strings.

use super::lexer::Token;
use super::parser::{Parsed, Parser};
use crate::ir::{ByteOrder, Class, Float, Int};

/// An attribute's value in `name = value;`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Int(i128),
    Text(String),
    Path(Vec<String>),
}

impl Parser<'_> {
    /// `{ name = value; … }`, if there.
    pub fn attributes(&mut self) -> Parsed<Vec<(String, Value)>> {
        let mut list = vec![];
        if !self.is("{") {
            return Ok(list);
        }
        self.enter()?;
        while !self.is("}") {
            let name = self.path()?.join(".");
            self.expect("=")?;
            list.push((name, self.value()?));
            self.expect(";")?;
        }
        self.leave()?;
        Ok(list)
    }

    pub fn value(&mut self) -> Parsed<Value> {
        match &self.token {
            Token::Text(t) => {
                let text = t.clone();
                self.bump();
                Ok(Value::Text(text))
            }
            Token::Word(_) => Ok(Value::Path(self.path()?)),
            _ => Ok(Value::Int(self.integer()?)),
        }
    }

    pub fn integer_type(&mut self) -> Parsed<Class> {
        let line = self.line;
        self.bump();
        let (mut size, mut align) = (None, None);
        let mut int = Int {
            size: 0,
            align: 0,
            signed: false,
            order: ByteOrder::Native,
            base: 10,
            text: false,
            clock: None,
        };
        for (name, value) in self.attributes()? {
            match name.as_str() {
                "size" => size = number(&value).filter(|n| (1..=64).contains(n)),
                "align" => align = Some(alignment(&value, line)?),
                "signed" => int.signed = flag(&value, line)?,
                "byte_order" => int.order = byte_order(&value, line)?,
                "base" => int.base = base(&value, line)?,
                "encoding" => int.text = word(&value).is_some_and(|w| w != "none"),
                "map" => int.clock = self.clock_of(&value),
                _ => {}
            }
        }
        let Some(size) = size else {
            return Err((line, "an integer needs a size of 1 to 64 bits".into()));
        };
        int.size = size as u8;
        int.align = align.unwrap_or(if size % 8 == 0 { 8 } else { 1 });
        Ok(Class::Int(int))
    }

    /// `clock.NAME.value`
    fn clock_of(&mut self, value: &Value) -> Option<u16> {
        let Value::Path(path) = value else {
            return None;
        };
        let [_, name, _] = path.as_slice() else {
            return None;
        };
        let names = &mut self.meta.clock_names;
        if let Some(i) = names.iter().position(|n| n == name) {
            return u16::try_from(i).ok();
        }
        names.push(name.clone());
        u16::try_from(names.len() - 1).ok()
    }

    pub fn float_type(&mut self) -> Parsed<Class> {
        let line = self.line;
        self.bump();
        let (mut exponent, mut mantissa) = (0, 0);
        let mut float = Float {
            size: 0,
            align: 8,
            order: ByteOrder::Native,
        };
        for (name, value) in self.attributes()? {
            match name.as_str() {
                "exp_dig" => exponent = number(&value).unwrap_or(0),
                "mant_dig" => mantissa = number(&value).unwrap_or(0),
                "align" => float.align = alignment(&value, line)?,
                "byte_order" => float.order = byte_order(&value, line)?,
                _ => {}
            }
        }
        float.size = match (exponent, mantissa) {
            (8, 24) => 32,
            (11, 53) => 64,
            _ => {
                return Err((
                    line,
                    format!("floating point of {exponent}+{mantissa} bits is not supported"),
                ));
            }
        };
        Ok(Class::Float(float))
    }

    pub fn string_type(&mut self) -> Parsed<Class> {
        self.bump();
        self.attributes()?;
        Ok(Class::Str)
    }
}

fn number(value: &Value) -> Option<i128> {
    match value {
        Value::Int(n) => Some(*n),
        _ => None,
    }
}

fn word(value: &Value) -> Option<&str> {
    match value {
        Value::Path(p) if p.len() == 1 => Some(&p[0]),
        Value::Text(t) => Some(t),
        _ => None,
    }
}

pub fn alignment(value: &Value, line: u32) -> Parsed<u64> {
    let n = number(value).and_then(|n| u64::try_from(n).ok());
    let fits = |n: &u64| n.is_power_of_two() && *n <= 1 << 20;
    n.filter(fits)
        .ok_or_else(|| (line, "an alignment must be a power of two".into()))
}

fn flag(value: &Value, line: u32) -> Parsed<bool> {
    match (number(value), word(value)) {
        (Some(n), _) => Ok(n != 0),
        (_, Some("true" | "TRUE")) => Ok(true),
        (_, Some("false" | "FALSE")) => Ok(false),
        _ => Err((line, "expected true or false".into())),
    }
}

pub fn byte_order(value: &Value, line: u32) -> Parsed<ByteOrder> {
    match word(value) {
        Some("le") => Ok(ByteOrder::Little),
        Some("be" | "network") => Ok(ByteOrder::Big),
        Some("native") => Ok(ByteOrder::Native),
        _ => Err((line, "a byte order is le, be, network or native".into())),
    }
}

fn base(value: &Value, line: u32) -> Parsed<u8> {
    match (number(value), word(value)) {
        (Some(n @ (2 | 8 | 10 | 16)), _) => Ok(n as u8),
        (_, Some("decimal" | "dec" | "d" | "i" | "u")) => Ok(10),
        (_, Some("hexadecimal" | "hex" | "x" | "X" | "p")) => Ok(16),
        (_, Some("octal" | "oct" | "o")) => Ok(8),
        (_, Some("binary" | "b")) => Ok(2),
        _ => Err((line, "a base is 2, 8, 10 or 16".into())),
    }
}
