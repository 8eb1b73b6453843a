# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
"""Kernel appends: nothing without the feature, the fragments with it."""

import re
import unittest

from bbparse import Build, LAYER

APPENDS = {
    "linux-yocto": "recipes-kernel/linux/linux-yocto_%.bbappend",
    "linux-yocto-rt": "recipes-kernel/linux/linux-yocto-rt_%.bbappend",
    "linux-raspberrypi": "dynamic-layers/raspberrypi/recipes-kernel/linux/linux-raspberrypi_%.bbappend",
    "linux-fslc-imx": "dynamic-layers/freescale-layer/recipes-kernel/linux/linux-fslc-imx_%.bbappend",
    "linux-imx": "dynamic-layers/freescale-layer/recipes-kernel/linux/linux-imx_%.bbappend",
}
KERNEL = 'SRC_URI = "git://kernel"\nLINUX_KERNEL_TYPE ??= "standard"\n'
RT_KERNEL = KERNEL.replace("??=", "=").replace("standard", "preempt-rt")
TRACE = "features/rtperf/rtperf-trace.scc"
DAQ = "features/rtperf/rtperf-daq.scc"
RT = "features/rtperf/rtperf-rt.scc"
META = LAYER / "recipes-kernel/linux/linux-rtperf/rtperf-kmeta"


def variables(data):
    """All that a signature could see; names with __ are the parser's own notes."""
    skip = ("__", "BBINCLUDED", "FILE", "TOPDIR", "BB_", "BBPATH", "BBFILE", "LAYER")
    return {
        key: data.getVar(key, False)
        for key in data.keys()
        if not key.startswith(skip) and key not in ("BBFILES", "BBFILES_DYNAMIC")
    }


def kernel(name, features="", conf="", text=KERNEL, append=True):
    with Build("wrynose", features, conf) as build:
        appends = [APPENDS[name]] if append else []
        return build.stand_in_recipe(f"{name}_6.18.bb", text, appends)


class Kernel(unittest.TestCase):
    def test_without_the_feature_nothing_changes(self):
        for name in APPENDS:
            with self.subTest(name):
                self.assertEqual(variables(kernel(name)), variables(kernel(name, append=False)))

    def test_the_comparison_sees_a_change(self):
        self.assertNotEqual(variables(kernel("linux-yocto", "rtperf")), variables(kernel("linux-yocto")))

    def test_the_feature_brings_the_fragments(self):
        for name in APPENDS:
            with self.subTest(name):
                data = kernel(name, "x11 rtperf")
                self.assertIn("file://rtperf-kmeta;type=kmeta", data.getVar("SRC_URI"))
                self.assertEqual(data.getVar("KERNEL_FEATURES").split(), [TRACE, DAQ])
                self.assertIn(str(META.parent), data.getVar("FILESEXTRAPATHS").split(":"))

    def test_real_time_comes_with_a_preempt_rt_kernel_or_on_demand(self):
        self.assertIn(RT, kernel("linux-yocto-rt", "rtperf", text=RT_KERNEL).getVar("KERNEL_FEATURES"))
        self.assertIn(RT, kernel("linux-imx", "rtperf", 'RTPERF_PREEMPT_RT = "1"').getVar("KERNEL_FEATURES"))
        self.assertNotIn(
            RT, kernel("linux-yocto-rt", "rtperf", 'RTPERF_PREEMPT_RT = "0"', RT_KERNEL).getVar("KERNEL_FEATURES")
        )

    def test_every_scc_finds_its_fragment(self):
        for scc in META.rglob("*.scc"):
            with self.subTest(scc.name):
                named = re.findall(r"^kconf \S+ (\S+)$", scc.read_text(), re.M)
                self.assertTrue(named)
                for fragment in named:
                    self.assertTrue((scc.parent / fragment).exists(), fragment)

    def test_fragments_are_well_formed(self):
        for fragment in META.rglob("*.cfg"):
            seen = set()
            for line in fragment.read_text().splitlines():
                if line and not line.startswith("#"):
                    self.assertRegex(line, r"^CONFIG_[A-Z0-9_]+=(y|m|\d+)$", fragment.name)
                    self.assertNotIn(line, seen, fragment.name)
                    seen.add(line)
            self.assertTrue(seen, fragment.name)

    def test_the_layer_sets_nothing_but_its_registration(self):
        with Build("wrynose") as with_layer, Build("wrynose", with_layer=False) as without:
            self.assertEqual(variables(with_layer.data), variables(without.data))
        with Build("scarthgap") as with_layer, Build("scarthgap", with_layer=False) as without:
            extra = variables(with_layer.data).items() - variables(without.data).items()
            self.assertEqual(extra, {("UNPACKDIR", "${WORKDIR}")})
