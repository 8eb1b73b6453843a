// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use super::label::tests::{ext_image, fat_image};
use super::*;
use crate::testing::Tree;

fn request<'a>(out: Option<&'a Path>, configured: &'a Path) -> Request<'a> {
    Request {
        out,
        configured,
        need: 1,
        wait: Duration::ZERO,
    }
}

/// A block device made of files.
fn device(tree: &Tree, name: &str, number: &str, content: &[u8]) {
    let folder = format!("sys/class/block/{name}");
    tree.file(&format!("{folder}/dev"), number);
    tree.file(&format!("{folder}/size"), "16\n");
    tree.folder(&format!("{folder}/holders"));
    tree.file(&format!("dev/{name}"), content);
}

/// A card as the kernel shows it, its second partition mounted on `card`.
fn board(name: &str) -> Tree {
    let tree = Tree::new(name);
    device(&tree, "mmcblk0", "179:0", &ext_image("RTPERF"));
    tree.file("sys/class/block/mmcblk0/mmcblk0p1/partition", "1\n");
    device(&tree, "mmcblk0p1", "179:1", &ext_image("ROOT"));
    device(&tree, "mmcblk0p2", "179:2", &ext_image("RTPERF"));
    tree.folder("card");
    let card = tree.path().join("card");
    let line = format!("30 27 179:2 / {} rw - ext4 /dev/x rw\n", card.display());
    tree.file("proc/self/mountinfo", line);
    tree
}

#[test]
fn out_wins_and_is_created() {
    let tree = board("place-out");
    let out = tree.path().join("a/b");
    let place = resolve(&tree.root(), &request(Some(&out), Path::new("/x"))).unwrap();
    assert_eq!(place.path(), out);
    assert!(out.is_dir());
    place.close().unwrap();
}

#[test]
fn a_mounted_card_is_used_where_it_is() {
    let tree = board("place-card");
    let place = resolve(&tree.root(), &request(None, Path::new("/x"))).unwrap();
    assert_eq!(place.path(), tree.path().join("card"));
    assert_eq!(place.how(), "partition /dev/mmcblk0p2 labelled RTPERF");
    assert!(!place.mounted);
}

#[test]
fn labels_of_fat_and_gpt_count_too() {
    for (content, uevent) in [
        (fat_image(true, "RTPERF", None), ""),
        (vec![0; 4096], "DEVTYPE=partition\nPARTNAME=RTPERF\n"),
        (ext_image("other"), "PARTNAME=RTPERF\n"),
    ] {
        let tree = board("place-kinds");
        tree.file("dev/mmcblk0p2", content);
        tree.file("sys/class/block/mmcblk0p2/uevent", uevent);
        let found = partition::labelled(&tree.root()).found;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].device, (179, 2));
    }
}

#[test]
fn two_cards_are_an_error_that_names_both() {
    let tree = board("place-two");
    device(&tree, "sda1", "8:1", &fat_image(false, "x", Some("RTPERF")));
    let e = resolve(&tree.root(), &request(None, Path::new("/x"))).unwrap_err();
    for part in ["/dev/sda1", "/dev/mmcblk0p2", "--out"] {
        assert!(e.0.contains(part), "{e}");
    }
}

#[test]
fn devices_below_a_mapping_and_memory_disks_are_left_out() {
    let tree = board("place-holders");
    tree.folder("sys/class/block/mmcblk0p2/holders/dm-0");
    device(&tree, "zram0", "253:0", &ext_image("RTPERF"));
    assert!(partition::labelled(&tree.root()).found.is_empty());
    device(&tree, "dm-0", "254:0", &ext_image("RTPERF"));
    assert_eq!(partition::labelled(&tree.root()).found[0].name, "dm-0");
}

#[test]
fn without_a_card_the_configured_folder_is_made() {
    let tree = Tree::new("place-configured");
    let configured = tree.path().join("var/lib/rtperf");
    let found = resolve(&tree.root(), &request(None, &configured));
    // The temporary folder of this machine may be one that forgets.
    match found {
        Ok(place) => assert!(place.path() == configured && place.how().contains("configured")),
        Err(e) => assert!(e.0.contains("vanish"), "{e}"),
    }
}

#[test]
fn a_folder_that_forgets_is_refused_unless_asked_for() {
    let forgetful = Path::new("/dev/shm");
    let is_tmpfs =
        statfs(forgetful).is_ok_and(|fs| volatile(fs.filesystem_type().0 as u32).is_some());
    assert!(is_tmpfs, "these tests need a tmpfs on /dev/shm");
    let name = format!("rtperf-facts-{}", std::process::id());
    let folder = forgetful.join(name);
    let tree = Tree::new("place-tmpfs");
    let e = resolve(&tree.root(), &request(None, &folder)).unwrap_err();
    assert!(e.0.contains("vanish") && e.0.contains("--out"), "{e}");
    assert!(!folder.exists());
    let place = resolve(&tree.root(), &request(Some(&folder), &folder)).unwrap();
    assert_eq!(place.path(), folder);
    std::fs::remove_dir(&folder).unwrap();
}

#[test]
fn a_place_without_room_is_a_sentence() {
    let tree = Tree::new("place-full");
    let asked = Request {
        need: u64::MAX,
        ..request(Some(tree.path()), tree.path())
    };
    let e = resolve(&tree.root(), &asked).unwrap_err();
    assert!(e.0.contains("free") && e.0.contains("--out"), "{e}");
}

#[test]
fn a_file_or_a_read_only_file_system_is_no_place() {
    let tree = Tree::new("place-file");
    tree.file("file", "");
    for out in [
        tree.path().join("file"),
        tree.path().join("file/below"),
        "/proc/x".into(),
    ] {
        let e = resolve(&tree.root(), &request(Some(&out), tree.path())).unwrap_err();
        assert!(e.0.contains(out.to_str().unwrap()), "{e}");
    }
}

#[test]
fn the_card_is_waited_for() {
    let tree = Tree::new("place-wait");
    let complete = board("place-late");
    let root = tree.root();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| wait_for_card(&root, Duration::from_secs(60)));
        std::thread::sleep(Duration::from_millis(50));
        for part in ["dev", "sys"] {
            std::fs::rename(complete.path().join(part), tree.path().join(part)).unwrap();
        }
        assert_eq!(waiting.join().unwrap().unwrap().unwrap().name, "mmcblk0p2");
    });
}

#[test]
fn no_permission_to_look_is_not_the_same_as_no_card() {
    assert_eq!(none_seen(None), Ok(None));
    let e = none_seen(Some("mmcblk0p2".into())).unwrap_err();
    assert!(
        e.0.contains("/dev/mmcblk0p2") && e.0.contains("--out"),
        "{e}"
    );
}
