// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Replays the journal of an ext4 file system whose board lost power, without
//! writing: it tells which blocks have a newer version in the journal.
//!
//! The ext4 crate has a replay of its own. It stops where the log wraps
//! around its end, forgets that a revoked block must not come from an earlier
//! transaction, and needs checksums in the journal. The first two hand out old
//! contents without a word (version 1.0.0; `tests/power_cut.rs` has both), so
//! it never gets to see a journal.
//!
//! Three passes as in the kernel: find the last whole transaction, collect
//! what was revoked, then take the blocks.

use crate::ext4_super::crc32c;
use crate::journal_file::JournalFile;
use std::collections::BTreeMap;

const MAGIC: u32 = 0xc03b_3998;
const DESCRIPTOR: u32 = 1;
const COMMIT: u32 = 2;
const SUPERBLOCK_V2: u32 = 4;
const REVOKE: u32 = 5;

const REVOCATIONS: u32 = 1;
const IS_64BIT: u32 = 2;
const ASYNC_COMMIT: u32 = 4;
const CHECKSUM_V2: u32 = 8;
const CHECKSUM_V3: u32 = 0x10;
const KNOWN: u32 = REVOCATIONS | IS_64BIT | ASYNC_COMMIT | CHECKSUM_V2 | CHECKSUM_V3;

const ESCAPED: u32 = 1;
const SAME_UUID: u32 = 2;
const LAST_TAG: u32 = 8;

/// mke2fs makes none of more than 1 GiB unless told so.
const BLOCKS_MAX: u32 = 1 << 20;

/// A block's newest version: its place on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Copy {
    at: u64,
    /// Its first four bytes were replaced, because they looked like a journal's.
    escaped: bool,
}

/// What the journal knows better than the disk.
pub(crate) struct Replay {
    journal: JournalFile,
    copies: BTreeMap<u64, Copy>,
}

impl Replay {
    pub fn new(journal: JournalFile) -> Result<Replay, String> {
        let log = Log::open(&journal)?;
        let copies = match &log {
            Some(log) => log.replay()?,
            None => BTreeMap::new(),
        };
        Ok(Replay { journal, copies })
    }

    /// The newest version of a block, if the journal has one.
    pub fn block(&self, block: u64) -> Option<Result<Vec<u8>, String>> {
        let copy = self.copies.get(&block)?;
        Some(self.journal.disk_block(copy.at).map(|mut data| {
            if copy.escaped {
                data[..4].copy_from_slice(&MAGIC.to_be_bytes());
            }
            data
        }))
    }

    pub fn block_size(&self) -> u64 {
        self.journal.block_size()
    }
}

fn damaged(what: &str) -> String {
    format!("cannot be read: its journal is damaged ({what})")
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// A tag of a descriptor block: where a journal block belongs.
struct Tag {
    block: u64,
    flags: u32,
    checksum: u32,
}

/// A block of the log together with the blocks that belong to it.
struct Step {
    kind: u32,
    sequence: u32,
    data: Vec<u8>,
    tags: Vec<(Tag, u64)>,
}

struct Log<'a> {
    journal: &'a JournalFile,
    features: u32,
    uuid: [u8; 16],
    first: u32,
    end: u32,
    start: u32,
    sequence: u32,
}

