# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT

SUMMARY = "Everything an image needs to be measured"
DESCRIPTION = "The board tools with their installed plan and start-up files, the data \
               acquisition modules, and LTTng to explain what was measured."
SECTION = "benchmark"

# Kernel modules belong to one machine's kernel.
PACKAGE_ARCH = "${MACHINE_ARCH}"

inherit packagegroup

RDEPENDS:${PN} = "rtperf-board"

# An image without them still measures all but the data acquisition.
RRECOMMENDS:${PN} = "lttng-modules lttng-tools rtperf-daq rtperf-daq-lttng-probe rtperf-ust"
