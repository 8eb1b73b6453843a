# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
"""The board tools on a booted image: `bitbake -c testimage rtperf-image`."""

import json

from oeqa.core.decorator.depends import OETestDepends
from oeqa.runtime.case import OERuntimeTestCase
from oeqa.runtime.decorator.package import OEHasPackage

# On the root file system, which survives what a tmpfs would lose.
OUT = "/var/lib/rtperf/testimage"


class RtperfTest(OERuntimeTestCase):
    @classmethod
    def tearDownClass(cls):
        cls.tc.target.run(f"rm -rf {OUT}")

    def run_on_board(self, command, allowed):
        status, output = self.target.run(command, timeout=600)
        self.assertIn(status, allowed, f"`{command}` ended with {status}:\n{output}")
        return output

    @OETestDepends(["ssh.SSHTest.test_ssh"])
    @OEHasPackage(["rtperf-board"])
    def test_instrumented(self):
        self.run_on_board("test -s /usr/lib/rtperf/instrumented", [0])

    @OETestDepends(["rtperf.RtperfTest.test_instrumented"])
    def test_check(self):
        # 1 says that a check failed, as it must on QEMU: no board is behind it.
        self.run_on_board("rtperf-run check", [0, 1])

    @OETestDepends(["rtperf.RtperfTest.test_instrumented"])
    def test_quick_run(self):
        self.run_on_board(f"rm -rf {OUT}; rtperf-run --quick --out {OUT}", [0])
        found = self.run_on_board(f"ls {OUT}/*/run.json", [0]).split()
        self.assertEqual(len(found), 1, f"one run leaves one run.json, not {found}")
        run = json.loads(self.run_on_board(f"cat {found[0]}", [0]))
        self.assertEqual(run["format_version"], 1)
        self.assertEqual(run["status"], "complete")
        self.assertTrue(run["instrumented"], "the image was built with the layer")
        for measurement in run["measurements"]:
            self.assertEqual(measurement["status"], "done", measurement)
        self.run_on_board(f"cd {found[0].rsplit('/', 1)[0]} && sha256sum -c SHA256SUMS", [0])
