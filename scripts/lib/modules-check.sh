# shellcheck shell=bash
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# Our kernel sources under the kernel's own checks. Sourced after modules.sh.

# The style checker is in no package of its own: it is taken out of the
# kernel's source once, and that is thrown away. Sets CHECKPATCH.
prepare_checkpatch() {
    local folder=$MODULES/checkpatch/$CHECKPATCH_VERSION
    CHECKPATCH=$folder/scripts/checkpatch.pl
    [[ ! -f $CHECKPATCH ]] || return 0
    # Its dictionary of misspellings comes along.
    choose_deb "$CHECKPATCH_PACKAGE" amd64 "$CHECKPATCH_VERSION" ''
    doing checkpatch "taking it out of $DEB_PACKAGE $DEB_VERSION (150 MB)"
    local download
    download=$(mktemp -d "$BUILD/modules/.new.XXXXXX")
    TEMPORARY+=("$download")
    run_logged "$BUILD/logs/download.log" "downloading $DEB_PACKAGE" download_deb "$download" amd64
    mkdir -p "$download/out"
    run_logged "$BUILD/logs/checkpatch.log" "unpacking checkpatch" take_checkpatch "$download"
    rm -rf "$folder"
    mkdir -p "${folder%/*}"
    mv "$download/out" "$folder"
    rm -rf "$download"
}

take_checkpatch() {
    dpkg --fsys-tarfile "$1"/*.deb | tar -xO "./usr/src/$DEB_PACKAGE.tar.xz" | xz -dc |
        tar -x -C "$1/out" --strip-components=1 --wildcards \
            '*/scripts/checkpatch.pl' '*/scripts/spelling.txt' '*/scripts/const_structs.checkpatch'
}

# An event is declared in the shape of the kernel's own headers of events,
# which these two of checkpatch's checks do not know.
EVENT_HEADERS=(trace.h rtperf_daq_events.h)
EVENT_IGNORED=OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT

check_style() {
    local file status=0 options
    for file in "$MODULE_SOURCES"/rtperf-daq*/*.[ch]; do
        options=(--no-tree --strict --terse --no-summary --show-types)
        [[ " ${EVENT_HEADERS[*]} " != *" ${file##*/} "* ]] || options+=(--ignore "$EVENT_IGNORED")
        run perl "$CHECKPATCH" "${options[@]}" -f "$file" || status=1
    done
    return "$status"
}

# check_build NAME ARGUMENT…: built with W=1 and seen by sparse; what it says of
# our own files counts.
check_build() {
    local name=$1 log=$BUILD/logs/check-$1.log found
    shift
    kbuild "$log" "building $name for the check" "$CHECK_DIR/$name" W=1 C=2 "$@"
    found=$(grep -E '(warning|error):|^(WARNING|ERROR):' "$log" | sort -u || true)
    [[ -z $found ]] || { printf '%s\n' "$found"; return 1; }
}

check_modules() {
    ensure_packages "${MODULE_CHECK_PACKAGES[@]}"
    prepare_checkpatch
    local failed=''
    check_style || failed+=" checkpatch"
    stage checkpatch "$(cd "$MODULE_SOURCES" && find . -name '*.[ch]' | wc -l) files, --strict"
    CHECK_DIR=$(mktemp -d "$MODULES/.new.XXXXXX")
    TEMPORARY+=("$CHECK_DIR")
    cp -r "$MODULE_SOURCES/rtperf-daq" "$CHECK_DIR/rtperf-daq"
    check_build rtperf-daq || failed+=" rtperf-daq"
    stage rtperf-daq "W=1 and sparse"
    build_lttng
    cp -r "$MODULE_SOURCES/rtperf-daq-lttng-probe" "$CHECK_DIR/probe"
    cp "$MODULE_SOURCES/rtperf-daq/trace.h" "$CHECK_DIR/probe/"
    check_build probe "LTTNG_MODULES=$LTTNG_BUILD" "KBUILD_EXTRA_SYMBOLS=$LTTNG_BUILD/Module.symvers" || failed+=" probe"
    stage probe "W=1 and sparse"
    [[ -z $failed ]] || die "warnings in:$failed" 1
}
