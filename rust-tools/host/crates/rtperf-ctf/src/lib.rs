// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads traces in the Common Trace Format, version 1.8.
//!
//! Metadata is compiled once: each event class becomes a short list of
//! operations over fixed offsets. Stream files are mapped; an event is a view
//! into its packet, and nothing is allocated for it. Fields are resolved by
//! name once and then read by position.
//!
//! ```no_run
//! use rtperf_ctf::{Item, Scope, Trace};
//! # fn main() -> Result<(), rtperf_ctf::CtfError> {
//! let trace = Trace::open("my-trace".as_ref())?;
//! let switch = trace.classes().find(|(c, _)| c.name == "sched_switch");
//! let next_tid = switch.and_then(|(c, _)| c.field(Scope::Payload, "next_tid"));
//! let mut reader = trace.read();
//! while let Some(item) = reader.next_item() {
//!     match item {
//!         Item::Event(event) => {
//!             let tid = next_tid.and_then(|field| event.int(&field));
//!             println!("{} {} {tid:?}", event.time_ns(), event.name());
//!         }
//!         Item::Lost(lost) => println!("{} events are missing here", lost.events),
//!     }
//! }
//! for fault in reader.diagnostics().list() {
//!     eprintln!("{fault}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A trace is hostile input: whatever it holds, reading ends, without panic
//! and in memory bounded by the size of the metadata. Faults are
//! [`Diagnostics`] with file and offset; what can be read is.

#![deny(unsafe_code)]

mod bits;
mod builder;
mod compile;
mod cursor;
mod diag;
mod error;
mod event;
mod fault;
mod header;
mod ir;
mod layout;
mod mapped;
mod packet;
mod program;
mod reader;
mod refs;
mod run;
mod text;
mod time;
mod trace;
mod tsdl;
mod visit;

pub use diag::{Diagnostic, Diagnostics, Place};
pub use error::CtfError;
pub use event::{Event, Field};
pub use ir::{Clock, EnvValue, Metadata};
pub use layout::{EventClass, Scope, StreamInfo};
pub use reader::{Item, Lost, Reader};
pub use text::TextWriter;
pub use trace::Trace;
pub use visit::{FieldInfo, IntArray, Kind, Value, Visitor};
