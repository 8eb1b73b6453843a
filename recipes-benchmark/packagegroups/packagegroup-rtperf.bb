# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT

SUMMARY = "Everything an image needs to be measured"
DESCRIPTION = "The board tools with their installed plan and start-up files."
SECTION = "benchmark"

inherit packagegroup

RDEPENDS:${PN} = "rtperf-board"
