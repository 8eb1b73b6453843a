// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Events that cannot be decoded.

use crate::program::Stop;
use crate::trace::Part;

/// Why the rest of a packet cannot be read.
pub enum EventFault {
    Header,
    NoClass(u64),
    Fields(u32, Stop),
    NoSize,
}

impl EventFault {
    /// What to tell, without file and place.
    pub fn message(&self, part: &Part) -> String {
        let name = |index: &u32| {
            let mut all = part.layout.streams.iter().flat_map(|s| &s.events);
            all.find(|e| e.index == *index)
                .map_or("", |e| e.name.as_str())
        };
        match self {
            EventFault::Header => "the packet ends within an event's header".into(),
            EventFault::NoClass(id) => format!("event id {id} is not in the metadata"),
            EventFault::Fields(index, Stop::PastEnd) => {
                format!("the packet ends within event '{}'", name(index))
            }
            EventFault::Fields(index, Stop::NoOption(tag)) => {
                format!(
                    "event '{}' has a variant without option for tag {tag}",
                    name(index)
                )
            }
            EventFault::NoSize => "an event without any bits".into(),
        }
    }
}
