// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The board as a machine: what it is ([`identity`]), whether figures taken on
//! it can be trusted ([`checks`]), what a plan changes on it ([`settings`]),
//! where results go ([`place`]) and how they get there ([`durable`]).
//!
//! Every file is read below a [`Root`], up to a bound, and may hold anything.

pub mod checks;
pub mod durable;
pub mod identity;
pub mod place;
mod root;
pub mod settings;
mod virtualization;

pub use root::Root;

/// One sentence to the user: what, where, what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactsError(pub String);

impl std::fmt::Display for FactsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FactsError {}

#[cfg(test)]
mod testing;
