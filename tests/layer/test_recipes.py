# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
"""Recipes, parsed and evaluated by the real BitBake library."""

import hashlib
import unittest
from pathlib import Path

import bbparse  # first: it decides whether BitBake is there
import bb
from bbparse import Build, LAYER

BOARD = "recipes-benchmark/rtperf/rtperf-board_0.1.0.bb"
HOST = "recipes-benchmark/rtperf/rtperf-host_0.1.0.bb"
IMAGE = "recipes-benchmark/images/rtperf-image.bb"
PACKAGEGROUP = "recipes-benchmark/packagegroups/packagegroup-rtperf.bb"
RELEASES = ("scarthgap", "wrynose")
ROOT_ONLY = "part / --source rootfs --fstype=ext4 --label ROOT --align 4096"


def licences_match(case, data):
    for entry in data.getVar("LIC_FILES_CHKSUM").split():
        path, digest = entry.split(";md5=")
        name = Path(path).name
        have = hashlib.md5((LAYER / "LICENSES" / name).read_bytes()).hexdigest()
        case.assertEqual(have, digest, f"LICENSES/{name} changed")


def missing_sources(data):
    urls = [u for u in data.getVar("SRC_URI").split() if u.startswith("file://")]
    fetcher = bb.fetch2.Fetch(urls, data)
    return [u for u in urls if not Path(fetcher.localpath(u)).exists()]


class Board(unittest.TestCase):
    def test_sources_are_in_the_tree(self):
        for release in RELEASES:
            with self.subTest(release), Build(release) as build:
                data = build.recipe(BOARD)
                self.assertEqual(missing_sources(data), [])
                self.assertEqual(data.getVar("S"), data.getVar("UNPACKDIR") + "/rust-tools/board")
                self.assertIn("crate://crates.io/", data.getVar("SRC_URI"))
                licences_match(self, data)

    def test_unpackdir_is_the_releases_own_where_it_has_one(self):
        for release, tail in (("scarthgap", "/work/rtperf-board"), ("wrynose", "/work/rtperf-board/sources")):
            with self.subTest(release), Build(release) as build:
                self.assertTrue(build.recipe(BOARD).getVar("UNPACKDIR").endswith(tail))

    def test_installed_files_follow_the_init_system(self):
        unit, script = "/usr/lib/systemd/system/rtperf.service", "/etc/init.d/rtperf"
        for features, here, absent in (
            ("systemd", {unit}, {script}),
            ("sysvinit", {script}, {unit}),
            ("systemd sysvinit", {unit, script}, set()),
            ("", set(), {unit, script}),
        ):
            for release in RELEASES:
                with self.subTest(features=features, release=release), Build(release, features) as build:
                    files = bbparse.install(build.recipe(BOARD))
                    self.assertLessEqual({"/etc/rtperf/plan.yaml"} | here, files.keys())
                    self.assertFalse(absent & files.keys())
                    self.assertEqual(files["/usr/lib/rtperf/instrumented"].read_text(), "rtperf-board 0.1.0\n")
                    for name in here & {script}:
                        self.assertTrue(files[name].stat().st_mode & 0o100, "init script is executable")


class Host(unittest.TestCase):
    def test_skips_a_release_with_an_older_rust(self):
        with Build("scarthgap") as build:
            reason = build.recipe(HOST).getVar("__SKIPPED", False)
        self.assertIn("needs Rust 1.88 or newer, and this release has 1.75", reason)

    def test_bound_is_exact(self):
        for version, fits in (("1.87.1%", False), ("1.88.0%", True), ("1.88%", True), ("1.100%", True)):
            with self.subTest(version), Build("wrynose", conf=f'RUSTVERSION = "{version}"') as build:
                skipped = build.recipe(HOST).getVar("__SKIPPED", False)
                self.assertEqual(skipped is None, fits, skipped)

    def test_keeps_the_trees_layout(self):
        with Build("wrynose") as build:
            data = build.recipe(HOST)
            self.assertEqual(missing_sources(data), [])
            licences_match(self, data)
            bb.fetch2.Fetch([u for u in data.getVar("SRC_URI").split() if u.startswith("file://")], data).unpack(
                data.getVar("UNPACKDIR")
            )
            source = Path(data.getVar("S"))
            for crate in ("rtperf-record", "rtperf-stats"):
                self.assertTrue((source / "../board/crates" / crate / "Cargo.toml").exists(), crate)
            self.assertEqual(data.getVar("BBCLASSEXTEND").split(), ["native", "nativesdk"])


class Image(unittest.TestCase):
    def system(self, conf=""):
        with Build("wrynose", "rtperf", conf) as build:
            data = build.recipe(IMAGE)
            self.assertEqual(data.getVar("WKS_FILES"), "rtperf.wks.in")
            return data.getVar("RTPERF_WKS_SYSTEM")

    def test_results_partition_follows_the_machines_layout(self):
        self.assertEqual(self.system('WKS_FILE ?= "sdimage.wks"'), "include sdimage.wks")

    def test_a_layout_can_be_named(self):
        self.assertEqual(self.system('RTPERF_WKS_BASE = "own.wks"\nWKS_FILE ?= "sdimage.wks"'), "include own.wks")

    def test_a_machine_without_a_layout_gets_a_root(self):
        self.assertEqual(self.system(), ROOT_ONLY)

    def test_needs_the_feature(self):
        with Build("wrynose") as build:
            self.assertEqual(build.recipe(IMAGE).getVar("REQUIRED_DISTRO_FEATURES"), "rtperf")

    def test_wks_names_the_results_partition(self):
        lines = (LAYER / "recipes-benchmark/images/rtperf.wks.in").read_text().splitlines()
        parts = [line for line in lines if line and not line.startswith("#")]
        self.assertEqual(parts[0], "${RTPERF_WKS_SYSTEM}")
        self.assertIn("--fstype=ext4 --label RTPERF ", parts[1])
        self.assertEqual(len(parts), 2)

    def test_packagegroup_brings_the_board_tools(self):
        with Build("wrynose") as build:
            data = build.recipe(PACKAGEGROUP)
            self.assertEqual(data.getVar("RDEPENDS:packagegroup-rtperf"), "rtperf-board")
