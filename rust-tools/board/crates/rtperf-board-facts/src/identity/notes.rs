// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! ELF notes, as `/sys/kernel/notes` holds them.

const NT_GNU_BUILD_ID: u32 = 3;

/// The GNU build id among the notes.
pub(super) fn build_id(mut notes: &[u8]) -> Option<&[u8]> {
    loop {
        let (name_len, rest) = word(notes)?;
        let (content_len, rest) = word(rest)?;
        let (kind, rest) = word(rest)?;
        let (name, rest) = padded(rest, name_len)?;
        let (content, rest) = padded(rest, content_len)?;
        if kind == NT_GNU_BUILD_ID && name == b"GNU\0" && !content.is_empty() {
            return Some(content);
        }
        notes = rest;
    }
}

fn word(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let word = bytes.get(..4)?.try_into().ok()?;
    Some((u32::from_ne_bytes(word), &bytes[4..]))
}

/// `len` bytes, and what follows them at the next multiple of four.
fn padded(bytes: &[u8], len: u32) -> Option<(&[u8], &[u8])> {
    let len = usize::try_from(len).ok()?;
    let field = bytes.get(..len)?;
    let next = len.checked_add(3)? & !3;
    // The last note may lack its padding.
    Some((field, bytes.get(next..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::damage;

    fn note(name: &[u8], kind: u32, content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [name.len() as u32, content.len() as u32, kind] {
            bytes.extend(word.to_ne_bytes());
        }
        for field in [name, content] {
            bytes.extend(field);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    #[test]
    fn finds_the_build_id_behind_other_notes() {
        let mut notes = note(b"Linux\0", 3, &[1; 5]);
        notes.extend(note(b"GNU\0", 1, &[2; 16]));
        notes.extend(note(b"GNU\0", 3, &[0xab; 20]));
        assert_eq!(build_id(&notes), Some(&[0xab; 20][..]));
        assert_eq!(build_id(&notes[..notes.len() - 1]), None);
        assert_eq!(build_id(&[]), None);
    }

    #[test]
    fn damaged_notes_end_the_search() {
        let mut notes = note(b"Xen\0\0", 3, &[1; 5]);
        notes.extend(note(b"GNU\0", 3, &[7; 20]));
        damage(&notes, |bytes| {
            assert!(build_id(bytes).map_or(true, |id| id.len() < bytes.len()));
        });
    }
}
