// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Keeps a panic of a foreign parser from ending the program. A card that
//! makes one panic is a damaged card, and gets a sentence like any other.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs `parse`; a panic inside it becomes an error and prints nothing.
///
/// What `parse` borrows may be left half changed by a panic. That is safe
/// here: every parser is only read from, and at worst panics again.
pub(crate) fn contained<T>(parse: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !SILENT.get() {
                previous(info);
            }
        }));
    });
    let before = SILENT.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(parse));
    SILENT.set(before);
    result.unwrap_or_else(|_| Err("its structures contradict each other".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let empty: Vec<u8> = vec![];
        let e = contained(|| Ok::<u8, String>(empty[1])).unwrap_err();
        assert!(e.contains("contradict"));
        assert_eq!(contained(|| Ok::<u8, String>(1)), Ok(1));
        assert!(!SILENT.get());
    }
}
