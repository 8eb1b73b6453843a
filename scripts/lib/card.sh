# shellcheck shell=bash
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# The virtual board's own kernel, initrd and SD card image, made without root
# and without mounting anything. One function for each thing put in.

PIECES=$REPO/scripts/virtual-board.d
CARD=$BUILD/virtual-board/card      # card.img and initrd.img, with their keys

MIB=$((1024 * 1024))
CARD_MIB=256     # QEMU's SD card wants a power of two
ROOT_START_MIB=1

# size_card ROOT_MIB: the results get what the root file system leaves.
size_card() {
    ROOT_MIB=$1
    RESULTS_START_MIB=$((ROOT_START_MIB + ROOT_MIB))
    RESULTS_MIB=$((CARD_MIB - RESULTS_START_MIB))
}
size_card 64

# Sets KERNEL and KERNEL_MODULES (a folder).
prepare_kernel() {
    resolve_deb kernel "$KERNEL_PACKAGE" arm64 "$KERNEL_VERSION" "$KERNEL_SERIES"
    local release=${DEB_PACKAGE#linux-image-}
    KERNEL=$DEB_DIR/boot/vmlinuz-$release
    KERNEL_MODULES=$DEB_DIR/lib/modules/$release
    [[ -f $KERNEL && -d $KERNEL_MODULES ]] || die "$DEB_PACKAGE does not hold boot/vmlinuz-$release and its modules; remove $DEB_DIR and run again."
    stage kernel "$DEB_PACKAGE $DEB_VERSION ($DEB_NOTE)"
}

# The same BusyBox twice: the board's, and this machine's to list its commands.
prepare_busybox() {
    resolve_deb busybox "$BUSYBOX_PACKAGE" arm64 "$BUSYBOX_VERSION"
    BUSYBOX=$DEB_DIR/bin/busybox
    local note="$DEB_VERSION ($DEB_NOTE)"
    resolve_deb busybox-host "$BUSYBOX_PACKAGE" amd64 "$DEB_VERSION"
    BUSYBOX_HOST=$DEB_DIR/bin/busybox
    stage userland "$BUSYBOX_PACKAGE $note"
}

# key_of FILE…: one hash over the contents; what is built from these files is
# rebuilt when it changes.
key_of() {
    sha256sum -- "$@" | cut -d' ' -f1 | sha256sum | cut -c1-16
}

is_current() { [[ -f $1 && $(cat "$1.key" 2>/dev/null) == "$2" ]]; }

# put_in_place FILE KEY: FILE.new becomes FILE. Without its key it is no cache
# entry, so the key goes first and comes back last.
put_in_place() {
    rm -f "$1.key"
    mv "$1.new" "$1"
    printf '%s\n' "$2" >"$1.key"
}

prepare_initrd() {
    INITRD=$CARD/initrd.img
    local key
    key=$(key_of "$BUSYBOX" "$KERNEL" "$PIECES/initrd-init" "$REPO/scripts/versions.sh" "$REPO/scripts/lib/card.sh")
    if is_current "$INITRD" "$key"; then
        stage initrd "cached"
        return 0
    fi
    doing initrd building
    mkdir -p "$CARD"
    local tree name found
    tree=$(mktemp -d "$CARD/.initrd.XXXXXX")
    TEMPORARY+=("$tree")
    mkdir -p "$tree"/{bin,dev,proc,sys,modules,root}
    install -m 755 "$BUSYBOX" "$tree/bin/busybox"
    install -m 755 "$PIECES/initrd-init" "$tree/init"
    for name in "${KERNEL_BOOT_MODULES[@]}"; do
        found=$(find "$KERNEL_MODULES/kernel" -name "$name.ko*" -print -quit)
        case $found in
            *.ko.xz) xz -dc "$found" >"$tree/modules/$name.ko" ;;
            *.ko) cp "$found" "$tree/modules/" ;;
            *) die "the kernel package has no module $name; correct KERNEL_BOOT_MODULES in scripts/versions.sh." ;;
        esac
        printf '%s\n' "$name" >>"$tree/modules/order"
    done
    (cd "$tree" && find . -print0 | sort -z | cpio --null --create --format=newc --owner=0:0 --quiet | gzip -1n) >"$INITRD.new"
    put_in_place "$INITRD" "$key"
    stage initrd "built with ${#KERNEL_BOOT_MODULES[@]} modules"
}

# card_key FILE…: of these files, the modules, and what LTTng brings.
card_key() {
    local modules
    mapfile -t modules < <(find "$MODULE_TREE/lib" -type f | sort)
    {
        key_of "$@" "${modules[@]}"
        printf '%s\n' "${LTTNG_DEBS[@]##*/}"
    } | sha256sum | cut -c1-16
}

