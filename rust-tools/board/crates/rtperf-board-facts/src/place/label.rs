// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Labels of ext2/3/4 and FAT file systems, from their raw bytes.

/// What a device holds, of the kinds that take results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileSystem {
    pub kind: Kind,
    pub label: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ext,
    Fat,
}

/// Recognises a file system. `read(offset, length)` gives exactly `length`
/// bytes of the device, or nothing.
pub(super) fn file_system(read: &dyn Fn(u64, usize) -> Option<Vec<u8>>) -> Option<FileSystem> {
    ext(read).or_else(|| fat(read))
}

/// The superblock is 1024 bytes into the device.
fn ext(read: &dyn Fn(u64, usize) -> Option<Vec<u8>>) -> Option<FileSystem> {
    let superblock = read(1024, 1024)?;
    if le16(&superblock, 56)? != 0xef53 {
        return None;
    }
    let label = superblock.get(120..136)?;
    let label = label.split(|b| *b == 0).next().unwrap_or_default();
    Some(FileSystem {
        kind: Kind::Ext,
        label: text(label),
    })
}

/// Largest root directory that is searched for the label.
const ROOT_CAP: usize = 64 * 1024;

const ENTRY: usize = 32;

fn fat(read: &dyn Fn(u64, usize) -> Option<Vec<u8>>) -> Option<FileSystem> {
    let boot = read(0, 512)?;
    let sector = u64::from(le16(&boot, 11)?);
    let (cluster, tables) = (u64::from(*boot.get(13)?), u64::from(*boot.get(16)?));
    let reserved = u64::from(le16(&boot, 14)?);
    let sound = boot.get(510..512)? == [0x55, 0xaa]
        && matches!(sector, 512 | 1024 | 2048 | 4096)
        && cluster.is_power_of_two()
        && matches!(tables, 1 | 2)
        && reserved > 0;
    if !sound {
        return None;
    }
    let table = u64::from(le16(&boot, 22)?);
    let (root, root_len, labelled, label_at) = if table != 0 {
        let entries = usize::from(le16(&boot, 17)?);
        (reserved + tables * table, entries * ENTRY, 38, 43)
    } else {
        let first = u64::from(le32(&boot, 44)?).saturating_sub(2);
        let data = reserved + tables * u64::from(le32(&boot, 36)?);
        // Only the first cluster: that is where formatting puts the label.
        (data + first * cluster, (cluster * sector) as usize, 66, 71)
    };
    let in_boot = (*boot.get(labelled)? == 0x29).then(|| boot.get(label_at..label_at + 11));
    let root = read(root * sector, root_len.min(ROOT_CAP)).unwrap_or_default();
    // Tools that rename a card write the directory's label only.
    let label = root_label(&root).or(in_boot.flatten());
    let label = label.and_then(text).filter(|label| label != "NO NAME");
    Some(FileSystem {
        kind: Kind::Fat,
        label,
    })
}

/// The volume label's entry among those of the root directory.
fn root_label(root: &[u8]) -> Option<&[u8]> {
    const DELETED: u8 = 0xe5;
    const ATTRIBUTES: usize = 11;
    let mut entries = root.chunks_exact(ENTRY).take_while(|entry| entry[0] != 0);
    let label = entries.find(|e| e[0] != DELETED && e[ATTRIBUTES] & 0x3f == 0x08);
    label.and_then(|entry| entry.get(..ATTRIBUTES))
}

fn text(label: &[u8]) -> Option<String> {
    let label = std::str::from_utf8(label).ok()?.trim_end();
    (!label.is_empty()).then(|| label.to_owned())
}

fn le16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn le32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::testing::damage;

    pub fn ext_image(label: &str) -> Vec<u8> {
        let mut image = vec![0; 4096];
        image[1024 + 56..][..2].copy_from_slice(&0xef53u16.to_le_bytes());
        image[1024 + 120..][..label.len()].copy_from_slice(label.as_bytes());
        image
    }

    fn padded(label: &str) -> Vec<u8> {
        format!("{label:<11}").into_bytes()
    }

    /// FAT16 or FAT32 with a label in the boot sector and one in the root.
    pub fn fat_image(wide: bool, boot: &str, root: Option<&str>) -> Vec<u8> {
        let mut image = vec![0; 8192];
        image[11..13].copy_from_slice(&512u16.to_le_bytes());
        (image[13], image[14], image[16]) = (1, 1, 2);
        image[510..512].copy_from_slice(&[0x55, 0xaa]);
        let at = if wide { 71 } else { 43 };
        (image[if wide { 36 } else { 22 }], image[at - 5]) = (3, 0x29);
        (image[17], image[44]) = if wide { (0, 3) } else { (32, 0) };
        image[at..at + 11].copy_from_slice(&padded(boot));
        // One sector of boot, two tables of three; FAT32's root is cluster 3.
        let start = 512 * if wide { 8 } else { 7 };
        image[start] = 0xe5;
        image[start + 11] = 8;
        if let Some(label) = root {
            image[start + 32..start + 43].copy_from_slice(&padded(label));
            image[start + 43] = 8;
        }
        image
    }

    fn of(image: &[u8]) -> Option<FileSystem> {
        file_system(&|offset, length| {
            let start = usize::try_from(offset).ok()?;
            Some(image.get(start..start.checked_add(length)?)?.to_vec())
        })
    }

    fn label(image: &[u8]) -> Option<String> {
        of(image).and_then(|fs| fs.label)
    }

    #[test]
    fn ext_labels() {
        let fs = of(&ext_image("RTPERF")).unwrap();
        assert_eq!((fs.kind, fs.label.as_deref()), (Kind::Ext, Some("RTPERF")));
        assert_eq!(label(&ext_image("")), None);
        assert_eq!(label(&ext_image("sixteen-letters!")).unwrap().len(), 16);
    }

    #[test]
    fn fat_labels_from_root_or_boot_sector() {
        for wide in [false, true] {
            let image = fat_image(wide, "NO NAME", Some("RTPERF"));
            assert_eq!(label(&image).as_deref(), Some("RTPERF"), "FAT32: {wide}");
            assert_eq!(
                label(&fat_image(wide, "RTPERF", None)).as_deref(),
                Some("RTPERF")
            );
            assert_eq!(
                label(&fat_image(wide, "OLD", Some("NEW"))).as_deref(),
                Some("NEW")
            );
            let bare = fat_image(wide, "NO NAME", None);
            assert_eq!(
                of(&bare),
                Some(FileSystem {
                    kind: Kind::Fat,
                    label: None
                })
            );
        }
    }

    #[test]
    fn anything_else_is_no_file_system() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[0; 8192]), None);
        assert_eq!(of(&[0xff; 8192]), None);
    }

    #[test]
    fn damaged_file_systems_never_panic() {
        for image in [ext_image("RTPERF"), fat_image(false, "A", Some("B"))] {
            damage(&image, |bytes| drop(of(bytes)));
        }
        // Damage where it hurts: the boot sector's own fields.
        let image = fat_image(true, "A", Some("B"));
        damage(&image[..72], |bytes| {
            let mut whole = image.clone();
            let n = bytes.len().min(72);
            whole[..n].copy_from_slice(&bytes[..n]);
            drop(of(&whole));
        });
    }
}
