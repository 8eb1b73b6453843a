# shellcheck shell=bash disable=SC2034  # results for the script that sources this
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# LTTng's commands for the virtual board, from Debian's arm64 packages, and the
# provider of rtperf-run's own events, built on its library.

UST_SOURCES=$REPO/rust-tools/board/crates/rtperf-ust
LTTNG_DEBS=()    # none for a board without LTTng

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

# Sets UST_PROVIDER, which rtperf-run loads where it is installed.
build_ust_provider() {
    local folder=$BUILD/lttng-ust package parts=() key
    UST_PROVIDER=$folder/librtperf-ust.so
    for package in "${LTTNG_UST_PACKAGES[@]}"; do
        resolve_deb "ust-$package" "$package" arm64 ''
        parts+=("$DEB_DIR")
    done
    key=$({ cat "$UST_SOURCES"/{Makefile,*.c,*.h}; printf '%s\n' "${parts[@]}"; aarch64-linux-gnu-gcc-12 --version; declare -f build_ust_provider; } | sha256sum | cut -c1-16)
    if is_current "$UST_PROVIDER" "$key"; then
        stage "UST provider" cached
        return 0
    fi
    doing "UST provider" building
    rm -rf "$folder"
    mkdir -p "$folder/sysroot" "$folder/work"
    for package in "${parts[@]}"; do
        cp -al "$package/usr" "$folder/sysroot/" || die "cannot put LTTng's headers together in $folder/sysroot."
    done
    cp "$UST_SOURCES"/{Makefile,*.c,*.h} "$folder/work/"
    local include=$folder/sysroot/usr/include lib=$folder/sysroot/usr/lib/aarch64-linux-gnu
    run_logged "$BUILD/logs/ust-provider.log" "building the UST provider" env -u MAKEFLAGS \
        make -C "$folder/work" CC=aarch64-linux-gnu-gcc-12 OUT="$folder/out" CFLAGS=-O2 \
        "CPPFLAGS=-isystem $include -isystem $include/aarch64-linux-gnu" \
        "LDFLAGS=-s -L$lib -Wl,-rpath-link,$lib"
    mv "$folder/out/librtperf-ust.so" "$UST_PROVIDER.new"
    put_in_place "$UST_PROVIDER" "$key"
    stage "UST provider" "built librtperf-ust.so on liblttng-ust $DEB_VERSION"
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

root_ust_provider() {
    install -D -m 755 "$UST_PROVIDER" "$1/usr/lib/rtperf/librtperf-ust.so"
}

# Only the modules that the folder holds; the board has no others.
root_modules() {
    local root=$1 tree=$2
    mkdir -p "$root/lib"
    cp -r "$tree/lib/modules" "$root/lib/"
}