# prepare_card KIND: sets CARD_IMAGE, the card as it comes from the factory,
# never booted itself: `lttng` with LTTng on it, `none` without.
prepare_card() {
    CARD_IMAGE=$CARD/card-$1.img
    local key plan=$REPO/rust-tools/board/plans/virtual-board.yaml
    local init_script=$REPO/recipes-benchmark/rtperf/files/rtperf.init
    local files=("$BOARD_RUN" "$BUSYBOX" "$plan" "$init_script" "$PIECES"/{inittab,rcS,console,profile}
        "$REPO"/scripts/lib/{card,lttng}.sh)
    if [[ $1 == lttng ]]; then
        size_card 128
        files+=("$UST_PROVIDER")
    fi
    key=$(card_key "${files[@]}")
    if is_current "$CARD_IMAGE" "$key"; then
        stage card cached
        return 0
    fi
    doing card building
    mkdir -p "$CARD"
    local tree
    tree=$(mktemp -d "$CARD/.card.XXXXXX")
    TEMPORARY+=("$tree")
    mkdir "$tree/root" "$tree/results"
    root_skeleton "$tree/root"
    root_busybox "$tree/root"
    root_board_tools "$tree/root" "$plan" "$init_script"
    root_modules "$tree/root" "$MODULE_TREE"
    if [[ $1 == lttng ]]; then
        root_lttng_tools "$tree/root"
        root_ust_provider "$tree/root"
    fi
    root_identity "$tree/root" "$key"
    make_partitions "$tree" "$CARD_IMAGE.new"
    put_in_place "$CARD_IMAGE" "$key"
    stage card "built, $CARD_MIB MiB: ROOT ($ROOT_MIB MiB, $([[ $1 == lttng ]] || echo "no ")LTTng) and RTPERF"
}

root_skeleton() {
    local root=$1
    mkdir -p "$root"/{bin,sbin,dev,etc/{init.d,modprobe.d},proc,root,run,sys,tmp,usr/bin,usr/sbin,var/lib,var/log}
    ln -s ../run "$root/var/run"
    install -m 644 "$PIECES/inittab" "$root/etc/inittab"
    install -m 644 "$PIECES/profile" "$root/etc/profile"
    install -m 755 "$PIECES/rcS" "$PIECES/console" "$root/etc/init.d/"
    printf 'root::0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
    printf 'root:x:0:\n' >"$root/etc/group"
    printf 'virtual-board\n' >"$root/etc/hostname"
}

root_busybox() {
    local root=$1 command
    install -m 755 "$BUSYBOX" "$root/bin/busybox"
    while read -r command; do
        [[ -e $root/$command ]] || ln -s /bin/busybox "$root/$command"
    done < <("$BUSYBOX_HOST" --list-full)
}

root_board_tools() {
    local root=$1 plan=$2 init_script=$3
    mkdir -p "$root/etc/rtperf"
    install -m 755 "$BOARD_RUN" "$root/usr/bin/rtperf-run"
    install -m 644 "$plan" "$root/etc/rtperf/plan.yaml"
    install -m 755 "$init_script" "$root/etc/init.d/rtperf"
}

root_identity() {
    local root=$1 key=$2 version
    version=$(sed -n '/^version = /{s/.*"\(.*\)".*/\1/p;q}' "$REPO/rust-tools/board/crates/rtperf-run/Cargo.toml")
    cat >"$root/etc/os-release" <<END
NAME="rtperf virtual board"
PRETTY_NAME="rtperf virtual board $version"
ID=virtual-board
VERSION_ID=$version
IMAGE_ID=virtual-board
IMAGE_VERSION=$version-${key:0:8}
END
}

make_partitions() {
    local tree=$1 image=$2
    truncate -s 0 "$image"
    truncate -s "${CARD_MIB}M" "$image"
    sfdisk --quiet "$image" <<END
label: dos
label-id: 0x72747066
start=$((ROOT_START_MIB * 2048)), size=$((ROOT_MIB * 2048)), type=83
start=$((RESULTS_START_MIB * 2048)), size=$((RESULTS_MIB * 2048)), type=83
END
    make_filesystem ROOT "$tree/root" "$image" "$ROOT_START_MIB" "$ROOT_MIB"
    make_filesystem RTPERF "$tree/results" "$image" "$RESULTS_START_MIB" "$RESULTS_MIB"
}

# Nothing is left for the board's kernel to initialise later in the background,
# and identifiers that steer directory hashing are the same in every build.
make_filesystem() {
    local label=$1 folder=$2 image=$3 start=$4 size=$5 part=$2.ext4 uuid
    printf -v uuid '72747066-0000-4000-8000-%012d' "$start"
    truncate -s "${size}M" "$part"
    mke2fs -q -t ext4 -b 4096 -L "$label" -d "$folder" \
        -U "$uuid" \
        -E "root_owner=0:0,lazy_itable_init=0,lazy_journal_init=0,hash_seed=72747066-0000-4000-8000-0000000000ff" \
        "$part" || die "mke2fs could not make the $label file system of the virtual board."
    give_to_root "$folder" "$part"
    dd if="$part" of="$image" bs="$MIB" seek="$start" conv=notrunc,sparse status=none
}

# mke2fs keeps the owner that the files have here.
give_to_root() {
    ((EUID != 0)) || return 0
    find "$1" -mindepth 1 -printf 'set_inode_field "/%P" uid 0\nset_inode_field "/%P" gid 0\n' |
        debugfs -w -f - "$2" >/dev/null 2>&1
}
