// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Text from a card or a file, made safe to show: it may try to steer a
//! terminal, a browser or an XML parser.

/// Longest text that is shown of one field.
const LONGEST: usize = 300;

/// One line of at most [`LONGEST`] characters without control characters,
/// marks that reorder text, or what XML cannot carry.
pub fn clean(text: &str) -> String {
    let replaced = text
        .chars()
        .map(|c| if hostile(c) { '\u{fffd}' } else { c });
    let mut out: String = replaced.take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}

fn hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(
            clean("a\x1b[31mb\nc\u{202e}d"),
            "a\u{fffd}[31mb\u{fffd}c\u{fffd}d"
        );
        assert_eq!(clean("Größe µs"), "Größe µs");
        assert_eq!(clean(&"x".repeat(1_000)).chars().count(), LONGEST + 1);
    }
}
