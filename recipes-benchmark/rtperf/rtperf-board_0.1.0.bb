# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT

SUMMARY = "Measures real-time latencies on the board"
DESCRIPTION = "rtperf-run executes a plan of latency measurements, checks whether the \
               board is in a state to be measured, and leaves raw samples in a crash-safe run \
               directory on the results partition."
SECTION = "benchmark"
LICENSE = "MIT | Apache-2.0"
LIC_FILES_CHKSUM = "\
    file://${UNPACKDIR}/LICENSES/MIT.txt;md5=500a079bc15af905e4a7b7058cd76e43 \
    file://${UNPACKDIR}/LICENSES/Apache-2.0.txt;md5=3b83ef96387f14655fc854ddc3c6bd57 \
"

# The sources are this clone. Each path is listed, so that the recipe is built
# again when one of them changes and never picks up a target/ folder.
FILESEXTRAPATHS:prepend := "${THISDIR}/../..:"
SRC_URI = "\
    file://LICENSES/MIT.txt \
    file://LICENSES/Apache-2.0.txt \
    file://rust-tools/board/Cargo.toml \
    file://rust-tools/board/Cargo.lock \
    file://rust-tools/board/crates \
    file://rust-tools/board/plans \
    file://rtperf.init \
    file://rtperf.service \
"
require ${BPN}-crates.inc

S = "${UNPACKDIR}/rust-tools/board"

inherit cargo cargo-update-recipe-crates systemd update-rc.d

# The class installs every executable it finds; build only the one to ship.
CARGO_BUILD_FLAGS:append = " --package rtperf-run"

CVE_PRODUCT = "rtperf"

SYSTEMD_SERVICE:${PN} = "rtperf.service"
INITSCRIPT_NAME = "rtperf"
INITSCRIPT_PARAMS = "start 99 2 3 4 5 ."

do_install:append() {
    install -D -m 0644 ${S}/plans/default.yaml ${D}${sysconfdir}/rtperf/plan.yaml
    install -d ${D}${localstatedir}/lib/rtperf

    # rtperf-run takes this as the mark of an image built with the layer.
    install -d ${D}${nonarch_libdir}/rtperf
    echo "${BPN} ${PV}" > ${D}${nonarch_libdir}/rtperf/instrumented

    if ${@bb.utils.contains('DISTRO_FEATURES', 'systemd', 'true', 'false', d)}; then
        install -D -m 0644 ${UNPACKDIR}/rtperf.service ${D}${systemd_system_unitdir}/rtperf.service
    fi
    if ${@bb.utils.contains('DISTRO_FEATURES', 'sysvinit', 'true', 'false', d)}; then
        install -D -m 0755 ${UNPACKDIR}/rtperf.init ${D}${sysconfdir}/init.d/rtperf
    fi
}

FILES:${PN} += "${nonarch_libdir}/rtperf"
CONFFILES:${PN} = "${sysconfdir}/rtperf/plan.yaml"
