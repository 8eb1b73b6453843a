// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! What the tests of collecting share. Not each of them uses all of it.
#![allow(dead_code)]

use rtperf_card::{CardError, Collection, Verdict};
use rtperf_testkit::{RunBuilder, temp_dir};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

pub const ID: &str = "image-1.0-0a1b2c3d-001";

pub fn run() -> RunBuilder {
    RunBuilder::new(ID)
        .measured("timer-latency", &[("cpu", "0")], &[5, -3, 7])
        .measured("timer-latency", &[("cpu", "1")], &[1; 500])
}

/// A folder with one good run in it.
pub fn folder() -> TempDir {
    let tmp = temp_dir();
    run().write(tmp.path());
    tmp
}

/// A folder as the root of a board that had no results partition.
pub fn board_root() -> TempDir {
    let tmp = temp_dir();
    let place = tmp.path().join("var/lib/rtperf");
    fs::create_dir_all(&place).unwrap();
    run().write(&place);
    tmp
}

pub struct Desk {
    pub tmp: TempDir,
}

impl Desk {
    pub fn new() -> Desk {
        Desk { tmp: temp_dir() }
    }

    pub fn source(&self, bytes: &[u8]) -> std::path::PathBuf {
        let path = self.tmp.path().join("card.img");
        fs::write(&path, bytes).unwrap();
        path
    }

    pub fn out(&self) -> std::path::PathBuf {
        self.tmp.path().join("out")
    }

    pub fn collect(&self, source: &Path, n: Option<u32>) -> Result<Collection, CardError> {
        rtperf_card::collect(source, &self.out(), n, &mut |_| ())
    }

    pub fn collect_image(&self, bytes: &[u8]) -> Result<Collection, CardError> {
        self.collect(&self.source(bytes), None)
    }

    /// The sentence for an image that cannot be used.
    pub fn refusal(&self, bytes: &[u8], n: Option<u32>) -> String {
        match self.collect(&self.source(bytes), n) {
            Err(CardError::Unusable(sentence)) => sentence,
            other => panic!("expected a refusal, got {other:?}"),
        }
    }
}

/// One good run was collected, and it is the one from [`folder`].
pub fn assert_good(collection: &Collection) {
    assert!(collection.is_good(), "{collection:?}");
    let [run] = &collection.runs[..] else {
        panic!("{collection:?}");
    };
    assert_eq!(run.report.verdict, Verdict::Good);
    assert_eq!((run.report.id.as_str(), run.report.samples()), (ID, 503));
    let opened = rtperf_card::RunDir::open(&run.path).unwrap();
    for m in &opened.run().measurements {
        assert_eq!(opened.samples(m).unwrap().len() as u64, m.n);
    }
}
