// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! All streams as one, in order of time: O(log streams) per event.

use crate::cursor::Cursor;
use crate::diag::Diagnostics;
use crate::event::Event;
use crate::trace::{Part, StreamFile};

/// Events that the tracer had no room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// How many; 0 if only packets are known to be missing.
    pub events: u64,
    /// Whole packets missing, with an unknown number of events.
    pub packets: u64,
    pub cpu: Option<u32>,
    /// They were lost somewhere between these times.
    pub from_ns: i64,
    pub to_ns: i64,
}

/// What a reader hands out.
pub enum Item<'r> {
    Event(Event<'r>),
    /// Comes before the events that follow it in its stream.
    Lost(Lost),
}

/// Reads a trace once, from its beginning.
pub struct Reader<'t> {
    cursors: Vec<Cursor<'t>>,
    /// A heap of (time, cursor), earliest first, equal times in stream order.
    heap: Vec<(i64, u32)>,
    /// The event on top was handed out: advance before the next.
    taken: bool,
    lost: Vec<Lost>,
    diagnostics: Diagnostics,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(
        streams: impl Iterator<Item = Vec<(&'t Part, &'t StreamFile)>>,
    ) -> Reader<'t> {
        let mut reader = Reader {
            cursors: streams.filter_map(Cursor::new).collect(),
            heap: vec![],
            taken: false,
            lost: vec![],
            diagnostics: Diagnostics::default(),
        };
        for i in 0..reader.cursors.len() {
            let cursor = &mut reader.cursors[i];
            if cursor.advance(&mut reader.diagnostics, &mut reader.lost) {
                reader.heap.push((cursor.time_ns, i as u32));
            }
        }
        reader.heap.sort_unstable();
        reader.lost.reverse();
        reader
    }

    /// The next event or loss; `None` at the end.
    #[inline]
    pub fn next_item(&mut self) -> Option<Item<'_>> {
        if self.taken {
            self.taken = false;
            self.step();
        }
        if let Some(lost) = self.lost.pop() {
            return Some(Item::Lost(lost));
        }
        let (_, i) = *self.heap.first()?;
        self.taken = true;
        Some(Item::Event(Event {
            cursor: &self.cursors[i as usize],
        }))
    }

    /// The next event, whatever was lost before it.
    #[inline]
    pub fn next_event(&mut self) -> Option<Event<'_>> {
        if self.taken {
            self.step();
        }
        self.lost.clear();
        let (_, i) = *self.heap.first()?;
        self.taken = true;
        Some(Event {
            cursor: &self.cursors[i as usize],
        })
    }

    /// What was wrong in the streams read so far.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    #[inline]
    fn step(&mut self) {
        let Some(top) = self.heap.first_mut() else {
            return;
        };
        let cursor = &mut self.cursors[top.1 as usize];
        if cursor.advance(&mut self.diagnostics, &mut self.lost) {
            top.0 = cursor.time_ns;
        } else {
            self.heap.swap_remove(0);
        }
        self.sift_down();
    }

    #[inline]
    fn sift_down(&mut self) {
        let heap = self.heap.as_mut_slice();
        let mut at = 0;
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let Some(mut least) = heap.get(left).map(|_| left) else {
                return;
            };
            if right < heap.len() && heap[right] < heap[left] {
                least = right;
            }
            if heap[at] <= heap[least] {
                return;
            }
            heap.swap(at, least);
            at = least;
        }
    }
}
