# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
"""The sysvinit script, under every POSIX shell at hand, and the systemd unit."""

import configparser
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

FILES = Path(__file__).resolve().parent.parent.parent / "recipes-benchmark/rtperf/files"
SHELLS = [s for s in (["dash"], ["busybox", "sh"], ["bash", "--posix"]) if shutil.which(s[0])]


class InitScript(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rtperf-init-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.console = self.folder / "console"
        self.tool = self.folder / "rtperf-run"
        self.tool.write_text('#!/bin/sh\necho "ran $*"\necho "complains" >&2\nexit 1\n')
        self.tool.chmod(0o755)

    def start(self, shell, command_line, action="start"):
        (self.folder / "cmdline").write_text(command_line)
        self.console.write_text("")
        environment = {
            **os.environ,
            "RTPERF_RUN": str(self.tool),
            "RTPERF_CONSOLE": str(self.console),
            "RTPERF_CMDLINE": str(self.folder / "cmdline"),
        }
        result = subprocess.run(
            [*shell, str(FILES / "rtperf.init"), action], env=environment, capture_output=True, text=True
        )
        return result.returncode, self.console.read_text()

    def each(self):
        self.assertTrue(SHELLS, "no POSIX shell found")
        for shell in SHELLS:
            with self.subTest(shell[0]):
                yield shell

    def test_runs_in_the_foreground_when_asked(self):
        for shell in self.each():
            for line in ("rtperf.autorun\n", "console=ttyAMA0 rtperf.autorun quiet\n", "a rtperf.autorun=1"):
                self.assertEqual(self.start(shell, line), (1, "ran --autorun\ncomplains\n"), line)

    def test_stays_away_otherwise(self):
        for shell in self.each():
            for line in ("quiet\n", "", "xrtperf.autorun\n", "rtperf.autorunner\n", "rtperf=autorun *\n"):
                self.assertEqual(self.start(shell, line), (0, ""), line)

    def test_says_on_the_console_that_the_tool_is_missing(self):
        self.tool.chmod(0o644)
        self.tool.unlink()
        for shell in self.each():
            status, console = self.start(shell, "rtperf.autorun\n")
            self.assertEqual(status, 5)
            self.assertIn("rtperf-run is missing or not executable", console)

    def test_other_actions(self):
        for shell in self.each():
            self.assertEqual(self.start(shell, "rtperf.autorun\n", "stop"), (0, ""))
            self.assertEqual(self.start(shell, "rtperf.autorun\n", "dance"), (2, ""))


class Unit(unittest.TestCase):
    def test_runs_the_same_command_on_the_same_condition(self):
        unit = configparser.ConfigParser(interpolation=None)
        unit.optionxform = str
        unit.read_string((FILES / "rtperf.service").read_text())
        self.assertEqual(unit["Unit"]["ConditionKernelCommandLine"], "rtperf.autorun")
        self.assertEqual(unit["Service"]["ExecStart"], "/usr/bin/rtperf-run --autorun")
        self.assertEqual(unit["Service"]["StandardOutput"], "journal+console")
        self.assertEqual(unit["Install"]["WantedBy"], "multi-user.target")
