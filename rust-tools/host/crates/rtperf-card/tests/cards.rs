// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Finding the results on cards of all layouts, and refusing what is no card.

mod common;

use common::{Desk, ID, assert_good, board_root, folder};
use rtperf_testkit::{card, temp_dir};
use std::fs;

/// An ext4 with a run and this label; the test is skipped without mke2fs.
macro_rules! ext4 {
    ($label:expr) => {
        match card::ext4(folder().path(), $label) {
            Some(image) => image,
            None => return,
        }
    };
}

macro_rules! vfat {
    ($label:expr) => {
        match card::vfat(folder().path(), $label) {
            Some(image) => image,
            None => return,
        }
    };
}

#[test]
fn the_label_decides_on_an_mbr_card() {
    let (boot, results) = (ext4!("boot"), ext4!("RTPERF"));
    let image = card::mbr(&[(0x83, &boot), (0x83, &results)]);
    let desk = Desk::new();
    let collection = desk.collect_image(&image).unwrap();
    assert_good(&collection);
    assert_eq!(collection.place, "partition 2 (ext4, label RTPERF)");
}

#[test]
fn logical_partitions_are_found() {
    let (data, results) = (ext4!("data"), ext4!("RTPERF"));
    let image = card::mbr_logical(&[(0x83, &data), (0x83, &results)]);
    let desk = Desk::new();
    let collection = desk.collect_image(&image).unwrap();
    assert_good(&collection);
    assert_eq!(collection.place, "partition 6 (ext4, label RTPERF)");
}

#[test]
fn a_gpt_name_is_as_good_as_a_label() {
    let results = ext4!("");
    let image = card::gpt(&[("root", &[0; 4096]), ("RTPERF", &results)]);
    let desk = Desk::new();
    let collection = desk.collect_image(&image).unwrap();
    assert_good(&collection);
    assert_eq!(collection.place, "partition 2 (ext4, name RTPERF)");
}

#[test]
fn vfat_results_are_read() {
    let results = vfat!("RTPERF");
    let image = card::mbr(&[(0x0c, &results)]);
    let desk = Desk::new();
    let collection = desk.collect_image(&image).unwrap();
    assert_good(&collection);
    assert_eq!(collection.place, "partition 1 (vfat, label RTPERF)");
    assert_good(&Desk::new().collect_image(&results).unwrap());
}

#[test]
fn a_file_system_without_table_is_read_whatever_its_label() {
    assert_good(&Desk::new().collect_image(&ext4!("other")).unwrap());
    let Some(root) = card::ext4(board_root().path(), "root") else {
        return;
    };
    assert_good(&Desk::new().collect_image(&root).unwrap());
}

#[test]
fn the_boards_fallback_folder_is_found() {
    let (data, Some(root)) = (ext4!("data"), card::ext4(board_root().path(), "root")) else {
        return;
    };
    let image = card::mbr(&[(0x83, &data), (0x83, &root)]);
    let desk = Desk::new();
    let collection = desk.collect_image(&image).unwrap();
    assert_good(&collection);
    assert!(
        collection.place.contains("/var/lib/rtperf"),
        "{}",
        collection.place
    );
    let twice = card::mbr(&[(0x83, &root), (0x83, &root)]);
    let e = Desk::new().refusal(&twice, None);
    assert!(
        e.contains("have results in /var/lib/rtperf") && e.contains("--partition N"),
        "{e}"
    );
}

#[test]
fn two_results_partitions_need_a_choice() {
    let results = ext4!("RTPERF");
    let image = card::mbr(&[(0x83, &results), (0x83, &results)]);
    let desk = Desk::new();
    let e = desk.refusal(&image, None);
    assert!(
        e.contains("partition 1 (ext4, label RTPERF), partition 2"),
        "{e}"
    );
    assert!(e.contains("choose one with --partition N"), "{e}");
    assert_good(&desk.collect(&desk.source(&image), Some(2)).unwrap());
    let e = desk.refusal(&image, Some(7));
    assert!(e.contains("has no partition 7; it has partition 1"), "{e}");
}

