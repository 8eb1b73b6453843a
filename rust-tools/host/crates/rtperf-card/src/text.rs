// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Text from a card, made fit for a terminal.

use std::borrow::Cow;

/// `text` with everything escaped that could move the cursor, recolour the
/// terminal or reorder a line: control characters and the bidirectional and
/// invisible formatting characters.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_disguise) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_disguise(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

pub(crate) fn is_disguise(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_controls_become_visible() {
        assert_eq!(printable("\x1b[2Jroot\r\n"), "\\u{1b}[2Jroot\\r\\n");
        assert_eq!(printable("a\u{202e}b\u{85}"), "a\\u{202e}b\\u{85}");
    }

    #[test]
    fn plain_text_stays_as_it_is() {
        assert!(matches!(printable("Raspberry Pi 5 µs ü"), Cow::Borrowed(_)));
    }
}
