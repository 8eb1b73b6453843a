# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
"""The kernel modules' recipes, and what lttng-modules stages for the probe."""

import hashlib
import unittest
from pathlib import Path

import bbparse  # first: it decides whether BitBake is there
import bb
from bbparse import Build, LAYER

DAQ = "recipes-kernel/rtperf-daq/rtperf-daq_0.1.0.bb"
PROBE = "recipes-kernel/rtperf-daq/rtperf-daq-lttng-probe_0.1.0.bb"
LTTNG = "recipes-kernel/lttng/lttng-modules_%.bbappend"
RELEASES = ("scarthgap", "wrynose")


def unpacked(data):
    urls = data.getVar("SRC_URI").split()
    bb.fetch2.Fetch(urls, data).unpack(data.getVar("UNPACKDIR"))
    return Path(data.getVar("S"))


class Modules(unittest.TestCase):
    def test_sources_arrive_where_make_looks(self):
        for recipe, names in (
            (DAQ, {"Kbuild", "Makefile", "trace.h", "rtperf-daq-core.c", "rtperf-daq-sim-core.c"}),
            (PROBE, {"Kbuild", "Makefile", "trace.h", "rtperf_daq_events.h", "lttng-probe-rtperf-daq.c"}),
        ):
            for release in RELEASES:
                with self.subTest(recipe, release=release), Build(release, "rtperf") as build:
                    source = unpacked(build.recipe(recipe))
                    self.assertLessEqual(names, {path.name for path in source.iterdir()})

    def test_licence_is_the_trees(self):
        for recipe in (DAQ, PROBE):
            with self.subTest(recipe), Build("wrynose", "rtperf") as build:
                path, digest = build.recipe(recipe).getVar("LIC_FILES_CHKSUM").split(";md5=")
                text = (LAYER / "LICENSES" / Path(path).name).read_bytes()
                self.assertEqual(hashlib.md5(text).hexdigest(), digest)

    def test_every_object_has_its_source(self):
        for name in ("rtperf-daq", "rtperf-daq-lttng-probe"):
            folder = LAYER / "recipes-kernel/rtperf-daq" / name
            for word in (folder / "Kbuild").read_text().split():
                whole = ("rtperf-daq.o", "rtperf-daq-sim.o")
                if word.endswith(".o") and word not in whole and not word.startswith("CFLAGS_"):
                    self.assertTrue((folder / word).with_suffix(".c").exists(), word)

    def autoload(self, conf=""):
        with Build("wrynose", "rtperf", conf) as build:
            data = build.recipe(DAQ)
            self.assertEqual(data.getVar("KERNEL_MODULE_PROBECONF").split(), ["rtperf-daq-sim"])
            self.assertRegex(data.getVar("module_conf_rtperf-daq-sim"), "^options rtperf-daq-sim period_us=")
            return data.getVar("KERNEL_MODULE_AUTOLOAD").split()

    def test_simulated_device_unless_the_board_has_a_real_one(self):
        self.assertEqual(self.autoload(), ["rtperf-daq", "rtperf-daq-sim"])
        self.assertEqual(self.autoload('RTPERF_DAQ_SIM = "0"'), ["rtperf-daq"])

    def test_the_probe_needs_the_feature(self):
        with Build("wrynose") as build:
            self.assertEqual(build.recipe(PROBE).getVar("REQUIRED_DISTRO_FEATURES"), "rtperf")


class Lttng(unittest.TestCase):
    def staging(self, features):
        with Build("wrynose", features) as build:
            data = build.stand_in_recipe("lttng-modules_2.14.1.bb", "sysroot_stage_all() {\n    :\n}\n", [LTTNG])
            return data.getVar("sysroot_stage_all")

    def test_headers_are_staged_with_the_feature_only(self):
        self.assertNotIn("Kbuild.common", self.staging(""))
        self.assertIn("Kbuild.common", self.staging("rtperf"))
        with Build("wrynose", "rtperf") as build:
            self.assertIn("/lttng-modules", build.recipe(PROBE).getVar("EXTRA_OEMAKE"))