#[test]
fn no_results_partition_is_said_with_what_there_is() {
    let image = card::mbr(&[(0x83, &ext4!("data")), (0x82, &[0; 4096])]);
    let e = Desk::new().refusal(&image, None);
    assert!(e.contains("no partition labelled RTPERF"), "{e}");
    assert!(
        e.contains("partition 1 (ext4, label data), partition 2 (no known file system)"),
        "{e}"
    );
    let e = Desk::new().refusal(&image, Some(2));
    assert!(e.contains("holds neither ext4 nor vfat"), "{e}");
}

#[test]
fn a_truncated_image_says_by_how_much() {
    let image = card::mbr(&[(0x83, &ext4!("boot")), (0x83, &ext4!("RTPERF"))]);
    let e = Desk::new().refusal(&image[..image.len() - 12_288], None);
    assert!(e.contains("is cut off: partition 2"), "{e}");
    assert!(e.contains("12288 bytes past its end"), "{e}");
    // So early that the label is gone too.
    let e = Desk::new().refusal(&image[..image.len() - (4 << 20)], None);
    assert!(
        e.contains("partition 2 (no known file system) reaches 4194304 bytes"),
        "{e}"
    );
    let bare = ext4!("RTPERF");
    let e = Desk::new().refusal(&bare[..bare.len() - 4096], None);
    assert!(e.contains("is larger than its partition"), "{e}");
}

#[test]
fn an_unreadable_file_system_is_named() {
    let mut image = card::mbr(&[(0x83, &ext4!("RTPERF"))]);
    let at = image.len() - (4 << 20) + 1024;
    image[at + 0x200] ^= 0xff;
    let e = Desk::new().refusal(&image, None);
    assert!(
        e.contains("partition 1 (ext4, label RTPERF) cannot be read"),
        "{e}"
    );
    assert!(e.contains("fsck.ext4"), "{e}");
}

#[test]
fn a_card_without_runs_says_so() {
    let empty = temp_dir();
    fs::create_dir(empty.path().join("notes")).unwrap();
    let Some(results) = card::ext4(empty.path(), "RTPERF") else {
        return;
    };
    let e = Desk::new().refusal(&card::mbr(&[(0x83, &results)]), None);
    assert!(
        e.ends_with("has no runs in partition 1 (ext4, label RTPERF)"),
        "{e}"
    );
}

#[test]
fn what_is_no_card_is_refused() {
    let desk = Desk::new();
    for (bytes, what) in [
        (&b""[..], "is empty"),
        (&[0; 100], "is too short"),
        (&[0; 1 << 16], "no partition table and no file system"),
        (
            b"\x1f\x8b\x08\0",
            "is packed (gzip); unpack it first: gzip -dk",
        ),
        (b"\xfd7zXZ\0\0", "is packed (xz)"),
        (b"\x28\xb5\x2f\xfd", "is packed (zstd)"),
        (b"BZh91AY", "is packed (bzip2)"),
        (b"PK\x03\x04", "is packed (zip)"),
    ] {
        let e = desk.refusal(bytes, None);
        assert!(e.contains(what), "{e}");
    }
    let missing = desk.collect(&desk.tmp.path().join("none.img"), None);
    assert!(missing.unwrap_err().to_string().contains("does not exist"));
    let ssh = desk.collect("ssh://root@board".as_ref(), None);
    assert!(ssh.unwrap_err().to_string().contains("scp -r"));
}

#[test]
fn mounted_folders_and_single_runs_are_sources_too() {
    let (plain, root) = (folder(), board_root());
    for source in [
        plain.path().to_owned(),
        plain.path().join(ID),
        root.path().to_owned(),
    ] {
        assert_good(&Desk::new().collect(&source, None).unwrap());
    }
    let e = Desk::new().collect(plain.path(), Some(1)).unwrap_err();
    assert!(e.to_string().contains("leave out --partition"), "{e}");
}
