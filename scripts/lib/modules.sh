# shellcheck shell=bash disable=SC2034  # results for the script that sources this
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# Kernel modules for the virtual board, built outside Yocto: the DAQ pair,
# LTTng's and the probe between the two, for the very kernel that it boots.

MODULE_SOURCES=$REPO/recipes-kernel/rtperf-daq
MODULES=$BUILD/modules

# Sets KERNEL_RELEASE and KERNEL_BUILD, the folder that make -C wants. Needs
# what prepare_kernel sets.
prepare_kernel_build() {
    KERNEL_RELEASE=${KERNEL_MODULES##*/}
    local abi=${KERNEL_RELEASE%-rt-arm64} version part
    version=$(sed -n 's/^kernel [^ ]* [^ ]* \([^ ]*\) .*/\1/p' "$VERSIONS_USED")
    local parts=()
    resolve_deb kernel-headers "linux-headers-$KERNEL_RELEASE" arm64 "$version"
    parts+=("$DEB_DIR")
    resolve_deb kernel-headers-common "linux-headers-$abi-common-rt" amd64 "$version"
    parts+=("$DEB_DIR")
    resolve_deb kernel-kbuild "linux-kbuild-$abi" amd64 "$version"
    parts+=("$DEB_DIR")
    local tree=$MODULES/kernel-build/${version#*:}
    KERNEL_BUILD=$tree/usr/src/linux-headers-$KERNEL_RELEASE
    [[ ! -d $tree ]] || return 0
    rm -rf "$tree.new"
    mkdir -p "$tree.new"
    # Links, but for the files that are replaced: the packages stay as they are.
    for part in "${parts[@]}"; do
        cp -al "$part/usr" "$tree.new/" || die "cannot put the kernel headers together in $tree.new."
    done
    local made=$tree.new/usr/src/linux-headers-$KERNEL_RELEASE
    rm "$made/Makefile" "$made/vmlinux"    # without vmlinux no type information is made
    printf 'include %s/usr/src/linux-headers-%s-common-rt/Makefile\n' "$tree" "$abi" >"$made/Makefile"
    mv "$tree.new" "$tree"
}

# kbuild LOG WHAT FOLDER ARGUMENT…
kbuild() {
    local log=$1 what=$2 folder=$3
    shift 3
    run_logged "$log" "$what" env -u MAKEFLAGS LC_ALL=C \
        make -C "$KERNEL_BUILD" "M=$folder" ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- \
        KCFLAGS=-g0 "-j$(nproc)" "$@" modules
}

# The folders whose modules this run wants, out of all that were ever built.
MODULE_WORK=()

# module_work NAME KEY: sets WORK_DIR, a fresh folder to build in, and is false;
# or is true when what is there was finished for the same key.
module_work() {
    WORK_DIR=$MODULES/$KERNEL_RELEASE/work/$1
    MODULE_WORK+=("$WORK_DIR")
    [[ $(cat "$WORK_DIR/.key" 2>/dev/null) != "$2" ]] || return 0
    rm -rf "$WORK_DIR"
    mkdir -p "$WORK_DIR"
    return 1
}

# What a build depends on besides its sources.
build_key() {
    { cat; printf '%s\n' "$KERNEL_BUILD"; aarch64-linux-gnu-gcc-12 --version; } | sha256sum | cut -c1-16
}

build_daq() {
    local key
    key=$(sha256sum "$MODULE_SOURCES"/rtperf-daq/* | build_key)
    if module_work daq "$key"; then
        stage daq cached
        return 0
    fi
    doing daq "building rtperf-daq and rtperf-daq-sim"
    cp "$MODULE_SOURCES"/rtperf-daq/* "$WORK_DIR/"
    kbuild "$BUILD/logs/modules-daq.log" "building the DAQ modules" "$WORK_DIR"
    printf '%s\n' "$key" >"$WORK_DIR/.key"
    stage daq "built rtperf-daq and rtperf-daq-sim for $KERNEL_RELEASE"
}

# A suite that this machine does not use, from the mirror that it does use.
suite_config() {
    local suite=$1 uri keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    uri=$(apt-get indextargets --format "\$(CODENAME) \$(COMPONENT) \$(REPO_URI)" 'Created-By: Packages' 2>/dev/null |
        sed -n "s/^$DEBIAN_RELEASE main //p" | sed -n 1p)
    [[ -n $uri ]] || die "this machine's apt sources name no mirror of Debian $DEBIAN_RELEASE."
    mkdir -p "$BUILD/apt"
    printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$uri" "$suite" >"$BUILD/apt/$suite.list"
    SUITE_CONFIG=$BUILD/apt/$suite.conf
    cat >"$SUITE_CONFIG" <<END
Dir::Etc::sourcelist "$BUILD/apt/$suite.list";
Dir::Etc::sourceparts "/dev/null";
APT::Get::List-Cleanup "false";
END
}

# resolve_suite_deb SUITE ROLE PACKAGE ARCH PIN: the like of resolve_deb.
resolve_suite_deb() {
    local SUITE_CONFIG LISTS_UPDATED=
    suite_config "$1"
    local -x APT_CONFIG=$SUITE_CONFIG
    resolve_deb "${@:2}"
}

# lttng-modules 2.13.18 came before stable kernels gave this event a third
# argument. Its type check then stops the build, so it is told of it.
adapt_lttng() {
    local header=$1/include/instrumentation/events/timer.h
    local kernel=$KERNEL_BUILD/../linux-headers-${KERNEL_RELEASE%-rt-arm64}-common-rt/include/trace/events/timer.h
    if grep -q was_armed "$kernel" && ! grep -q was_armed "$header"; then
        sed -i -e 's/TP_PROTO(struct hrtimer \*hrtimer, enum hrtimer_mode mode)/TP_PROTO(struct hrtimer *hrtimer, enum hrtimer_mode mode, bool was_armed)/' \
            -e 's/TP_ARGS(hrtimer, mode)/TP_ARGS(hrtimer, mode, was_armed)/' "$header"
    fi
}

# Only the probes that we use. The tables of system calls take as long to
# compile as all the rest, and nothing here records system calls.
trim_lttng() {
    local folder=$1 probe
    {
        cat <<'END'
TOP_LTTNG_MODULES_DIR := $(shell dirname $(lastword $(MAKEFILE_LIST)))/../..
include $(TOP_LTTNG_MODULES_DIR)/src/Kbuild.common
ccflags-y += -I$(TOP_LTTNG_MODULES_DIR)/include
END
        # lttng-tracer itself refers to these three.
        echo 'obj-m += lttng-kprobes.o lttng-kretprobes.o lttng-uprobes.o'
        for probe in "${LTTNG_PROBES[@]}"; do
            echo "obj-m += lttng-probe-$probe.o"
        done
    } >"$folder/src/probes/Kbuild"
    echo 'obj- :=' >"$folder/src/tests/Kbuild"
    sed -i 's/CONFIG_HAVE_SYSCALL_TRACEPOINTS/RTPERF_NO_SYSCALLS/' \
        "$folder/src/Kbuild" "$folder/src/lttng-abi.c" "$folder/include/lttng/events-internal.h"
}

# Sets LTTNG_BUILD.
build_lttng() {
    resolve_suite_deb "$LTTNG_MODULES_SUITE" lttng-modules "$LTTNG_MODULES_PACKAGE" all "$LTTNG_MODULES_VERSION"
    local source key
    source=$(find "$DEB_DIR/usr/src" -mindepth 1 -maxdepth 1 -name 'lttng-modules-*')
    key=$({ echo "$DEB_DIR ${LTTNG_PROBES[*]}"; declare -f adapt_lttng trim_lttng; } | build_key)
    if module_work lttng "$key"; then
        LTTNG_BUILD=$WORK_DIR
        stage lttng "cached"
        return 0
    fi
    LTTNG_BUILD=$WORK_DIR
    doing lttng "building LTTng's modules"
    cp -r "$source/." "$WORK_DIR/"
    adapt_lttng "$WORK_DIR"
    trim_lttng "$WORK_DIR"
    kbuild "$BUILD/logs/modules-lttng.log" "building LTTng's modules" "$WORK_DIR" CONFIG_LTTNG=m
    printf '%s\n' "$key" >"$WORK_DIR/.key"
    stage lttng "built lttng-modules $DEB_VERSION with probes ${LTTNG_PROBES[*]}"
}

# Needs LTTNG_BUILD.
build_probe() {
    local key
    key=$({ sha256sum "$MODULE_SOURCES"/{rtperf-daq/trace.h,rtperf-daq-lttng-probe/*}; cat "$LTTNG_BUILD/.key"; } | build_key)
    if module_work probe "$key"; then
        stage probe cached
        return 0
    fi
    doing probe "building the LTTng probe of rtperf-daq"
    cp "$MODULE_SOURCES"/rtperf-daq-lttng-probe/* "$MODULE_SOURCES/rtperf-daq/trace.h" "$WORK_DIR/"
    kbuild "$BUILD/logs/modules-probe.log" "building the LTTng probe" "$WORK_DIR" \
        "LTTNG_MODULES=$LTTNG_BUILD" "KBUILD_EXTRA_SYMBOLS=$LTTNG_BUILD/Module.symvers"
    printf '%s\n' "$key" >"$WORK_DIR/.key"
    stage probe "built lttng-probe-rtperf-daq"
}

# build_modules WITH_LTTNG: all of them, ready in MODULE_TREE.
build_modules() {
    prepare_kernel_build
    build_daq
    if [[ -n $1 ]]; then
        build_lttng
        build_probe
    fi
    assemble_modules
}

# Sets MODULE_TREE: lib/modules/<release> below it is ready for modprobe.
assemble_modules() {
    MODULE_TREE=$MODULES/$KERNEL_RELEASE
    local tree=$MODULE_TREE/.new name found
    local folder=$tree/lib/modules/$KERNEL_RELEASE
    rm -rf "$tree"
    mkdir -p "$folder/extra" "$folder/kernel"
    cp "$KERNEL_MODULES"/modules.{builtin,builtin.modinfo,order} "$folder/"
    find "${MODULE_WORK[@]}" -name '*.ko' -exec cp -t "$folder/extra" {} +
    for name in "${KERNEL_DAQ_MODULES[@]}"; do
        found=$(find "$KERNEL_MODULES/kernel" -name "$name.ko*" -print -quit)
        [[ -n $found ]] || die "the kernel package has no module $name; correct KERNEL_DAQ_MODULES in scripts/versions.sh."
        case $found in
            *.xz) xz -dc "$found" >"$folder/kernel/$name.ko" ;;
            *) cp "$found" "$folder/kernel/" ;;
        esac
    done
    local log=$BUILD/logs/depmod.log
    run_logged "$log" "depmod" depmod -b "$tree" -E "$KERNEL_BUILD/Module.symvers" -e "$KERNEL_RELEASE"
    if [[ -s $log ]]; then
        cat "$log" >&2
        die "modules of $tree need what the kernel and each other do not have."
    fi
    rm -rf "${MODULE_TREE:?}/lib"
    mv "$tree/lib" "$MODULE_TREE/lib"
    rmdir "$tree"
}
