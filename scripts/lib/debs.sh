# shellcheck shell=bash
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# Packages of the board's architecture, unpacked under the build folder. A
# private apt state (lists, cache, no installed packages) uses this machine's
# own sources and proxies for both architectures, so that the system's apt never
# learns of a foreign architecture and no root is needed.

# Only what apt must not share with the system.
private_apt_options() {
    local state=$BUILD/apt
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    : >>"$state/status"
    APT_PRIVATE=(
        -q
        -o APT::Architecture=amd64
        -o APT::Architectures::=amd64 -o APT::Architectures::=arm64
        -o "Dir::State::lists=$state/lists"
        -o "Dir::State::status=$state/status"
        -o "Dir::Cache=$state/cache"
        -o APT::Sandbox::User=root
        -o Acquire::Languages=none
        -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
        -o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false
    )
}

# Once a run at most. Sources that have nothing to do with us may fail.
update_lists() {
    [[ -z ${LISTS_UPDATED:-} ]] || return 0
    private_apt_options
    doing packages "reading the package lists for arm64"
    run apt-get "${APT_PRIVATE[@]}" update >"$BUILD/logs/apt-arm64.log" 2>&1 || true
    LISTS_UPDATED=yes
}

# available PACKAGE ARCH: the version that apt would take, or nothing.
available() {
    local shown
    shown=$(apt-cache "${APT_PRIVATE[@]}" show --no-all-versions "$1:$2" 2>/dev/null) || return 0
    sed -n 's/^Version: //p' <<<"$shown"
}

newest_of_series() {
    apt-cache "${APT_PRIVATE[@]}" pkgnames | { grep -xE "$1" || true; } | sort -V | tail -n 1
}

# The record of versions used: role, package, architecture, version, and the
# pin it was resolved for, so that a changed pin is resolved anew.
VERSIONS_USED=$BUILD/virtual-board/versions

record_version() {
    mkdir -p "${VERSIONS_USED%/*}"
    { grep -v "^$1 " "$VERSIONS_USED" 2>/dev/null || true; printf '%s\n' "$*"; } | sort >"$VERSIONS_USED.new"
    mv "$VERSIONS_USED.new" "$VERSIONS_USED"
}

# resolve_deb ROLE PACKAGE ARCH PIN [SERIES]: sets DEB_PACKAGE, DEB_VERSION,
# DEB_DIR (unpacked) and DEB_NOTE (how it was come by, for the stage's line).
resolve_deb() {
    local role=$1 package=$2 arch=$3 pin=$4 series=${5:-} line
    line=$(grep "^$role " "$VERSIONS_USED" 2>/dev/null || true)
    if [[ $line == *" pin=$package=$pin" ]]; then
        read -r _ DEB_PACKAGE _ DEB_VERSION _ <<<"$line"
        DEB_DIR=$BUILD/debs/${DEB_PACKAGE}_${DEB_VERSION#*:}_$arch
        DEB_NOTE=cached
        [[ -d $DEB_DIR ]] || line=
    else
        line=
    fi
    if [[ -z $line ]]; then
        choose_deb "$package" "$arch" "$pin" "$series"
        unpack_deb "$arch"
        record_version "$role" "$DEB_PACKAGE" "$arch" "$DEB_VERSION" "pin=$package=$pin"
    fi
    if [[ $DEB_PACKAGE != "$package" || $DEB_VERSION != "$pin" ]]; then
        DEB_NOTE+="; the pinned $package $pin is not in the archive, this is the newest of its series"
    fi
}

choose_deb() {
    local package=$1 arch=$2 pin=$3 series=$4
    update_lists
    DEB_PACKAGE=$package
    DEB_VERSION=$pin
    if [[ -n $pin && $(apt-cache "${APT_PRIVATE[@]}" madison "$package:$arch" 2>/dev/null) == *"| $pin |"* ]]; then
        return 0
    fi
    DEB_VERSION=$(available "$package" "$arch")
    if [[ -z $DEB_VERSION && -n $series ]]; then
        DEB_PACKAGE=$(newest_of_series "$series")
        [[ -z $DEB_PACKAGE ]] || DEB_VERSION=$(available "$DEB_PACKAGE" "$arch")
    fi
    [[ -n $DEB_VERSION ]] || die "apt knows no $arch package ${series:-$package}; check that this machine's apt sources name Debian $DEBIAN_RELEASE with its updates and security suites (log: $BUILD/logs/apt-arm64.log)."
}

unpack_deb() {
    local arch=$1 beside
    DEB_DIR=$BUILD/debs/${DEB_PACKAGE}_${DEB_VERSION#*:}_$arch
    DEB_NOTE=unpacked
    [[ ! -d $DEB_DIR ]] || return 0
    update_lists
    doing packages "fetching $DEB_PACKAGE"
    mkdir -p "$BUILD/debs"
    beside=$(mktemp -d "$BUILD/debs/.new.XXXXXX")
    TEMPORARY+=("$beside")
    run_logged "$BUILD/logs/download.log" "downloading $DEB_PACKAGE" download_deb "$beside" "$arch"
    run_logged "$BUILD/logs/download.log" "unpacking $DEB_PACKAGE" dpkg -x "$beside"/*.deb "$beside/root"
    chmod 755 "$beside/root"
    mv "$beside/root" "$DEB_DIR"
    rm -rf "$beside"
}

download_deb() {
    cd "$1" || return
    apt-get "${APT_PRIVATE[@]}" download "$DEB_PACKAGE:$2=$DEB_VERSION"
}
