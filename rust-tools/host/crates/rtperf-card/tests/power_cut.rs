// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! ext4 whose journal was not replayed before the card was pulled. debugfs
//! writes the journals; e2fsck's own replay says what is right.

mod common;

use common::{Desk, ID, assert_good, folder};
use rtperf_card::Verdict;
use rtperf_testkit::{card, temp_dir};
use std::fs;

const BLOCK: usize = 1024;

/// An image whose run.json is only whole if the journal is replayed.
struct PowerCut {
    image: Vec<u8>,
    /// The block of the file system that run.json is in.
    block: usize,
    /// The blocks of the journal, in order: they are not all in one place.
    journal: Vec<usize>,
}

/// Builds one; `csum` are debugfs' options for the journal, and the journal
/// is `lines` of it, where BLK is the block and GOOD, BAD its contents.
fn power_cut(csum: &str, lines: &str) -> Option<PowerCut> {
    let mut image = card::ext4(folder().path(), "RTPERF")?;
    let tmp = temp_dir();
    let at = |name: &str| tmp.path().join(name).to_str().unwrap().to_owned();
    fs::write(at("card.img"), &image).unwrap();
    let request = format!("blocks /{ID}/run.json");
    let blocks = card::tool("debugfs", &["-R", &request, &at("card.img")])?;
    let block: usize = blocks.split_whitespace().next().unwrap().parse().unwrap();
    let bytes = block * BLOCK..(block + 1) * BLOCK;
    fs::write(at("GOOD"), &image[bytes.clone()]).unwrap();
    fs::write(at("BAD"), [b'?'; BLOCK]).unwrap();
    image[bytes].fill(0);
    fs::write(at("card.img"), &image).unwrap();
    let lines = lines
        .replace("BLK", &block.to_string())
        .replace("GOOD", &at("GOOD"))
        .replace("BAD", &at("BAD"));
    fs::write(at("commands"), format!("jo {csum}\n{lines}\njc\n")).unwrap();
    card::tool("debugfs", &["-w", "-f", &at("commands"), &at("card.img")])?;
    let journal = card::tool("debugfs", &["-R", "blocks <8>", &at("card.img")])?;
    let journal = journal.split_whitespace().map(|b| b.parse().unwrap());
    Some(PowerCut {
        image: fs::read(at("card.img")).unwrap(),
        block,
        journal: journal.collect(),
    })
}

impl PowerCut {
    /// The image after e2fsck has replayed its journal.
    fn replayed_by_e2fsck(&self) -> Option<Vec<u8>> {
        let tmp = temp_dir();
        let path = tmp.path().join("card.img");
        fs::write(&path, &self.image).unwrap();
        card::tool("e2fsck", &["-E", "journal_only", "-y", path.to_str()?])?;
        fs::read(path).ok()
    }

    /// Collects both; they must agree on whether the run is whole.
    fn check(&self, whole: bool) {
        let desk = Desk::new();
        let ours = desk.collect_image(&self.image).unwrap();
        assert_eq!(ours.is_good(), whole, "{ours:?}");
        if whole {
            assert_good(&ours);
        } else {
            assert_eq!(ours.runs[0].report.verdict, Verdict::Damaged);
        }
        if let Some(replayed) = self.replayed_by_e2fsck() {
            let theirs = Desk::new().collect_image(&replayed).unwrap();
            assert_eq!(theirs.is_good(), whole, "e2fsck: {theirs:?}");
        }
    }
}

const CHECKSUMS: [&str; 3] = ["-c -v 3", "-c -v 2", ""];

#[test]
fn the_journals_blocks_are_seen() {
    for csum in CHECKSUMS {
        let Some(cut) = power_cut(csum, "jw -b BLK BAD\njw -b BLK GOOD") else {
            return;
        };
        assert_eq!(cut.image[cut.block * BLOCK], 0);
        cut.check(true);
    }
}

