# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
"""oelint-adv finds nothing in the recipes."""

import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LAYER = Path(__file__).resolve().parent.parent.parent


def lint(*files, release="wrynose"):
    """The findings; .oelint.cfg tells which rules are silenced, and why."""
    command = [sys.executable, "-m", "oelint_adv", "--quiet", "--relpaths", f"--release={release}", *map(str, files)]
    result = subprocess.run(command, cwd=LAYER, capture_output=True, text=True)
    lines = (result.stdout + result.stderr).splitlines()
    # The crate lists are in the form of OpenEmbedded's own class, whatever it is.
    return [line for line in lines if "-crates.inc:" not in line]


@unittest.skipIf(importlib.util.find_spec("oelint_adv") is None, "oelint-adv is not installed")
class Oelint(unittest.TestCase):
    def files(self):
        found = [p for kind in ("recipes-*", "dynamic-layers") for p in LAYER.glob(f"{kind}/**/*.bb*")]
        found += [p for p in LAYER.glob("recipes-*/**/*.inc") if not p.name.endswith("-crates.inc")]
        return sorted(p.relative_to(LAYER) for p in found)

    def test_no_finding(self):
        for release in ("scarthgap", "wrynose"):
            with self.subTest(release):
                self.assertEqual(lint(*self.files(), release=release), [])

    def test_a_fault_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            bad = Path(folder) / "bad_1.0.bb"
            bad.write_text('SUMMARY="x"\n')
            self.assertIn("oelint.", "".join(lint(bad)))
