# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT

SUMMARY = "A small image that measures itself and keeps the results on its card"
DESCRIPTION = "Boots, runs the installed plan when rtperf.autorun is on the kernel's \
               command line, and leaves the samples on a partition labelled RTPERF."
SECTION = "benchmark"
LICENSE = "MIT"

IMAGE_INSTALL = "packagegroup-core-boot packagegroup-rtperf ${CORE_IMAGE_EXTRA_INSTALL}"
IMAGE_FEATURES += "ssh-server-dropbear"
IMAGE_LINGUAS = ""
IMAGE_FSTYPES += "wic wic.bmap"

# The results partition follows whatever the machine's own .wks lays out; a
# machine without one boots its kernel from outside and needs a root only.
RTPERF_WKS_BASE := "${@d.getVar('RTPERF_WKS_BASE') or d.getVar('WKS_FILE') or ''}"
RTPERF_WKS_SYSTEM = "${@'include ${RTPERF_WKS_BASE}' if d.getVar('RTPERF_WKS_BASE') else 'part / --source rootfs --fstype=ext4 --label ROOT --align 4096'}"
RTPERF_RESULTS_SIZE ?= "512M"
WKS_FILE = "rtperf.wks.in"
WKS_FILES = "${WKS_FILE}"

inherit core-image features_check

# The kernel's fragments hang on it; an image without them would be measured
# with figures that nothing explains.
REQUIRED_DISTRO_FEATURES = "rtperf"
