# shellcheck shell=bash
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# Packages of this machine: found by dpkg, installed by apt where we may.

missing_packages() {
    local package
    for package; do
        if [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
            printf '%s\n' "$package"
        fi
    done
}

# How to become root: nothing to add for root, sudo where it works.
root_prefix() {
    ROOT_PREFIX=()
    if ((EUID == 0)); then
        return 0
    fi
    command -v sudo >/dev/null || return 1
    ROOT_PREFIX=(sudo)
    sudo -n true 2>/dev/null || [[ -t 0 ]]
}

# ensure_packages PACKAGE…: all of them are installed afterwards, or we stop.
ensure_packages() {
    command -v dpkg-query >/dev/null || die "this needs Debian 12: there is no dpkg on this machine."
    local missing
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]})) || return 0
    root_prefix || die "packages are missing; install them with: sudo apt-get install --no-install-recommends ${missing[*]}"
    doing packages "installing ${missing[*]}"
    if ! apt_install "${missing[@]}"; then
        # The lists may be missing or old. An unrelated source that fails is
        # no reason to stop: what counts is whether the packages install.
        apt_quietly update || true
        apt_install "${missing[@]}" || {
            clear_doing
            tail -n 15 "$BUILD/logs/apt.log" >&2
            die "apt could not install ${missing[*]}; the whole log is $BUILD/logs/apt.log."
        }
    fi
    stage packages "installed ${missing[*]}"
}

# The download may be interrupted; the installation itself may not, since that
# would leave dpkg half-way and the next run stuck.
apt_install() {
    apt_quietly install -y --no-install-recommends --download-only "$@" || return 1
    (
        trap '' INT TERM HUP
        apt_quietly install -y --no-install-recommends "$@"
    )
}

# Not through `run`: sudo may ask for a password on the terminal.
apt_quietly() {
    "${ROOT_PREFIX[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
        apt-get -q -o Dpkg::Use-Pty=0 "$@" >>"$BUILD/logs/apt.log" 2>&1 {LOCK_FD}>&-
}
