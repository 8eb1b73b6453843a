// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The kernel's own log, searched for one message.

use crate::Root;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;

/// Longest record that the kernel hands out.
const RECORD_CAP: usize = 16 * 1024;

/// More records than the largest log buffer holds.
const RECORDS_CAP: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Search {
    Found,
    /// Not in the log, which goes back to the boot.
    Absent,
    /// Not in what is left of the log.
    Overwritten,
    Unreadable,
}

/// Looks for `message` in `/dev/kmsg`, without waiting for new records.
/// What user space wrote there does not count.
pub(super) fn search(root: &Root, message: &str) -> Search {
    let log = File::options()
        .read(true)
        .custom_flags(OFlag::O_NONBLOCK.bits())
        .open(root.path("dev/kmsg"));
    match log {
        Ok(mut log) => search_records(|buffer| log.read(buffer), message),
        Err(_) => Search::Unreadable,
    }
}

fn search_records(
    mut read: impl FnMut(&mut [u8]) -> std::io::Result<usize>,
    message: &str,
) -> Search {
    let mut buffer = vec![0; RECORD_CAP];
    let mut expected = 0;
    let mut whole = true;
    for _ in 0..RECORDS_CAP {
        let n = match read(&mut buffer) {
            Ok(n) if n > 0 => n,
            Ok(_) => break,
            Err(e) => match e.raw_os_error().map(Errno::from_raw) {
                Some(Errno::EAGAIN) => break,
                // A record was overwritten under us; the next read goes on.
                Some(Errno::EPIPE) => {
                    whole = false;
                    continue;
                }
                Some(Errno::EINTR) => continue,
                _ => return Search::Unreadable,
            },
        };
        let text = String::from_utf8_lossy(buffer.get(..n).unwrap_or_default());
        for line in text.lines() {
            let Some((from_kernel, sequence, said)) = record(line) else {
                continue;
            };
            if from_kernel && said.contains(message) {
                return Search::Found;
            }
            whole &= sequence == expected;
            expected = sequence.wrapping_add(1);
        }
    }
    match whole && expected > 0 {
        true => Search::Absent,
        false => Search::Overwritten,
    }
}

/// `priority,sequence,time,flags;message`: whether the kernel itself said it.
fn record(line: &str) -> Option<(bool, u64, &str)> {
    let (head, said) = line.split_once(';')?;
    let mut fields = head.split(',');
    let priority: u32 = fields.next()?.parse().ok()?;
    let sequence = fields.next()?.parse().ok()?;
    // The lowest three bits are the level, the rest says who spoke.
    Some((priority < 8, sequence, said))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{damage, Tree};

    const MESSAGE: &str = "sched: RT throttling activated";

    fn log(content: &str) -> Search {
        let tree = Tree::new(&format!("kmsg-{}", content.len()));
        tree.file("dev/kmsg", content);
        search(&tree.root(), MESSAGE)
    }

    #[test]
    fn tells_found_from_absent_and_from_lost() {
        let boot = "6,0,0,-;Booting Linux\n6,1,10,-;memory\n SUBSYSTEM=x\n";
        assert_eq!(log(boot), Search::Absent);
        assert_eq!(log(&format!("{boot}4,2,99,-;{MESSAGE}\n")), Search::Found);
        assert_eq!(log("6,500,1,-;late\n"), Search::Overwritten);
        assert_eq!(log(""), Search::Overwritten);
        assert_eq!(
            search(&Tree::new("kmsg").root(), MESSAGE),
            Search::Unreadable
        );
    }

    #[test]
    fn user_space_cannot_claim_it() {
        assert_eq!(log(&format!("12,0,1,-;{MESSAGE}\n")), Search::Absent);
    }

    #[test]
    fn overwritten_while_reading_and_the_end_of_the_log() {
        let mut answers = vec![
            Err(Errno::EAGAIN),
            Ok(&b"6,7,1,-;x\n"[..]),
            Err(Errno::EPIPE),
        ];
        let read = |buffer: &mut [u8]| match answers.pop().unwrap() {
            Ok(bytes) => {
                buffer[..bytes.len()].copy_from_slice(bytes);
                Ok(bytes.len())
            }
            Err(errno) => Err(std::io::Error::from_raw_os_error(errno as i32)),
        };
        assert_eq!(search_records(read, MESSAGE), Search::Overwritten);
    }

    #[test]
    fn damaged_records_are_passed_over() {
        damage(
            b"6,1,0,-;Booting\n12,18446744073709551615,1,-;x\n",
            |bytes| {
                let mut left = Some(bytes);
                search_records(
                    |buffer| {
                        let bytes = left.take().unwrap_or_default();
                        let n = bytes.len().min(buffer.len());
                        buffer[..n].copy_from_slice(&bytes[..n]);
                        Ok(n)
                    },
                    MESSAGE,
                );
            },
        );
    }
}
