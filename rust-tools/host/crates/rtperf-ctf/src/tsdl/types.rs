// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Type specifiers, declarators and type definitions.

use super::attributes::{Value, alignment};
use super::lexer::Token;
use super::parser::{Parsed, Parser};
use crate::ir::{Array, Class, Enum, Len, Mapping, Member, Struct, Variant, nested};
use std::sync::Arc;

const TOO_DEEP: &str = "a type nested too deeply";

impl Parser<'_> {
    /// `typealias`, `typedef`, or a named struct, variant or enum. False if
    /// the current token starts none of them.
    pub fn type_statement(&mut self) -> Parsed<()> {
        if self.is_word("typealias") {
            self.bump();
            let class = self.type_with_abstract_declarators()?;
            self.expect(":=")?;
            let name = self.alias_name()?;
            self.define(name, class);
        } else if self.is_word("typedef") {
            self.bump();
            let class = self.type_spec(true)?;
            loop {
                let (name, class) = self.declarator(class.clone())?;
                self.define(name, class);
                if !self.accept(",") {
                    break;
                }
            }
        } else if self.is_word("struct") || self.is_word("variant") || self.is_word("enum") {
            self.type_spec(false)?;
        } else {
            let what = format!("{:?}", self.token);
            return self.fault(format!("unknown declaration {what}"));
        }
        self.expect(";")
    }

    fn alias_name(&mut self) -> Parsed<String> {
        let mut name = self.word()?.to_owned();
        while !self.is(";") {
            if self.accept("*") {
                name.push_str(" *");
            } else {
                name = format!("{name} {}", self.word()?);
            }
        }
        Ok(name)
    }

    fn type_with_abstract_declarators(&mut self) -> Parsed<Class> {
        let class = self.type_spec(false)?;
        self.dimensions(class)
    }

    /// One type. `named`: a declarator follows, so that the last of several
    /// words is not the type's.
    pub fn type_spec(&mut self, named: bool) -> Parsed<Class> {
        while self.is_word("const") {
            self.bump();
        }
        let Token::Word(word) = self.token else {
            return self.fault("expected a type");
        };
        match word {
            "integer" => self.integer_type(),
            "floating_point" => self.float_type(),
            "string" => self.string_type(),
            "struct" => self.struct_type(),
            "variant" => self.variant_type(),
            "enum" => self.enum_type(),
            _ => self.named_type(named),
        }
    }

    fn named_type(&mut self, named: bool) -> Parsed<Class> {
        let line = self.line;
        let mut name = self.word()?.to_owned();
        loop {
            if self.accept("*") {
                name.push_str(" *");
                continue;
            }
            let Token::Word(word) = self.token else { break };
            // The last word before a sign is the declarator's name.
            if named
                && self.lookup(&name).is_some()
                && self.lookup(&format!("{name} {word}")).is_none()
            {
                break;
            }
            self.bump();
            if word != "const" {
                name = format!("{name} {word}");
            }
        }
        let found = self.lookup(&name);
        found.ok_or_else(|| (line, format!("unknown type '{name}'")))
    }

    fn optional_name(&mut self) -> Parsed<Option<String>> {
        match self.token {
            Token::Word(w) if w != "align" => {
                self.bump();
                Ok(Some(w.to_owned()))
            }
            _ => Ok(None),
        }
    }

    /// A definition is entered in the scope, a mere name looked up there.
    fn defined(&mut self, kind: &str, name: Option<String>, class: Option<Class>) -> Parsed<Class> {
        match (name, class) {
            (Some(name), Some(class)) => {
                self.define(format!("{kind} {name}"), class.clone());
                Ok(class)
            }
            (None, Some(class)) => Ok(class),
            (Some(name), None) => match self.lookup(&format!("{kind} {name}")) {
                Some(class) => Ok(class),
                None => self.fault(format!("unknown type '{kind} {name}'")),
            },
            (None, None) => self.fault(format!("{kind} without name and body")),
        }
    }

    fn struct_type(&mut self) -> Parsed<Class> {
        self.bump();
        let name = self.optional_name()?;
        let fields = if self.is("{") {
            Some(self.members()?)
        } else {
            None
        };
        let Some(fields) = fields else {
            return self.defined("struct", name, None);
        };
        let mut align = 1;
        if self.is_word("align") {
            self.bump();
            self.expect("(")?;
            align = alignment(&Value::Int(self.integer()?), self.line)?;
            self.expect(")")?;
        }
        let Some(class) = Struct::new(fields, align) else {
            return self.fault(TOO_DEEP);
        };
        self.defined("struct", name, Some(Class::Struct(Arc::new(class))))
    }

    fn members(&mut self) -> Parsed<Vec<Member>> {
        let mut list = vec![];
        self.enter()?;
        while !self.is("}") {
            if self.is_word("typealias") || self.is_word("typedef") {
                self.type_statement()?;
                continue;
            }
            let class = self.type_spec(true)?;
            while !self.is(";") {
                let (name, class) = self.declarator(class.clone())?;
                list.push(Member { name, class });
                if !self.accept(",") {
                    break;
                }
            }
            self.expect(";")?;
        }
        self.leave()?;
        Ok(list)
    }

    fn variant_type(&mut self) -> Parsed<Class> {
        self.bump();
        let name = self.optional_name()?;
        let mut tag = vec![];
        if self.accept("<") {
            tag = self.path()?;
            self.expect(">")?;
        }
        let class = if self.is("{") {
            let options = self.members()?;
            let Some(depth) = nested(options.iter().map(|m| &m.class)) else {
                return self.fault(TOO_DEEP);
            };
            let variant = Variant {
                tag: tag.clone(),
                options,
                depth,
            };
            Some(Class::Variant(Arc::new(variant)))
        } else {
            None
        };
        match self.defined("variant", name, class)? {
            // A variant type without a tag gets one where it is used.
            Class::Variant(v) if !tag.is_empty() && v.tag != tag => {
                Ok(Class::Variant(Arc::new(Variant {
                    tag,
                    options: v.options.clone(),
                    depth: v.depth,
                })))
            }
            class => Ok(class),
        }
    }

    fn enum_type(&mut self) -> Parsed<Class> {
        let line = self.line;
        self.bump();
        let name = self.optional_name()?;
        let container = match self.accept(":") {
            true => Some(self.type_spec(false)?),
            false => None,
        };
        if !self.is("{") {
            return self.defined("enum", name, None);
        }
        let container = container.or_else(|| self.lookup("int"));
        let Some(int) = container.as_ref().and_then(|c| c.int()).copied() else {
            return Err((line, "an enum needs an integer type".into()));
        };
        let mappings = self.mappings()?;
        self.defined(
            "enum",
            name,
            Some(Class::Enum(Arc::new(Enum { int, mappings }))),
        )
    }

    fn mappings(&mut self) -> Parsed<Vec<Mapping>> {
        let (mut list, mut next) = (vec![], 0i128);
        self.enter()?;
        while !self.is("}") {
            let label = match &self.token {
                Token::Text(t) => t.clone(),
                Token::Word(w) => (*w).to_owned(),
                _ => return self.fault("expected a label"),
            };
            self.bump();
            let (mut low, mut high) = (next, next);
            if self.accept("=") {
                low = self.integer()?;
                high = if self.accept("...") {
                    self.integer()?
                } else {
                    low
                };
            }
            next = high + 1;
            list.push(Mapping { label, low, high });
            if !self.accept(",") {
                break;
            }
        }
        self.leave()?;
        Ok(list)
    }

    /// `name[len]…`
    fn declarator(&mut self, class: Class) -> Parsed<(String, Class)> {
        while self.accept("*") {}
        let name = self.word()?.to_owned();
        Ok((name, self.dimensions(class)?))
    }

    fn dimensions(&mut self, mut class: Class) -> Parsed<Class> {
        let mut lens = vec![];
        while self.accept("[") {
            lens.push(match self.token {
                Token::Int(n) => {
                    self.bump();
                    Len::Fixed(n)
                }
                _ => Len::Field(self.path()?),
            });
            self.expect("]")?;
        }
        // As in C: the last bracket is the innermost array.
        for len in lens.into_iter().rev() {
            let Some(depth) = nested(std::iter::once(&class)) else {
                return self.fault(TOO_DEEP);
            };
            class = Class::Array(Arc::new(Array {
                len,
                element: class,
                depth,
            }));
        }
        Ok(class)
    }
}
