// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Metadata as LTTng writes it: text cut into packets, or plain.

use crate::bits::array;

const MAGIC: u32 = 0x75d1_1d57;
/// magic, uuid, checksum, content size, packet size, three schemes, version.
const HEADER: usize = 37;

/// The text of a metadata file, and what was wrong with its packets: byte
/// offset and message.
pub fn text_of(data: &[u8]) -> (String, Vec<(u64, String)>) {
    let big = match array::<4>(data, 0) {
        Some(b) if u32::from_le_bytes(b) == MAGIC => false,
        Some(b) if u32::from_be_bytes(b) == MAGIC => true,
        _ => return (String::from_utf8_lossy(data).into_owned(), vec![]),
    };
    let (mut text, mut faults, mut at) = (Vec::new(), Vec::new(), 0);
    while at < data.len() {
        match packet(&data[at..], big) {
            Ok((content, size)) => {
                text.extend_from_slice(content);
                at += size;
            }
            Err(Fault { why, content }) => {
                text.extend_from_slice(content);
                faults.push((at as u64, format!("metadata packet {why}")));
                break;
            }
        }
    }
    (String::from_utf8_lossy(&text).into_owned(), faults)
}

struct Fault<'a> {
    why: String,
    /// What is readable all the same.
    content: &'a [u8],
}

/// The text in the packet at the start of `data`, and the packet's bytes.
fn packet(data: &[u8], big: bool) -> Result<(&[u8], usize), Fault<'_>> {
    let fault = |why: String| Fault { why, content: &[] };
    let word = |at| {
        let b = array::<4>(data, at)?;
        Some(if big {
            u32::from_be_bytes(b)
        } else {
            u32::from_le_bytes(b)
        })
    };
    if data.len() < HEADER {
        return Err(fault(format!("is cut off after {} bytes", data.len())));
    }
    if word(0) != Some(MAGIC) {
        return Err(fault("has no magic number; the rest is not read".into()));
    }
    let content = word(24).unwrap_or(0) as usize / 8;
    let size = word(28).unwrap_or(0) as usize / 8;
    if data[32..35] != [0; 3] {
        return Err(fault(
            "is compressed, encrypted or checksummed, which is not supported".into(),
        ));
    }
    if content < HEADER || size < content {
        return Err(fault(format!(
            "says {content} bytes of content in {size}; the rest is not read"
        )));
    }
    if size > data.len() {
        let content = &data[HEADER..content.min(data.len())];
        let why = format!("is cut off: {} of {size} bytes", data.len());
        return Err(Fault { why, content });
    }
    Ok((&data[HEADER..content], size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(text: &str, padding: usize) -> Vec<u8> {
        let mut p = MAGIC.to_le_bytes().to_vec();
        p.extend([0; 20]);
        p.extend((((HEADER + text.len()) * 8) as u32).to_le_bytes());
        p.extend((((HEADER + text.len() + padding) * 8) as u32).to_le_bytes());
        p.extend([0, 0, 0, 1, 8]);
        p.extend(text.bytes());
        p.extend(std::iter::repeat_n(0, padding));
        p
    }

    #[test]
    fn packets_join_and_padding_goes() {
        let data = [packed("abc", 7), packed("def", 0)].concat();
        assert_eq!(text_of(&data), ("abcdef".into(), vec![]));
        assert_eq!(text_of(b"plain").0, "plain");
        assert_eq!(text_of(b"").0, "");
    }

    #[test]
    fn a_cut_off_packet_keeps_what_is_there() {
        let data = [packed("abc", 0), packed("defghi", 4)].concat();
        let (text, faults) = text_of(&data[..data.len() - 7]);
        assert_eq!(text, "abcdef");
        assert_eq!(faults[0].0, 40);
        let mut wrong = data.clone();
        wrong[24] = 1;
        assert_eq!(text_of(&wrong).0, "");
    }
}
