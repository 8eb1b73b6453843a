# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT

SUMMARY = "Collects runs from a board's card and judges them"
DESCRIPTION = "rtperf reads run directories out of card images without mounting them, \
               verifies them, and gates a release on latency limits."
SECTION = "benchmark"
LICENSE = "MIT | Apache-2.0"
LIC_FILES_CHKSUM = "\
    file://${UNPACKDIR}/LICENSES/MIT.txt;md5=500a079bc15af905e4a7b7058cd76e43 \
    file://${UNPACKDIR}/LICENSES/Apache-2.0.txt;md5=3b83ef96387f14655fc854ddc3c6bd57 \
"

# The tree's layout is kept: the host workspace takes two crates of the board
# workspace by their relative path.
FILESEXTRAPATHS:prepend := "${THISDIR}/../..:"
SRC_URI = "\
    file://LICENSES/MIT.txt \
    file://LICENSES/Apache-2.0.txt \
    file://rust-tools/board/crates/rtperf-record \
    file://rust-tools/board/crates/rtperf-stats \
    file://rust-tools/host/Cargo.toml \
    file://rust-tools/host/Cargo.lock \
    file://rust-tools/host/crates \
"
require ${BPN}-crates.inc

S = "${UNPACKDIR}/rust-tools/host"

inherit cargo cargo-update-recipe-crates

CARGO_BUILD_FLAGS:append = " --package rtperf"

CVE_PRODUCT = "rtperf"

RTPERF_HOST_RUST = "1.88"

# What the release offers is known only once its configuration is read.
# nooelint: oelint.task.noanonpython - a recipe can skip itself in no other way
python () {
    have = (d.getVar("RUSTVERSION") or "").rstrip("%").rstrip(".")
    need = d.getVar("RTPERF_HOST_RUST")
    if have and bb.utils.vercmp_string(have, need) < 0:
        raise bb.parse.SkipRecipe(
            "needs Rust %s or newer, and this release has %s; install the host tools "
            "with cargo instead, the board tools build here" % (need, have))
}

BBCLASSEXTEND = "native nativesdk"
