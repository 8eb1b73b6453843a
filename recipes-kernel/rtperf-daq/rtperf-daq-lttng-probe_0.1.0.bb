# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT

SUMMARY = "Lets LTTng record the events of rtperf-daq"
DESCRIPTION = "The module lttng-probe-rtperf-daq, which LTTng's session daemon loads when \
               started with --extra-kmod-probes=rtperf-daq."
SECTION = "kernel/modules"
LICENSE = "GPL-2.0-only"
LIC_FILES_CHKSUM = "file://${UNPACKDIR}/LICENSES/GPL-2.0-only.txt;md5=b234ee4d69f5fce4486a80fdaf4a4263"

# What it is compiled against: put into the sysroot by our append to it.
DEPENDS = "lttng-modules"

# The sources are this clone; trace.h is the driver's.
FILESEXTRAPATHS:prepend := "${THISDIR}:${THISDIR}/rtperf-daq:${THISDIR}/../..:"
SRC_URI = "\
    file://LICENSES/GPL-2.0-only.txt \
    file://rtperf-daq-lttng-probe \
    file://trace.h;subdir=rtperf-daq-lttng-probe \
"

S = "${UNPACKDIR}/rtperf-daq-lttng-probe"

inherit module features_check

# Without the feature lttng-modules keeps its headers to itself.
REQUIRED_DISTRO_FEATURES = "rtperf"

EXTRA_OEMAKE += "LTTNG_MODULES=${STAGING_INCDIR}/lttng-modules"

CVE_PRODUCT = "rtperf"
