// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Times in which events were lost.

use rtperf_ctf::Lost;

/// Gaps remembered at once; a trace with more loses precision, not memory:
/// neighbours are joined.
const MAX_GAPS: usize = 4096;

#[derive(Debug, Default)]
pub struct Gaps {
    /// CPU (if known), from, to; in the order they came.
    list: Vec<(Option<u32>, i64, i64)>,
    pub events: u64,
    pub packets: u64,
}

impl Gaps {
    pub fn add(&mut self, lost: &Lost) {
        self.events = self.events.saturating_add(lost.events);
        self.packets = self.packets.saturating_add(lost.packets);
        let new = (lost.cpu, lost.from_ns, lost.to_ns);
        let full = self.list.len() >= MAX_GAPS;
        match self.list.last_mut() {
            Some(last) if full => {
                let cpu = last.0.filter(|c| Some(*c) == new.0);
                *last = (cpu, last.1.min(new.1), last.2.max(new.2));
            }
            _ => self.list.push(new),
        }
    }

    /// Whether events of this CPU (of any, if `None`) were lost in between.
    pub fn touch(&self, cpu: Option<u32>, from: i64, to: i64) -> bool {
        if self.list.is_empty() {
            return false;
        }
        let of = |c: Option<u32>| cpu.is_none() || c.is_none() || c == cpu;
        // The latest are the likely ones.
        self.list
            .iter()
            .rev()
            .any(|(c, a, b)| of(*c) && *a < to && from < *b)
    }

    pub fn list(&self) -> &[(Option<u32>, i64, i64)] {
        &self.list
    }
}