impl<'a> Log<'a> {
    /// None if the journal is empty.
    fn open(journal: &'a JournalFile) -> Result<Option<Log<'a>>, String> {
        let sb = journal.read(0)?;
        let version = be32(&sb, 4);
        if be32(&sb, 0) != MAGIC || !matches!(version, 3 | SUPERBLOCK_V2) {
            return Err(damaged("its superblock"));
        }
        let features = if version == SUPERBLOCK_V2 {
            be32(&sb, 40)
        } else {
            0
        };
        if features & !KNOWN != 0 {
            return Err(format!(
                "cannot be read: the power was cut and its journal uses features \
                 (0x{:x}) that rtperf does not replay",
                features & !KNOWN
            ));
        }
        let mut uuid = [0; 16];
        uuid.copy_from_slice(&sb[48..64]);
        let log = Log {
            journal,
            features,
            uuid,
            first: be32(&sb, 20),
            end: be32(&sb, 16),
            start: be32(&sb, 28),
            sequence: be32(&sb, 24),
        };
        if log.start == 0 {
            return Ok(None);
        }
        let in_order = log.first > 0 && log.first < log.end && log.end <= BLOCKS_MAX;
        let block_size = u64::from(be32(&sb, 12));
        if !in_order || log.start >= log.end || block_size != journal.block_size() {
            return Err(damaged("its superblock"));
        }
        Ok(Some(log))
    }

    fn has_checksums(&self) -> bool {
        self.features & (CHECKSUM_V2 | CHECKSUM_V3) != 0
    }

    fn replay(&self) -> Result<BTreeMap<u64, Copy>, String> {
        let mut transactions = 0u32;
        let mut revoked: BTreeMap<u64, u32> = BTreeMap::new();
        let mut pending: Vec<(u64, u32)> = Vec::new();
        self.walk(u32::MAX, |step| {
            match step.kind {
                COMMIT => {
                    // Only revocations of whole transactions count.
                    revoked.extend(pending.drain(..));
                    transactions += 1;
                }
                REVOKE => {
                    let records = self.revocations(&step.data)?;
                    pending.extend(records.into_iter().map(|b| (b, transactions)));
                }
                _ => {}
            }
            Ok(())
        })?;
        let mut copies = BTreeMap::new();
        let mut now = 0;
        self.walk(transactions, |step| {
            if step.kind == COMMIT {
                now += 1;
            }
            for (tag, at) in &step.tags {
                if revoked.get(&tag.block).is_some_and(|at| *at >= now) {
                    continue;
                }
                self.check_data(tag, *at, step.sequence)?;
                let at = self.journal.locate(*at)?;
                let escaped = tag.flags & ESCAPED != 0;
                copies.insert(tag.block, Copy { at, escaped });
            }
            Ok(())
        })?;
        Ok(copies)
    }

    /// Goes through the log up to its end or the given number of transactions.
    fn walk(
        &self,
        transactions: u32,
        mut visit: impl FnMut(Step) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut at = self.start;
        let mut sequence = self.sequence;
        let mut seen = 0;
        let mut blocks = 0;
        while seen < transactions {
            let data = self.journal.read(at.into())?;
            let ours = be32(&data, 0) == MAGIC && be32(&data, 8) == sequence;
            // The log was overwritten from here on, or never written.
            if !ours || blocks > self.end || !self.is_whole(&data) {
                break;
            }
            let kind = be32(&data, 4);
            at = self.next(at);
            blocks += 1;
            let mut tags = Vec::new();
            if kind == DESCRIPTOR {
                for tag in self.tags(&data)? {
                    tags.push((tag, u64::from(at)));
                    at = self.next(at);
                    blocks += 1;
                }
            }
            visit(Step {
                kind,
                sequence,
                data,
                tags,
            })?;
            match kind {
                COMMIT => {
                    sequence = sequence.wrapping_add(1);
                    seen += 1;
                }
                DESCRIPTOR | REVOKE => {}
                _ => break,
            }
        }
        Ok(())
    }

    fn next(&self, at: u32) -> u32 {
        if at + 1 >= self.end {
            self.first
        } else {
            at + 1
        }
    }

    /// Whether a block of the log has its checksum, if it has to have one.
    fn is_whole(&self, data: &[u8]) -> bool {
        if !self.has_checksums() {
            return true;
        }
        let at = match be32(data, 4) {
            COMMIT => 16,
            _ => data.len() - 4,
        };
        let sum = crc32c(&[&self.uuid, &data[..at], &[0; 4], &data[at + 4..]]);
        sum == be32(data, at)
    }

    fn tags(&self, data: &[u8]) -> Result<Vec<Tag>, String> {
        let v3 = self.features & CHECKSUM_V3 != 0;
        let wide = self.features & IS_64BIT != 0;
        let v2 = if self.features & CHECKSUM_V2 != 0 {
            2
        } else {
            0
        };
        let size = match (v3, wide) {
            (true, _) => 16,
            (false, true) => 12 + v2,
            (false, false) => 8 + v2,
        };
        let end = data.len() - if self.has_checksums() { 4 } else { 0 };
        let mut out = Vec::new();
        let mut at = 12;
        while at + size <= end {
            let half = |at: usize| u32::from(u16::from_be_bytes([data[at], data[at + 1]]));
            let (flags, checksum) = match v3 {
                true => (be32(data, at + 4), be32(data, at + 12)),
                false => (half(at + 6), half(at + 4)),
            };
            let high = if wide { be32(data, at + 8) } else { 0 };
            out.push(Tag {
                block: u64::from(high) << 32 | u64::from(be32(data, at)),
                flags,
                checksum,
            });
            if flags & LAST_TAG != 0 {
                return Ok(out);
            }
            at += size + if flags & SAME_UUID == 0 { 16 } else { 0 };
        }
        Err(damaged("a descriptor without end"))
    }

    fn revocations(&self, data: &[u8]) -> Result<Vec<u64>, String> {
        let used = be32(data, 12) as usize;
        let end = data.len() - if self.has_checksums() { 4 } else { 0 };
        if used < 16 || used > end {
            return Err(damaged("a list of revoked blocks"));
        }
        let wide = self.features & IS_64BIT != 0;
        let records = data[16..used].chunks_exact(if wide { 8 } else { 4 });
        Ok(records
            .map(|r| match wide {
                true => u64::from(be32(r, 0)) << 32 | u64::from(be32(r, 4)),
                false => be32(r, 0).into(),
            })
            .collect())
    }

    fn check_data(&self, tag: &Tag, at: u64, sequence: u32) -> Result<(), String> {
        if !self.has_checksums() {
            return Ok(());
        }
        let data = self.journal.read(at)?;
        let sum = crc32c(&[&self.uuid, &sequence.to_be_bytes(), &data]);
        let same = match self.features & CHECKSUM_V3 != 0 {
            true => sum == tag.checksum,
            false => sum & 0xffff == tag.checksum,
        };
        match same {
            true => Ok(()),
            false => Err(damaged("a block of it has another checksum")),
        }
    }
}
