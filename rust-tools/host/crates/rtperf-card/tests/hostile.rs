// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Cards that were made to do harm, or were only unlucky: whatever is in an
//! image, collecting ends, in a sentence or a report, and stays in its folder.
//!
//! `RTPERF_FUZZ=50 cargo test --test hostile` tries fifty times as many.

mod common;

use common::{Desk, board_root, folder};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rtperf_testkit::card;
use std::fs;
use std::sync::LazyLock;

/// One image of each kind that can be made here, the tables at its start.
static IMAGES: LazyLock<Vec<(&'static str, Vec<u8>)>> = LazyLock::new(|| {
    let ext4 = card::ext4(folder().path(), "RTPERF");
    let root = card::ext4(board_root().path(), "root");
    let vfat = card::vfat(folder().path(), "RTPERF");
    let mut out = Vec::new();
    if let Some(ext4) = &ext4 {
        out.push(("ext4", ext4.clone()));
        out.push(("gpt", card::gpt(&[("RTPERF", ext4)])));
        out.push(("logical", card::mbr_logical(&[(0x83, ext4)])));
        // Says that its journal has to be replayed; the checksum is off, so
        // this one is only a seed for the superblock and journal code.
        let mut dirty = ext4.clone();
        dirty[1024 + 0x60] |= 4;
        out.push(("dirty", dirty));
    }
    out.extend(root.map(|r| ("root", card::mbr(&[(0x83, &r)]))));
    out.extend(vfat.map(|v| ("vfat", v)));
    out
});

/// Collects, and looks at what it left behind.
fn survive(image: &[u8]) {
    let desk = Desk::new();
    let source = desk.source(image);
    let before = fs::metadata(&source).unwrap().len();
    match desk.collect(&source, None) {
        Ok(collection) => {
            for run in &collection.runs {
                assert!(run.path.starts_with(desk.out()));
                assert!(run.path.is_dir());
            }
        }
        Err(e) => {
            let sentence = e.to_string();
            assert!(!sentence.contains(['\n', '\x1b']), "{sentence:?}");
        }
    }
    assert_eq!(fs::metadata(&source).unwrap().len(), before);
    let beside = fs::read_dir(desk.tmp.path()).unwrap();
    let names = beside.map(|e| e.unwrap().file_name());
    assert!(names.into_iter().all(|n| n == "card.img" || n == "out"));
}

/// Places that are worth changing: the tables, and any byte that is not zero.
fn targets(image: &[u8]) -> Vec<usize> {
    let used = image.iter().enumerate().filter(|(_, b)| **b != 0);
    used.map(|(i, _)| i).collect()
}

fn config(cases: u32) -> Config {
    let more = std::env::var("RTPERF_FUZZ")
        .ok()
        .and_then(|n| n.parse().ok());
    Config {
        cases: cases * more.unwrap_or(1),
        failure_persistence: None,
        ..Config::default()
    }
}

fn run_cases(cases: u32, seed: u8, test: impl Fn(&[u8], &[(prop::sample::Index, u8)], usize)) {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(config(cases), rng);
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12);
    for (name, image) in IMAGES.iter() {
        let tried = runner.run(&(changes.clone(), 0..image.len()), |(changes, cut)| {
            test(image, &changes, cut);
            Ok(())
        });
        if let Err(e) = tried {
            panic!("{name}: {e}");
        }
    }
}

#[test]
fn changed_bytes_anywhere() {
    let places: Vec<Vec<usize>> = IMAGES.iter().map(|(_, i)| targets(i)).collect();
    run_cases(60, 1, |image, changes, _| {
        let which = IMAGES
            .iter()
            .position(|(_, i)| i.as_ptr() == image.as_ptr());
        let places = &places[which.unwrap()];
        let mut image = image.to_vec();
        for (at, value) in changes {
            image[places[at.index(places.len())]] = *value;
        }
        survive(&image);
    });
}

#[test]
fn truncations_anywhere() {
    run_cases(20, 2, |image, _, cut| survive(&image[..cut]));
}

#[test]
fn random_bytes_in_the_first_structures() {
    run_cases(30, 3, |image, changes, cut| {
        let mut image = image.to_vec();
        let structures = [0, 446, 512, 1024, 2048, 4096, 1 << 17, 1 << 20];
        let at = structures[cut % structures.len()];
        let end = (at + 512).min(image.len());
        for (i, byte) in image[at.min(end)..end].iter_mut().enumerate() {
            let (index, value) = &changes[i % changes.len()];
            if index.index(3) == 0 {
                *byte = value.rotate_left(i as u32 % 8) ^ i as u8;
            }
        }
        survive(&image);
    });
}

#[test]
fn without_checksums_more_gets_through_to_the_parser() {
    let Some(ext4) = IMAGES.iter().find(|(name, _)| *name == "ext4") else {
        return;
    };
    let mut plain = ext4.1.clone();
    // metadata_csum off: nothing protects the structures from here on.
    plain[1024 + 0x65] &= !4;
    let places = targets(&plain);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[4; 32]);
    let change = (any::<prop::sample::Index>(), any::<u8>());
    let dirty = any::<bool>();
    TestRunner::new_with_rng(config(200), rng)
        .run(
            &(prop::collection::vec(change, 1..8), dirty),
            |(changes, dirty)| {
                let mut image = plain.clone();
                for (at, value) in changes {
                    image[places[at.index(places.len())]] = value;
                }
                if dirty {
                    image[1024 + 0x60] |= 4;
                }
                survive(&image);
                Ok(())
            },
        )
        .unwrap();
}

#[test]
fn huge_claims_take_no_memory() {
    let Some((_, ext4)) = IMAGES.iter().find(|(name, _)| *name == "ext4") else {
        return;
    };
    // Groups of one block would make the parser allocate a table of millions.
    let mut image = ext4.clone();
    image[1024 + 0x65] &= !4;
    image[1024 + 0x20..1024 + 0x24].copy_from_slice(&1u32.to_le_bytes());
    let e = Desk::new().refusal(&image, None);
    assert!(e.contains("superblock is damaged"), "{e}");
    // 2^32 blocks in 4 MB.
    let mut image = ext4.clone();
    image[1024 + 4..1024 + 8].fill(0xff);
    let e = Desk::new().refusal(&image, None);
    assert!(e.contains("larger than its partition"), "{e}");
}
