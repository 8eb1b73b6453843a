# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
"""Every tracked file says whose it is and under which licence."""

import re
import subprocess
import tomllib
import unittest
from fnmatch import fnmatch
from pathlib import Path

LAYER = Path(__file__).resolve().parent.parent.parent
# Split, so that this file has but its own header.
TAG = re.compile("SPDX-License-" + r"Identifier:\s*([^\n*]+?)\s*(?:-->|\*/)?$", re.M)
COPYRIGHT = "SPDX-FileCopyright" + "Text: The meta-rtperf authors"
RUST = "MIT OR Apache-2.0"


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=LAYER, capture_output=True, text=True)
    if listed.returncode:
        raise unittest.SkipTest("not a git clone")
    return [name for name in listed.stdout.split("\0") if name and (LAYER / name).is_file()]


def annotations():
    """What REUSE.toml says of files that cannot carry a header."""
    for entry in tomllib.loads((LAYER / "REUSE.toml").read_text())["annotations"]:
        paths = entry["path"]
        for pattern in [paths] if isinstance(paths, str) else paths:
            yield pattern, entry["SPDX-License-Identifier"]


def licence_of(name):
    if name.startswith("LICENSES/"):
        return "its own"
    head = (LAYER / name).read_bytes()[:2000].decode("utf-8", "replace")
    found = TAG.search(head)
    if found and COPYRIGHT in head:
        return found.group(1)
    return next((licence for pattern, licence in annotations() if fnmatch(name, pattern)), None)


class Licences(unittest.TestCase):
    def test_every_tracked_file_is_covered(self):
        bare = [name for name in tracked() if licence_of(name) is None]
        self.assertEqual(bare, [], "add an SPDX header, or an entry in REUSE.toml where none can stand")

    def test_every_licence_has_its_text(self):
        for name in tracked():
            licence = licence_of(name)
            if licence and licence != "its own":
                for part in re.split(r" OR | AND ", licence):
                    self.assertTrue((LAYER / "LICENSES" / f"{part}.txt").exists(), f"{name}: {part}")

    def test_each_kind_has_the_licence_it_should_have(self):
        for name in tracked():
            licence = licence_of(name)
            if name.endswith(".rs"):
                self.assertEqual(licence, RUST, name)
            elif name.startswith(("conf/", "recipes-benchmark/", "kas/", "scripts/", "docs/", "tests/layer/")):
                self.assertEqual(licence, "MIT", name)

    def test_no_annotation_is_left_over(self):
        names = tracked()
        for pattern, _ in annotations():
            self.assertTrue(any(fnmatch(name, pattern) for name in names), f"REUSE.toml: {pattern} matches nothing")
