// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Front end for the metadata language of CTF 1.8 (TSDL).

mod attributes;
mod blocks;
mod lexer;
mod packets;
mod parser;
mod types;

pub use packets::text_of;
pub use parser::parse;
