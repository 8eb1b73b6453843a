// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which earlier field a length or a tag means.

use crate::compile::{Compiled, Compiler};
use crate::ir::{Enum, Member};
use crate::program::{Case, IntSpec};
use std::sync::Arc;

/// What later fields can refer to.
#[derive(Debug, Clone)]
pub enum Seen {
    Int(IntRef),
    Struct(Vec<(String, Seen)>),
    Other,
}

#[derive(Debug, Clone)]
pub struct IntRef {
    /// Which builder, and which of its leaves.
    pub builder: usize,
    pub leaf: usize,
    pub spec: IntSpec,
    pub labels: Option<Arc<Enum>>,
}

impl Compiler<'_> {
    /// The register of the integer that a path names.
    pub fn refer(&mut self, path: &[String]) -> Compiled<(u16, IntRef)> {
        let found = self.find(path).cloned();
        let found =
            found.ok_or_else(|| format!("no earlier integer field '{}'", path.join(".")))?;
        let register = &mut self.builders[found.builder].registers[found.leaf];
        if let Some((register, _)) = register {
            return Ok((*register, found));
        }
        let new = self.registers;
        *register = Some((new, found.spec));
        self.registers = new
            .checked_add(1)
            .ok_or("too many references between fields")?;
        Ok((new, found))
    }

    fn find(&self, path: &[String]) -> Option<&IntRef> {
        // A full path names its scope.
        let dotted = path.join(".");
        for (root, seen) in &self.roots {
            let rest = dotted.strip_prefix(root).and_then(|r| r.strip_prefix('.'));
            if rest.is_some() {
                return descend(seen, &path[root.split('.').count()..]);
            }
        }
        let here = dotted
            .strip_prefix(self.current)
            .and_then(|r| r.strip_prefix('.'));
        if here.is_some() {
            let inner = &path[self.current.split('.').count()..];
            return self.frames.first().and_then(|f| descend_list(f, inner));
        }
        // A relative one is looked for from the inside out.
        let near = self.frames.iter().rev().find_map(|f| descend_list(f, path));
        near.or_else(|| self.roots.iter().rev().find_map(|(_, s)| descend(s, path)))
    }
}

/// Which values of the tag select which option.
pub fn cases(labels: &Enum, options: &[Member], bodies: &[std::ops::Range<u32>]) -> Vec<Case> {
    let mut list = vec![];
    for mapping in &labels.mappings {
        let named = |m: &Member| m.name == mapping.label;
        let same = |m: &Member| shown(&m.name) == shown(&mapping.label);
        let option = options
            .iter()
            .position(named)
            .or_else(|| options.iter().position(same));
        if let Some(i) = option {
            list.push(Case {
                low: mapping.low,
                high: mapping.high,
                ops: bodies[i].clone(),
            });
        }
    }
    list
}

fn descend<'a>(seen: &'a Seen, path: &[String]) -> Option<&'a IntRef> {
    match (seen, path) {
        (Seen::Int(int), []) => Some(int),
        (Seen::Struct(fields), [_, ..]) => descend_list(fields, path),
        _ => None,
    }
}

fn descend_list<'a>(fields: &'a [(String, Seen)], path: &[String]) -> Option<&'a IntRef> {
    let (first, rest) = path.split_first()?;
    let exact = fields.iter().rev().find(|(n, _)| n == first);
    let field = exact.or_else(|| fields.iter().rev().find(|(n, _)| shown(n) == shown(first)));
    descend(&field?.1, rest)
}

/// LTTng puts an underscore before every name, so that none is a keyword.
pub fn shown(name: &str) -> &str {
    name.strip_prefix('_').unwrap_or(name)
}
