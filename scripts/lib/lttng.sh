# shellcheck shell=bash disable=SC2034  # results for the script that sources this
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# LTTng's commands for the virtual board, from Debian's arm64 packages.

# Sets LTTNG_DEBS, the unpacked packages.
prepare_lttng_tools() {
    local package
    LTTNG_DEBS=()
    resolve_deb lttng-tools "$LTTNG_TOOLS_PACKAGE" arm64 "$LTTNG_TOOLS_VERSION"
    LTTNG_DEBS+=("$DEB_DIR")
    local note="$DEB_VERSION ($DEB_NOTE)"
    for package in "${LTTNG_LIBRARIES[@]}"; do
        resolve_deb "board-$package" "$package" arm64 ''
        LTTNG_DEBS+=("$DEB_DIR")
    done
    stage lttng-tools "$note and ${#LTTNG_LIBRARIES[@]} libraries"
}

# The commands and what they load: no manuals, no plug-ins, no static archives.
# The session daemon does not start without its schema in usr/share/xml.
root_lttng_tools() {
    local root=$1 deb
    for deb in "${LTTNG_DEBS[@]}"; do
        tar -C "$deb" --exclude=usr/share/{doc,lintian,man,locale} --exclude=usr/lib/debug --exclude=etc --exclude='*.a' --exclude='*.py' \
            --exclude='gconv' --exclude='audit' --exclude=usr/bin/babeltrace --exclude=ossl-modules --exclude='engines-*' \
            -cf - . | tar -C "$root" -xf - --keep-directory-symlink --no-same-owner
    done
}

# Only the modules that the folder holds; the board has no others.
root_modules() {
    local root=$1 tree=$2
    mkdir -p "$root/lib"
    cp -r "$tree/lib/modules" "$root/lib/"
}
