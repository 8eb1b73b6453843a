# shellcheck shell=bash disable=SC2034  # read by the scripts that source this
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# Every kernel and package version that the scripts take from Debian.
#
# A stable update removes old packages from the archive. When the pinned
# version of a package has gone, the newest one of its series is taken and one
# line says so; build/virtual-board/versions records what was really used.
# To move a pin: change it here, run scripts/virtual-board, look at the figures
# (they may shift with the kernel), and commit both.

DEBIAN_RELEASE=bookworm

# The board's kernel: PREEMPT_RT, arm64. The package name carries the kernel's
# ABI version; the pattern is the series that a newer one is taken from.
KERNEL_PACKAGE=linux-image-6.12.117+deb12-rt-arm64
KERNEL_VERSION=6.12.117-1~deb12u1
KERNEL_SERIES='linux-image-6\.12\.[0-9]+\+deb12-rt-arm64'

# Modules that the initrd loads to reach the root partition, in this order.
KERNEL_BOOT_MODULES=(crc16 crc32c_generic libcrc32c mbcache jbd2 ext4 cqhci sdhci sdhci-pci)

# The board's user land.
BUSYBOX_PACKAGE=busybox-static
BUSYBOX_VERSION=1:1.35.0-4+deb12u1+b1

# Host packages, installed by apt; their versions are recorded, not pinned.
BOOT_PACKAGES=(qemu-system-arm e2fsprogs fdisk cpio xz-utils)
IMAGE_PACKAGES=(mtools)
CROSS_PACKAGES=(gcc-12-aarch64-linux-gnu libc6-dev-arm64-cross)
NATIVE_PACKAGES=(gcc libc6-dev)

# A Rust compiler for the board where the user's own has no arm64 standard
# library. That library comes in the very version of the compiler.
RUST_PACKAGES=(rustc-web cargo-web)
RUST_STD_PACKAGE=libstd-rust-web-dev

# The oldest compilers that build the two workspaces.
BOARD_RUST_MINIMUM=1.75
HOST_RUST_MINIMUM=1.88

# Modules for that kernel: its own headers, in its own version, and LTTng's
# from a newer Debian, whose lttng-modules knows of newer kernels. It goes
# with the lttng-tools of DEBIAN_RELEASE.
MODULE_PACKAGES=(gcc-12-aarch64-linux-gnu make kmod)
MODULE_CHECK_PACKAGES=(sparse perl)
LTTNG_MODULES_SUITE=trixie
LTTNG_MODULES_PACKAGE=lttng-modules-dkms
LTTNG_MODULES_VERSION=2.13.18-1+deb13u1
LTTNG_PROBES=(sched irq timer i2c gpio power printk signal)

# What our modules need of the kernel package's own.
KERNEL_DAQ_MODULES=(industrialio kfifo_buf)

# The kernel's style checker, from the source of the same series.
CHECKPATCH_PACKAGE=linux-source-6.12
CHECKPATCH_VERSION=6.12.117-1~deb12u1

# LTTng's commands for the board, and the libraries that they load.
LTTNG_TOOLS_PACKAGE=lttng-tools
LTTNG_TOOLS_VERSION=2.13.9-1+deb12u1
LTTNG_LIBRARIES=(libc6 libgcc-s1 libicu72 libkmod2 liblttng-ctl0 liblttng-ust1 liblttng-ust-common1
    liblttng-ust-ctl5 liblzma5 libnuma1 libpopt0 libssl3 libstdc++6 liburcu8 libxml2 libzstd1 zlib1g)
# What rtperf-run's UST provider is built with, in the version of the library.
LTTNG_UST_PACKAGES=(liburcu-dev liblttng-ust-dev liblttng-ust-common1 liblttng-ust1)
