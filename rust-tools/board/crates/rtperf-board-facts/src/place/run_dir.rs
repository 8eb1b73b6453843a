// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! A folder for one run, named without trusting the wall clock.

use crate::durable::{sync_dir, write_fault};
use crate::identity::word;
use crate::{FactsError, Root};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Runs of one image and boot in one place.
const RUNS_CAP: u32 = 1_000_000;

/// Makes `<image>-<8 hex of the boot id>-<NNN>` in `place`, with the number
/// after the highest one there. Gives the run-id and the folder.
pub fn new_run_dir(
    place: &Path,
    image: &str,
    boot_id: Option<&str>,
) -> Result<(String, PathBuf), FactsError> {
    let image = word(image);
    let image = if image.is_empty() { "unknown" } else { &image };
    let boot = boot_id
        .unwrap_or_default()
        .chars()
        .filter(char::is_ascii_hexdigit);
    let boot: String = boot.take(8).map(|c| c.to_ascii_lowercase()).collect();
    let prefix = format!("{image}-{boot:0<8}-");
    let taken = Root::new(place).numbered("", &prefix);
    let mut number = taken.iter().map(|(number, _)| *number).max().unwrap_or(0);
    while number < RUNS_CAP {
        number += 1;
        let id = format!("{prefix}{number:03}");
        let path = place.join(&id);
        match std::fs::create_dir(&path) {
            Ok(()) => {
                sync_dir(place)?;
                return Ok((id, path));
            }
            // Somebody else was quicker.
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(write_fault(&path, &e)),
        }
    }
    Err(FactsError(format!(
        "{} holds too many runs named {prefix}…: collect them and empty it",
        place.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    const BOOT: Option<&str> = Some("0123ABCD-4567-4000-8000-000000000000");

    #[test]
    fn numbers_go_on_after_the_highest() {
        let tree = Tree::new("runs");
        let next = || new_run_dir(tree.path(), "poky-5.0", BOOT).unwrap();
        let (id, path) = next();
        assert_eq!(id, "poky-5.0-0123abcd-001");
        assert!(path.is_dir());
        tree.folder("poky-5.0-0123abcd-041");
        tree.folder("poky-5.0-ffffffff-077");
        assert_eq!(next().0, "poky-5.0-0123abcd-042");
    }

    #[test]
    fn odd_names_stay_inside_the_place() {
        let tree = Tree::new("runs-odd");
        for image in ["../../etc", "/abs", "", "..", "a b\n"] {
            let (id, path) = new_run_dir(tree.path(), image, Some("../x")).unwrap();
            assert_eq!(path.parent(), Some(tree.path()));
            assert!(
                !id.contains(['/', ' ', '\n']) && !id.starts_with('.'),
                "{id}"
            );
        }
        assert!(new_run_dir(tree.path(), "x", None)
            .unwrap()
            .0
            .ends_with("-00000000-001"));
    }

    #[test]
    fn a_missing_place_is_a_sentence() {
        let e = new_run_dir(Path::new("/nonexistent"), "x", BOOT).unwrap_err();
        assert!(e.0.contains("/nonexistent/x-0123abcd-001"), "{e}");
    }
}
