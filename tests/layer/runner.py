# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
"""Runs the tests beside it and says at the end what was skipped, and why."""

import os
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(names):
    suite = unittest.TestSuite()
    for name in names or ["test_*"]:
        # By pattern: a module that skips itself is reported, not raised.
        suite.addTests(unittest.TestLoader().discover(str(HERE), pattern=f"{name}.py"))
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    if not result.testsRun:
        print("no test was found", file=sys.stderr)
        return 1
    for reason in sorted({reason for _, reason in result.skipped}):
        print(f"skipped: {reason}")
    failed = not result.wasSuccessful() or (result.skipped and os.environ.get("RTPERF_NO_SKIP"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
