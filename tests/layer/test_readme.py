# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
"""What yocto-check-layer and a newcomer look for in the documents."""

import re
import unittest
from pathlib import Path

LAYER = Path(__file__).resolve().parent.parent.parent


class Documents(unittest.TestCase):
    def test_readme_names_what_check_layer_asks_for(self):
        text = (LAYER / "README.md").read_text()
        for word in ("maintainer", "patch", "dependenc"):
            self.assertRegex(text, re.compile(word, re.I))
        self.assertRegex(text, r"[\w.+-]+@[\w-]+(\.[\w-]+)+")

    def test_readme_does_not_point_at_another_readme(self):
        # yocto-check-layer takes such a word for a reference and checks nothing.
        self.assertNotIn("README", (LAYER / "README.md").read_text())

    def test_security_file(self):
        self.assertRegex((LAYER / "SECURITY.md").read_text(), r"(?i)report")

    def test_patches_tell_their_upstream_status(self):
        for patch in LAYER.glob("recipes-*/**/*.patch"):
            self.assertRegex(patch.read_text(errors="replace"), r"(?m)^Upstream-Status: \w+", patch.name)

    def test_changelog_has_the_recipes_version(self):
        version = re.search(r"_([0-9.]+)\.bb$", str(next(LAYER.glob("recipes-benchmark/rtperf/rtperf-board_*.bb"))))
        self.assertIn(f"## {version.group(1)}", (LAYER / "CHANGELOG.md").read_text())
