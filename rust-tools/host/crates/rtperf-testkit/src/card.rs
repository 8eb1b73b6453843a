// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Card images for tests: file systems by the tools that people use, and
//! partition tables by hand.

use std::fs;
use std::path::Path;
use std::process::Command;

const SECTOR: usize = 512;
const ALIGN: usize = 2048 * SECTOR / 8;

/// Runs a tool; None (and a word about it) if it is not installed.
pub fn tool(name: &str, args: &[&str]) -> Option<String> {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let found = path
        .split(':')
        .map(|d| Path::new(d).join(name))
        .find(|p| p.exists());
    let Some(found) = found else {
        eprintln!("skipped: {name} is not installed");
        return None;
    };
    let mut command = Command::new(found);
    command
        .args(args)
        .env("PATH", &path)
        .env("MTOOLS_SKIP_CHECK", "1");
    let output = command.output().expect("an installed tool can be started");
    assert!(output.status.success(), "{name} {args:?}: {output:?}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// An ext4 file system with the contents of a folder.
pub fn ext4(folder: &Path, label: &str) -> Option<Vec<u8>> {
    let tmp = crate::temp_dir();
    let image = tmp.path().join("ext4.img");
    let (image_arg, folder) = (image.to_str()?, folder.to_str()?);
    let root = "root_owner=0:0";
    let args = [
        "-q", "-t", "ext4", "-L", label, "-d", folder, "-E", root, image_arg, "4M",
    ];
    tool("mke2fs", &args)?;
    fs::read(image).ok()
}

/// A FAT file system with the contents of a folder.
pub fn vfat(folder: &Path, label: &str) -> Option<Vec<u8>> {
    let tmp = crate::temp_dir();
    let image = tmp.path().join("vfat.img");
    let image_arg = image.to_str()?;
    fs::write(&image, vec![0; 4 << 20]).expect("a test's image can be written");
    tool("mkfs.vfat", &["-n", label, image_arg])?;
    for entry in fs::read_dir(folder).expect("a test's folder can be read") {
        let path = entry.expect("a test's folder can be read").path();
        tool("mcopy", &["-s", "-i", image_arg, path.to_str()?, "::"])?;
    }
    fs::read(image).ok()
}

/// A partition to be put on a card: its MBR type and contents.
pub type Part<'a> = (u8, &'a [u8]);

/// A card with an MBR of up to four primary partitions.
pub fn mbr(parts: &[Part]) -> Vec<u8> {
    let mut card = vec![0; ALIGN];
    for (i, (kind, contents)) in parts.iter().enumerate() {
        let start = card.len();
        append(&mut card, contents);
        let len = card.len() - start;
        put_slot(&mut card, 0, i, *kind, start, len);
    }
    card
}

/// A card with one extended partition that holds logical ones, from 5.
pub fn mbr_logical(parts: &[Part]) -> Vec<u8> {
    let mut card = vec![0; ALIGN];
    let base = card.len();
    let mut before = None;
    for (kind, contents) in parts {
        let record = card.len();
        card.resize(record + ALIGN, 0);
        append(&mut card, contents);
        let len = card.len() - record - ALIGN;
        put_slot(&mut card, record, 0, *kind, ALIGN, len);
        if let Some(before) = before {
            put_slot(&mut card, before, 1, 5, record - base, len + ALIGN);
        }
        before = Some(record);
    }
    let len = card.len() - base;
    put_slot(&mut card, 0, 0, 5, base, len);
    card
}

/// A card with a GPT of named partitions.
pub fn gpt(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let total: usize = parts.iter().map(|(_, c)| c.len() + ALIGN).sum();
    let disk = std::io::Cursor::new(vec![0; total + 4 * ALIGN]);
    let mut table = gpt::GptConfig::new()
        .writable(true)
        .create_from_device(disk, None)
        .expect("a test's GPT can be made");
    let kind = gpt::partition_types::LINUX_FS;
    let mut starts = vec![];
    for (name, contents) in parts {
        let id = table.add_partition(name, contents.len() as u64, kind.clone(), 0, None);
        let id = id.expect("a test's partition can be added");
        starts.push(table.partitions()[&id].first_lba as usize * SECTOR);
    }
    let disk = table.write().expect("a test's GPT can be written");
    let mut card = disk.into_inner();
    let protective = card.len();
    put_slot(&mut card, 0, 0, 0xee, SECTOR, protective - SECTOR);
    for ((_, contents), start) in parts.iter().zip(starts) {
        card[start..start + contents.len()].copy_from_slice(contents);
    }
    card
}

fn append(card: &mut Vec<u8>, contents: &[u8]) {
    card.extend_from_slice(contents);
    card.resize(card.len().next_multiple_of(SECTOR), 0);
}

fn put_slot(card: &mut [u8], record: usize, i: usize, kind: u8, start: usize, len: usize) {
    let at = record + 446 + 16 * i;
    let sectors = |bytes: usize| ((bytes / SECTOR) as u32).to_le_bytes();
    card[at + 4] = kind;
    card[at + 8..at + 12].copy_from_slice(&sectors(start));
    card[at + 12..at + 16].copy_from_slice(&sectors(len));
    card[record + 510..record + 512].copy_from_slice(&[0x55, 0xaa]);
}
