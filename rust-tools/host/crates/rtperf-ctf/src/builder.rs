// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! A program while it is being compiled.

use crate::event::Access;
use crate::program::{ArraySpec, Block, IntSpec, Leaf, LeafKind, Op, Program, Save};

/// A program under construction.
#[derive(Default)]
pub struct Builder {
    pub ops: Vec<Op>,
    pub leaves: Vec<Leaf>,
    pub arrays: Vec<ArraySpec>,
    /// Register of each leaf, if something refers to it.
    pub registers: Vec<Option<(u16, IntSpec)>>,
    pub slots: u16,
    pub open: Option<OpenBlock>,
    pub access: Vec<(String, Access)>,
}

pub struct OpenBlock {
    pub block: Block,
}

impl Builder {
    pub fn new_slot(&mut self) -> u16 {
        let slot = self.slots;
        self.slots = slot.saturating_add(1);
        slot
    }

    pub fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.ops.push(Op::Block(open.block));
        }
    }

    pub fn finish(mut self) -> (Program, Vec<(String, Access)>) {
        self.close();
        let (mut saves, mut values) = (vec![], vec![]);
        for op in &mut self.ops {
            let Op::Block(block) = op else { continue };
            let first = saves.len() as u32;
            for i in block.leaves.start as usize..block.leaves.end as usize {
                let leaf = &self.leaves[i];
                if let Some((register, spec)) = self.registers[i] {
                    saves.push(Save {
                        offset: leaf.offset.into(),
                        spec,
                        register,
                    });
                }
            }
            block.saves = first..saves.len() as u32;
            let first = values.len() as u32;
            let leaves = &self.leaves[block.leaves.start as usize..block.leaves.end as usize];
            let is_value = |l: &&Leaf| !matches!(l.kind, LeafKind::Enter | LeafKind::Leave);
            values.extend(leaves.iter().filter(is_value));
            block.values = first..values.len() as u32;
        }
        let ends = |op: &Op| matches!(op, Op::Block(b) if b.bits == 0 && b.align == 1);
        let trailing = self.ops.iter().rev().take_while(|op| ends(op)).count();
        let program = Program {
            essential: self.ops.len() - trailing,
            ops: self.ops,
            leaves: self.leaves,
            values,
            arrays: self.arrays,
            saves,
            slots: self.slots,
        };
        (program, self.access)
    }
}
