# shellcheck shell=bash disable=SC2034  # results for the script that sources this
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# Building the Rust tools: `rtperf-run` for the board, `rtperf` for the host.

# rust_at_least RUSTC MINIMUM
rust_at_least() {
    local version
    version=$("$1" --version 2>/dev/null | cut -d' ' -f2) || return 1
    [[ -n $version && $(printf '%s\n' "$2" "${version%%-*}" | sort -V | sed -n 1p) == "$2" ]]
}

has_std() {
    local libdir
    libdir=$("$1" --print target-libdir --target "$2" 2>/dev/null) || return 1
    compgen -G "$libdir/libstd-*.rlib" >/dev/null
}

use_debian_rust() {
    ensure_packages "${RUST_PACKAGES[@]}"
    CARGO=/usr/bin/cargo
    RUSTC=/usr/bin/rustc
}

own_rust_for_host() {
    command -v cargo >/dev/null && rust_at_least rustc "$HOST_RUST_MINIMUM"
}

own_rust_for_board() {
    command -v cargo >/dev/null && rust_at_least rustc "$BOARD_RUST_MINIMUM" && has_std rustc "$1"
}

# The user's own compiler where it will do, else Debian's. Sets CARGO and RUSTC.
choose_host_rust() {
    CARGO=cargo
    RUSTC=rustc
    own_rust_for_host || use_debian_rust
}

# Also sets SYSROOT_FLAG, where the standard library is not the compiler's own.
choose_board_rust() {
    local triple=$1
    SYSROOT_FLAG=
    CARGO=cargo
    RUSTC=rustc
    own_rust_for_board "$triple" && return 0
    use_debian_rust
    has_std "$RUSTC" "$triple" && return 0
    local version
    version=$(dpkg-query -W -f='${Version}' "${RUST_PACKAGES[0]}")
    resolve_deb rust-std "$RUST_STD_PACKAGE" arm64 "$version"
    [[ $DEB_VERSION == "$version" ]] || die "$RUST_STD_PACKAGE for arm64 is $DEB_VERSION in the archive but ${RUST_PACKAGES[0]} here is $version; run: sudo apt-get install ${RUST_PACKAGES[*]}"
    # Flags do not reach build scripts when cargo is given a target, so those
    # go on with the compiler's own library.
    SYSROOT_FLAG="--sysroot=$DEB_DIR/usr"
}

# The user's flags and wrappers are for this machine, not for the board.
clean_cargo() {
    env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS -u CARGO_BUILD_TARGET \
        RUSTC="$RUSTC" "$@"
}

# build_board_tools ARCH static|dynamic: sets BOARD_RUN, the stripped program. A
# static one runs on any image, but cannot load LTTng's library.
build_board_tools() {
    local arch=$1 linking=$2 triple=$1-unknown-linux-gnu prefix linker built out
    local flags='' target=$BUILD/cargo/board-$2
    case $arch in
        aarch64) prefix=aarch64-linux-gnu- linker=aarch64-linux-gnu-gcc-12; ensure_packages "${CROSS_PACKAGES[@]}" ;;
        x86_64) prefix='' linker=gcc; ensure_packages "${NATIVE_PACKAGES[@]}" ;;
        *) die "no board target '$arch'; there are aarch64 and x86_64." "$EXIT_USAGE" ;;
    esac
    [[ $linking == dynamic ]] || flags='-C target-feature=+crt-static'
    choose_board_rust "$triple"
    doing "board tools" "building rtperf-run for $arch"
    local upper=${triple^^}
    upper=${upper//-/_}
    run_logged "$BUILD/logs/board-tools-$arch-$linking.log" "building rtperf-run for $arch" clean_cargo \
        "CARGO_TARGET_${upper}_LINKER=$linker" \
        "CARGO_TARGET_${upper}_RUSTFLAGS=$flags $SYSROOT_FLAG" \
        "CC_${triple//-/_}=$linker" "AR_${triple//-/_}=${prefix}ar" \
        "$CARGO" build --release --locked --target "$triple" --target-dir "$target" \
        --manifest-path "$REPO/rust-tools/board/Cargo.toml" --package rtperf-run
    built=$target/$triple/release/rtperf-run
    out=$BUILD/board-tools/$arch
    [[ $linking == static ]] || out+=-$linking
    BOARD_RUN=$out/rtperf-run
    if [[ ! $BOARD_RUN -nt $built ]]; then
        mkdir -p "$out"
        "${prefix}strip" -o "$BOARD_RUN.new" "$built" || die "cannot strip $built."
        mv "$BOARD_RUN.new" "$BOARD_RUN"
    fi
    record_version "rustc-board-$arch" "$("$RUSTC" --version)"
    stage "board tools" "rtperf-run for $arch, $linking, $(($(stat -c %s "$BOARD_RUN") / 1024)) KiB (rustc $("$RUSTC" --version | cut -d' ' -f2))"
}

# Sets HOST_RTPERF.
build_host_tool() {
    choose_host_rust
    doing "host tool" "building rtperf"
    run_logged "$BUILD/logs/host-tool.log" "building rtperf" clean_cargo \
        "$CARGO" build --release --locked --target-dir "$BUILD/cargo/host" \
        --manifest-path "$REPO/rust-tools/host/Cargo.toml" --package rtperf
    HOST_RTPERF=$BUILD/cargo/host/release/rtperf
    stage "host tool" "rtperf (rustc $("$RUSTC" --version | cut -d' ' -f2))"
}
