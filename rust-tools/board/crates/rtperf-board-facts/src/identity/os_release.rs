// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `os-release`: shell assignments without expansion.

use std::collections::BTreeMap;

/// More than any distribution has.
const KEYS_CAP: usize = 64;

/// Reads assignments; what is none is passed over, as the shell's comments are.
pub(super) fn parse(text: &str) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for line in text.lines() {
        let Some((key, value)) = line.trim().split_once('=') else {
            continue;
        };
        let named = |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_';
        if !key.is_empty() && key.bytes().all(named) && out.len() < KEYS_CAP {
            out.insert(key.to_owned(), unquote(value));
        }
    }
    out
}

fn unquote(value: &str) -> String {
    let (inner, escapes) = match value.as_bytes() {
        [b'\'', .., b'\''] => (&value[1..value.len() - 1], false),
        [b'"', .., b'"'] => (&value[1..value.len() - 1], true),
        _ => (value, true),
    };
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        let c = if c == '\\' && escapes {
            chars.next().unwrap_or(c)
        } else {
            c
        };
        if !c.is_control() {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::damage;

    const TEXT: &str =
        "# comment\nID=poky\nNAME=\"Yocto \\\"x\\\"\"\nA='b\\c'\n\nbad key=1\nX=\nQ=\"\n";

    #[test]
    fn assignments_are_unquoted() {
        let os = parse(TEXT);
        assert_eq!(os["ID"], "poky");
        assert_eq!(os["NAME"], "Yocto \"x\"");
        assert_eq!(os["A"], "b\\c");
        assert_eq!(os["X"], "");
        assert_eq!(os["Q"], "\"");
        assert_eq!(os.len(), 5);
    }

    #[test]
    fn damage_yields_clean_short_maps() {
        damage(TEXT.as_bytes(), |bytes| {
            let os = parse(&String::from_utf8_lossy(bytes));
            assert!(os.len() <= KEYS_CAP);
            assert!(os.values().all(|v| !v.contains(char::is_control)));
        });
    }
}
