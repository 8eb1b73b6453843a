// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Boards made of files, and damage that is the same on every run.

use crate::Root;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Tests run beside each other.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A folder that looks like a board's root; gone when dropped.
pub struct Tree(PathBuf);

impl Tree {
    pub fn new(name: &str) -> Tree {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let unique = format!("rtperf-facts-{}-{number}-{name}", std::process::id());
        let path = std::env::temp_dir().join(unique);
        std::fs::create_dir_all(&path).expect("tests can write to the temporary folder");
        Tree(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn root(&self) -> Root {
        Root::new(&self.0)
    }

    pub fn folder(&self, relative: &str) {
        std::fs::create_dir_all(self.0.join(relative)).expect("a folder in the tree");
    }

    pub fn file(&self, relative: &str, content: impl AsRef<[u8]>) {
        let path = self.0.join(relative);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("a folder in the tree");
        }
        std::fs::write(path, content).expect("a file in the tree");
    }

    pub fn read(&self, relative: &str) -> String {
        std::fs::read_to_string(self.0.join(relative)).expect("a file of the tree")
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Small pseudo-random numbers, the same ones every time.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Calls `parse` with 3,000 damaged copies of `good`: bytes changed (often to
/// an extreme value), cut off, doubled; and with plain noise.
pub fn damage(good: &[u8], mut parse: impl FnMut(&[u8])) {
    let mut dice = Dice::new(0x9e37_79b9_7f4a_7c15);
    for round in 0..3_000 {
        let mut bytes = good.to_vec();
        for _ in 0..=dice.below(8) {
            let at = dice.below(bytes.len());
            let value = [0, 0xff, 0x7f, 0x80, dice.next() as u8][dice.below(5)];
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
        }
        match round % 4 {
            1 => bytes.truncate(dice.below(good.len())),
            2 => bytes.extend_from_slice(good),
            3 => bytes.iter_mut().for_each(|b| *b = dice.next() as u8),
            _ => {}
        }
        parse(&bytes);
    }
}