#[test]
fn the_last_version_of_a_block_wins() {
    if let Some(cut) = power_cut("-c -v 3", "jw -b BLK GOOD\njw -b BLK BAD") {
        cut.check(false);
    }
}

#[test]
fn a_revoked_block_comes_from_the_disk() {
    for csum in CHECKSUMS {
        if let Some(cut) = power_cut(csum, "jw -b BLK GOOD\njw -r BLK") {
            cut.check(false);
        }
        if let Some(cut) = power_cut(csum, "jw -b BLK BAD\njw -r BLK\njw -b BLK GOOD") {
            cut.check(true);
        }
    }
}

#[test]
fn an_uncommitted_transaction_does_not_count() {
    for csum in CHECKSUMS {
        if let Some(cut) = power_cut(csum, "jw -b BLK GOOD\njw -b BLK BAD -c") {
            cut.check(true);
        }
    }
}

#[test]
fn a_log_that_wraps_around_is_followed() {
    for csum in CHECKSUMS {
        let Some(mut cut) = power_cut(csum, "jw -b BLK BAD\njw -b BLK GOOD") else {
            return;
        };
        wrap(&mut cut, 4);
        cut.check(true);
    }
}

/// Moves the log so that its `before` first blocks stand at the journal's
/// end and the others at its beginning. Nothing in them tells their place.
fn wrap(cut: &mut PowerCut, before: usize) {
    let (image, journal) = (&mut cut.image, &cut.journal);
    let head = journal[0] * BLOCK;
    let number = |at: usize| u32::from_be_bytes(image[at..at + 4].try_into().unwrap()) as usize;
    let (len, first, start) = (number(head + 16), number(head + 20), number(head + 28));
    assert_eq!((len, first, start), (journal.len(), 1, 1));
    let block = |i: usize| journal[i] * BLOCK..(journal[i] + 1) * BLOCK;
    let mut log: Vec<Vec<u8>> = (1..len).map(|i| image[block(i)].to_vec()).collect();
    log.rotate_left(before);
    for (i, data) in log.iter().enumerate() {
        image[block(i + 1)].copy_from_slice(data);
    }
    let start = (len - before) as u32;
    image[head + 28..head + 32].copy_from_slice(&start.to_be_bytes());
    // The journal's own checksum: CRC-32C with that field zero.
    if image[head + 0x50] != 0 {
        image[head + 0xfc..head + 0x100].fill(0);
        let crc = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI);
        let sum = !crc.checksum(&image[head..head + 1024]);
        image[head + 0xfc..head + 0x100].copy_from_slice(&sum.to_be_bytes());
    }
}

#[test]
fn a_damaged_journal_is_said() {
    let Some(cut) = power_cut("-c -v 3", "jw -b BLK GOOD") else {
        return;
    };
    // Superblock, descriptor, data.
    let mut image = cut.image.clone();
    image[cut.journal[2] * BLOCK] ^= 1;
    let e = Desk::new().refusal(&image, None);
    assert!(
        e.contains("its journal is damaged (a block of it has another checksum)"),
        "{e}"
    );
}

#[test]
fn a_journal_of_the_ext3_kind_is_refused() {
    let (source, tmp) = (folder(), temp_dir());
    let path = tmp.path().join("ext3.img");
    let (from, to) = (source.path().to_str().unwrap(), path.to_str().unwrap());
    let args = ["-q", "-t", "ext3", "-L", "RTPERF", "-d", from, to, "4M"];
    if card::tool("mke2fs", &args).is_none() {
        return;
    }
    let mut image = fs::read(&path).unwrap();
    // As it is after a clean unmount, it is read.
    let desk = Desk::new();
    assert_good(&desk.collect_image(&image).unwrap());
    image[1024 + 0x60] |= 4;
    let e = Desk::new().refusal(&image, None);
    assert!(e.contains("its journal is of the ext3 kind"), "{e}");
    assert!(e.contains("try fsck.ext4 on a copy of the card"), "{e}");
}
