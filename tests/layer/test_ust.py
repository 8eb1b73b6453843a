# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
"""The LTTng-UST provider's recipe: compiled and installed as BitBake would."""

import hashlib
import io
import subprocess
import unittest
from pathlib import Path

import bbparse  # first: it decides whether BitBake is there
import bb
from bbparse import Build, LAYER

UST = "recipes-benchmark/rtperf/rtperf-ust_0.1.0.bb"
BOARD = "recipes-benchmark/rtperf/rtperf-board_0.1.0.bb"
PLACE = "/usr/lib/rtperf/librtperf-ust.so"


def can_compile():
    command = ["cc", "-E", "-include", "lttng/ust-fork.h", "-x", "c", "/dev/null"]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def compile_with(data):
    """Runs do_compile, oe_runmake being make."""
    bb.fetch2.Fetch(data.getVar("SRC_URI").split(), data).unpack(data.getVar("UNPACKDIR"))
    script = io.StringIO()
    bb.data.emit_func("do_compile", script, data)
    text = 'set -e\noe_runmake() { make -s "$@"; }\n' + script.getvalue() + "\ndo_compile\n"
    subprocess.run(["sh", "-c", text], check=True, cwd=data.getVar("WORKDIR"))


class Ust(unittest.TestCase):
    def test_licences_are_the_trees(self):
        with Build("wrynose") as build:
            for entry in build.recipe(UST).getVar("LIC_FILES_CHKSUM").split():
                path, digest = entry.split(";md5=")
                text = (LAYER / "LICENSES" / Path(path).name).read_bytes()
                self.assertEqual(hashlib.md5(text).hexdigest(), digest)

    @unittest.skipUnless(can_compile(), "liblttng-ust-dev is not installed")
    def test_it_lands_where_rtperf_run_looks(self):
        source = (LAYER / "rust-tools/board/crates/rtperf-probe/src/ust.rs").read_text()
        self.assertIn(f'"{PLACE}"', source)
        for release in ("scarthgap", "wrynose"):
            with self.subTest(release), Build(release) as build:
                data = build.recipe(UST)
                compile_with(data)
                files = bbparse.install(data)
                self.assertEqual(list(files), [PLACE])
                self.assertIn(b"rtperf_ust_abi", files[PLACE].read_bytes())

    def test_the_board_tools_need_no_lttng(self):
        with Build("wrynose") as build:
            data = build.recipe(BOARD)
            for variable in ("DEPENDS", "RDEPENDS:rtperf-board", "RRECOMMENDS:rtperf-board"):
                self.assertNotIn("lttng", data.getVar(variable) or "", variable)
