# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT

SUMMARY = "Data acquisition driver with a time for every stage, and its simulated device"
DESCRIPTION = "rtperf-daq is an IIO driver: GPIO interrupt, I2C command, SPI block, buffer. \
               rtperf-daq-sim is a device for it that needs no hardware and can be told to \
               misbehave."
SECTION = "kernel/modules"
LICENSE = "GPL-2.0-only"
LIC_FILES_CHKSUM = "file://${UNPACKDIR}/LICENSES/GPL-2.0-only.txt;md5=b234ee4d69f5fce4486a80fdaf4a4263"

# The sources are this clone.
FILESEXTRAPATHS:prepend := "${THISDIR}:${THISDIR}/../..:"
SRC_URI = "\
    file://LICENSES/GPL-2.0-only.txt \
    file://rtperf-daq \
"

S = "${UNPACKDIR}/rtperf-daq"

inherit module

CVE_PRODUCT = "rtperf"

# A board with the real device sets this to 0: then nothing simulates a second.
RTPERF_DAQ_SIM ?= "1"
RTPERF_DAQ_SIM_OPTIONS ?= "period_us=1000 channels=2 samples=8"

KERNEL_MODULE_AUTOLOAD:append = " rtperf-daq${@' rtperf-daq-sim' if bb.utils.to_boolean(d.getVar('RTPERF_DAQ_SIM')) else ''}"
KERNEL_MODULE_PROBECONF:append = " rtperf-daq-sim"
module_conf_rtperf-daq-sim = "options rtperf-daq-sim ${RTPERF_DAQ_SIM_OPTIONS}"
