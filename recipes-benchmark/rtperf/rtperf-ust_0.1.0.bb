# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT

SUMMARY = "Events of rtperf-run in LTTng user-space traces"
DESCRIPTION = "The LTTng-UST provider that rtperf-run loads where it is installed. A recipe \
               of its own: rtperf-board neither builds nor needs LTTng."
SECTION = "benchmark"
LICENSE = "MIT | Apache-2.0"
LIC_FILES_CHKSUM = "\
    file://${UNPACKDIR}/LICENSES/MIT.txt;md5=500a079bc15af905e4a7b7058cd76e43 \
    file://${UNPACKDIR}/LICENSES/Apache-2.0.txt;md5=3b83ef96387f14655fc854ddc3c6bd57 \
"

DEPENDS = "liburcu lttng-ust"

# The sources are this clone.
FILESEXTRAPATHS:prepend := "${THISDIR}/../..:"
SRC_URI = "\
    file://LICENSES/MIT.txt \
    file://LICENSES/Apache-2.0.txt \
    file://rust-tools/board/crates/rtperf-ust \
"

S = "${UNPACKDIR}/rust-tools/board/crates/rtperf-ust"
B = "${WORKDIR}/build"

CVE_PRODUCT = "rtperf"

do_compile() {
    oe_runmake -C ${S} OUT=${B}
}

do_install() {
    # Where rtperf-run looks for it, whatever a multilib calls its folder.
    install -D -m 0755 ${B}/librtperf-ust.so ${D}${nonarch_libdir}/rtperf/librtperf-ust.so
}

FILES:${PN} += "${nonarch_libdir}/rtperf"
# nooelint: oelint.vars.insaneskip - not linked against, but loaded by its path
INSANE_SKIP:${PN} += "libdir"
