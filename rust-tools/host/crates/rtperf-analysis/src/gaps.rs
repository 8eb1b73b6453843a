// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Times in which events were lost.

use rtperf_ctf::Lost;

/// Gaps remembered at once; a trace with more loses precision, not memory:
/// neighbours are joined.
const MAX_GAPS: usize = 4096;

#[derive(Debug, Clone, Copy)]
pub struct Gap {
    /// `None`: of any.
    pub cpu: Option<u32>,
    pub from: i64,
    pub to: i64,
    /// The latest end of this gap and all before it.
    latest: i64,
}

#[derive(Debug, Default)]
pub struct Gaps {
    /// In the order they came.
    list: Vec<Gap>,
    pub events: u64,
    pub packets: u64,
}

impl Gaps {
    pub fn add(&mut self, lost: &Lost) {
        self.events = self.events.saturating_add(lost.events);
        self.packets = self.packets.saturating_add(lost.packets);
        let mut new = Gap {
            cpu: lost.cpu,
            from: lost.from_ns,
            to: lost.to_ns,
            latest: lost.to_ns,
        };
        if self.list.len() >= MAX_GAPS
            && let Some(last) = self.list.pop()
        {
            new.cpu = new.cpu.filter(|cpu| Some(*cpu) == last.cpu);
            new.from = new.from.min(last.from);
            new.to = new.to.max(last.to);
        }
        let before = self.list.last().map_or(i64::MIN, |gap| gap.latest);
        new.latest = new.to.max(before);
        self.list.push(new);
    }

    /// Whether events of this CPU (of any, if `None`) were lost in between.
    pub fn touch(&self, cpu: Option<u32>, from: i64, to: i64) -> bool {
        let of = |c: Option<u32>| cpu.is_none() || c.is_none() || c == cpu;
        // The latest are the likely ones; most samples are after all gaps.
        let mut near = self.list.iter().rev().take_while(|gap| from < gap.latest);
        near.any(|gap| of(gap.cpu) && gap.from < to && from < gap.to)
    }

    pub fn list(&self) -> &[Gap] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(cpu: Option<u32>, from_ns: i64, to_ns: i64) -> Lost {
        Lost {
            events: 1,
            packets: 0,
            cpu,
            from_ns,
            to_ns,
        }
    }

    #[test]
    fn gaps_touch_what_overlaps_them_on_their_cpu() {
        let mut gaps = Gaps::default();
        gaps.add(&lost(Some(0), 100, 900));
        gaps.add(&lost(Some(1), 200, 300));
        assert!(
            gaps.touch(Some(0), 850, 1000),
            "an earlier gap that ends later"
        );
        assert!(!gaps.touch(Some(1), 300, 1000) && gaps.touch(Some(1), 299, 1000));
        assert!(gaps.touch(None, 400, 500) && !gaps.touch(Some(2), 0, 1000));
        assert!(!gaps.touch(Some(0), 0, 100));
        gaps.add(&lost(None, 2000, 2100));
        assert!(gaps.touch(Some(7), 0, 5000));
    }

    #[test]
    fn very_many_gaps_are_joined() {
        let mut gaps = Gaps::default();
        for i in 0..10_000 {
            gaps.add(&lost(Some(3), i * 10, i * 10 + 1));
        }
        assert_eq!((gaps.list().len(), gaps.events), (MAX_GAPS, 10_000));
        assert!(!gaps.touch(Some(3), 99_995, 100_000));
        assert!(gaps.touch(Some(3), 99_000, 99_001) && !gaps.touch(Some(3), 15, 16));
    }
}
