// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! `/proc/self/mountinfo`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Where a device is mounted whole, rather writable than not.
pub(super) fn mount_point(mountinfo: &str, device: (u32, u32)) -> Option<PathBuf> {
    let mut read_only = None;
    for (path, writable) in mountinfo.lines().filter_map(|line| mount_of(line, device)) {
        if writable {
            return Some(path);
        }
        read_only.get_or_insert(path);
    }
    read_only
}

/// `id parent major:minor root mount-point options …`
fn mount_of(line: &str, device: (u32, u32)) -> Option<(PathBuf, bool)> {
    let mut fields = line.split(' ').skip(2);
    let (major, minor) = fields.next()?.split_once(':')?;
    let this = (major.parse().ok()?, minor.parse().ok()?);
    let whole = fields.next()? == "/";
    let path = unescape(fields.next()?);
    let writable = fields.next()?.split(',').all(|option| option != "ro");
    (this == device && whole).then_some((path, writable))
}

/// Space, tab, line end and backslash stand there as `\040` and the like.
fn unescape(text: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..]) => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = tail;
            }
            _ => bytes.push(*first),
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::damage;

    const TABLE: &str = "27 1 179:1 / / rw,relatime - ext4 /dev/root rw\n\
        28 27 179:2 /sub /srv rw - ext4 /dev/mmcblk0p2 rw\n\
        29 27 179:2 / /mnt/a ro,nosuid - ext4 /dev/mmcblk0p2 rw\n\
        30 27 179:2 / /media/my\\040card rw,nosuid shared:3 - ext4 /dev/mmcblk0p2 rw\n";

    #[test]
    fn finds_the_writable_whole_mount() {
        let find = |table, device| mount_point(table, device).map(PathBuf::into_os_string);
        assert_eq!(find(TABLE, (179, 2)), Some("/media/my card".into()));
        assert_eq!(find(TABLE, (179, 3)), None);
        let without = TABLE.lines().take(3).collect::<Vec<_>>().join("\n");
        assert_eq!(find(&without, (179, 2)), Some("/mnt/a".into()));
    }

    #[test]
    fn escapes_that_are_none_stay() {
        assert_eq!(unescape("/a\\134b\\9\\04"), PathBuf::from("/a\\b\\9\\04"));
    }

    #[test]
    fn damaged_tables_name_some_path_or_none() {
        damage(TABLE.as_bytes(), |bytes| {
            let found = mount_point(&String::from_utf8_lossy(bytes), (179, 2));
            assert!(found.map_or(true, |p| p.as_os_str().len() <= 3 * bytes.len()));
        });
    }
}
