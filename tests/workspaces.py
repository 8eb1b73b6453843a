# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
"""Holds what ARCHITECTURE.md states of the two Cargo workspaces.

Dependencies between our crates point one way, the board never depends on the
host, the two share exactly two crates, and nothing that the board is built
from needs a newer compiler than it promises.
"""

import json
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent / "rust-tools"
SHARED = {"rtperf-record", "rtperf-stats"}
BOARD_RUST = (1, 75)

# Each crate and what of ours it may use. A crate missing here is an error, so
# that a new one is placed on purpose.
MAY_USE = {
    "rtperf-record": set(),
    "rtperf-stats": set(),
    "rtperf-board-facts": {"rtperf-record"},
    "rtperf-probe": {"rtperf-record"},
    "rtperf-run": {"rtperf-board-facts", "rtperf-probe", "rtperf-record", "rtperf-stats"},
    "rtperf-card": {"rtperf-record"},
    "rtperf-gate": {"rtperf-card", "rtperf-record", "rtperf-stats"},
    "rtperf-ctf": set(),
    "rtperf-analysis": {"rtperf-ctf", "rtperf-record", "rtperf-stats"},
    "rtperf": {"rtperf-analysis", "rtperf-card", "rtperf-gate", "rtperf-record", "rtperf-stats"},
}
# For tests only: any host crate may use it, it uses only what is shared.
TESTKIT = "rtperf-testkit"


def metadata(workspace):
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    result = subprocess.run(command, cwd=TOOLS / workspace, check=True, capture_output=True)
    return json.loads(result.stdout)


def ours(package):
    return package["source"] is None


def faults_of(workspace, data):
    for package in filter(ours, data["packages"]):
        name = package["name"]
        place = Path(package["manifest_path"]).relative_to(TOOLS).parts[0]
        if workspace == "board" and place != "board":
            yield f"board uses {name}, which is a {place} crate"
        if workspace == "host" and place == "board" and name not in SHARED:
            yield f"host uses {name} of the board; it may use {sorted(SHARED)} only"
        if name == TESTKIT:
            allowed = SHARED
        elif name in MAY_USE:
            allowed = MAY_USE[name]
        else:
            yield f"{name} has no place in the order of crates (tests/workspaces.py)"
            continue
        for dependency in package["dependencies"]:
            # Of ours are exactly those found by path.
            if dependency.get("path") is None:
                continue
            used = dependency["name"]
            if used == TESTKIT and dependency["kind"] == "dev":
                continue
            if used not in allowed:
                yield f"{name} depends on {used}, against the order of crates"


def too_new(data):
    for package in data["packages"]:
        version = package.get("rust_version")
        if version and tuple(map(int, version.split(".")[:2])) > BOARD_RUST:
            yield f"{package['name']} {package['version']} needs Rust {version}"


def board_lock():
    lock = (TOOLS / "board" / "Cargo.lock").read_text()
    if "\nversion = 3\n" not in lock:
        yield "board/Cargo.lock is not of version 3, which Rust 1.75 needs"


def main():
    board, host = metadata("board"), metadata("host")
    faults = [*faults_of("board", board), *faults_of("host", host)]
    faults += [*too_new(board), *board_lock()]
    shared = {p["name"] for p in filter(ours, host["packages"]) if "/board/" in p["manifest_path"]}
    if shared != SHARED:
        faults.append(f"the workspaces share {sorted(shared)}, not {sorted(SHARED)}")
    for fault in faults:
        print(f"workspaces: {fault}", file=sys.stderr)
    checked = len(board["packages"]) + len(host["packages"])
    print(f"workspaces: {checked} packages checked, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
