// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Declarations one by one. A faulty one is named and skipped, the others are
//! read.

use super::lexer::{Lexer, Token};
use crate::ir::{Class, Metadata};
use std::collections::HashMap;

/// Line and message.
pub type Fault = (u32, String);
pub type Parsed<T> = Result<T, Fault>;

/// Nesting of braces while parsing, so that recursion is bounded.
const MAX_NESTING: u32 = 64;

/// Names that a block defines.
#[derive(Default)]
pub struct Scope {
    /// By "name", "struct name", "enum name", "variant name".
    pub types: HashMap<String, Class>,
}

pub struct Parser<'a> {
    lexer: Lexer<'a>,
    pub token: Token<'a>,
    pub line: u32,
    pub scopes: Vec<Scope>,
    pub meta: Metadata,
    pub faults: Vec<Fault>,
    nesting: u32,
}

/// Reads metadata text: what it declares, and its faults by line.
pub fn parse(text: &str) -> (Metadata, Vec<Fault>) {
    let mut p = Parser {
        lexer: Lexer::new(text),
        token: Token::End,
        line: 1,
        scopes: vec![Scope::default()],
        meta: Metadata::default(),
        faults: vec![],
        nesting: 0,
    };
    p.bump();
    while p.token != Token::End {
        p.scopes.truncate(1);
        p.nesting = 0;
        // A fault may lie many tokens into the declaration: go on after it.
        let start = (p.lexer.clone(), p.token.clone(), p.line);
        if let Err(fault) = p.declaration() {
            p.faults.push(fault);
            (p.lexer, p.token, p.line) = start;
            p.skip_declaration();
        }
    }
    (p.meta, p.faults)
}

impl<'a> Parser<'a> {
    pub fn bump(&mut self) {
        loop {
            let (line, token) = self.lexer.next();
            self.line = line;
            match token {
                Ok(token) => {
                    self.token = token;
                    return;
                }
                // Reported once: a declaration that is skipped is read twice.
                Err(e) if self.faults.last() != Some(&(line, e.clone())) => {
                    self.faults.push((line, e));
                }
                Err(_) => {}
            }
        }
    }

    pub fn fault<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err((self.line, message.into()))
    }

    pub fn is(&self, sign: &str) -> bool {
        matches!(self.token, Token::Sign(s) if s == sign)
    }

    pub fn is_word(&self, word: &str) -> bool {
        self.token == Token::Word(word)
    }

    pub fn accept(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        if found {
            self.bump();
        }
        found
    }

    pub fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.accept(sign) {
            return Ok(());
        }
        self.fault(format!("expected '{sign}', found {}", self.found()))
    }

    pub fn word(&mut self) -> Parsed<&'a str> {
        let Token::Word(w) = self.token else {
            return self.fault(format!("expected a name, found {}", self.found()));
        };
        self.bump();
        Ok(w)
    }

    fn found(&self) -> String {
        match &self.token {
            Token::Word(w) => format!("'{w}'"),
            Token::Int(n) => n.to_string(),
            Token::Text(_) => "a string".into(),
            Token::Sign(s) => format!("'{s}'"),
            Token::End => "the end".into(),
        }
    }

    /// An integer constant with its sign.
    pub fn integer(&mut self) -> Parsed<i128> {
        let negative = self.accept("-");
        if !negative {
            self.accept("+");
        }
        let Token::Int(n) = self.token else {
            return self.fault(format!("expected a number, found {}", self.found()));
        };
        self.bump();
        Ok(if negative { -i128::from(n) } else { n.into() })
    }

    /// `name(.name)*`
    pub fn path(&mut self) -> Parsed<Vec<String>> {
        let mut path = vec![self.word()?.to_owned()];
        while self.accept(".") {
            path.push(self.word()?.to_owned());
        }
        Ok(path)
    }

    /// Enters a brace; [`Parser::leave`] on the way out.
    pub fn enter(&mut self) -> Parsed<()> {
        self.expect("{")?;
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return self.fault("nested too deeply");
        }
        self.scopes.push(Scope::default());
        Ok(())
    }

    pub fn leave(&mut self) -> Parsed<()> {
        self.expect("}")?;
        self.nesting -= 1;
        self.scopes.pop();
        Ok(())
    }

    pub fn define(&mut self, name: String, class: Class) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.types.insert(name, class);
        }
    }

    pub fn lookup(&self, name: &str) -> Option<Class> {
        let mut scopes = self.scopes.iter().rev();
        scopes.find_map(|s| s.types.get(name).cloned())
    }

    fn declaration(&mut self) -> Parsed<()> {
        let Token::Word(word) = self.token else {
            return self.expect(";");
        };
        match word {
            "trace" => self.trace_block()?,
            "env" => self.env_block()?,
            "clock" => self.clock_block()?,
            "stream" => self.stream_block()?,
            "event" => self.event_block()?,
            "callsite" => self.callsite_block()?,
            _ => {
                self.type_statement()?;
            }
        }
        self.accept(";");
        Ok(())
    }

    /// To the ';' that ends the declaration at the current token.
    fn skip_declaration(&mut self) {
        let mut depth = 0u32;
        while self.token != Token::End {
            if self.is("{") {
                depth += 1;
            } else if self.is("}") {
                depth = depth.saturating_sub(1);
            }
            let end = depth == 0 && self.is(";");
            self.bump();
            if end {
                return;
            }
        }
    }
}
