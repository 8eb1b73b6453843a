# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
"""Locked crates build with the compilers that the recipes count on."""

import json
import re
import shutil
import subprocess
import tomllib
import unittest
from pathlib import Path

LAYER = Path(__file__).resolve().parent.parent.parent
HOST_RECIPE = LAYER / "recipes-benchmark/rtperf/rtperf-host_0.1.0.bb"
SCARTHGAP_RUST = (1, 75)


def version(text):
    return tuple(int(part) for part in text.split(".")[:2])


@unittest.skipIf(shutil.which("cargo") is None, "cargo is not installed")
class Compilers(unittest.TestCase):
    def too_new(self, workspace, limit):
        command = ["cargo", "metadata", "--locked", "--format-version", "1"]
        result = subprocess.run(command, cwd=LAYER / "rust-tools" / workspace, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        for package in json.loads(result.stdout)["packages"]:
            needs = package["rust_version"] or {"2024": "1.85"}.get(package["edition"], "1.0")
            if version(needs) > limit:
                yield f"{package['name']} {package['version']} needs Rust {needs}"

    def test_board_crates_build_on_scarthgap(self):
        self.assertEqual(
            list(self.too_new("board", SCARTHGAP_RUST)),
            [],
            "resolve with CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS=fallback cargo update",
        )

    def test_scarthgaps_cargo_reads_the_boards_lock(self):
        lock = tomllib.loads((LAYER / "rust-tools/board/Cargo.lock").read_text())
        self.assertEqual(lock["version"], 3)

    def test_host_crates_build_where_the_recipe_is_not_skipped(self):
        bound = re.search(r'^RTPERF_HOST_RUST = "([\d.]+)"', HOST_RECIPE.read_text(), re.M).group(1)
        self.assertEqual(list(self.too_new("host", version(bound))), [])
