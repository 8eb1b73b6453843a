# shellcheck shell=bash disable=SC2034  # results for the script that sources this
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# Card images that somebody else built (a .wic, say): a working copy, its
# partitions, and the kernel and initrd found on them. All without mounting.

# copy_image FILE COPY: unpacked, and padded to the power of two that QEMU's
# SD card wants. The user's file is only read.
copy_image() {
    local file=$1 copy=$2
    case $file in
        *.gz) unpack_image gzip "$file" "$copy" ;;
        *.xz) unpack_image xz "$file" "$copy" ;;
        *.bz2) unpack_image bzip2 "$file" "$copy" ;;
        *.zst) unpack_image zstd "$file" "$copy" ;;
        *) run cp --sparse=always --reflink=auto -- "$file" "$copy" || die "cannot copy $file to $copy." ;;
    esac
    local size padded=$((64 * 1024 * 1024))
    size=$(stat -c %s "$copy")
    ((size > 0)) || die "$file is empty."
    while ((padded < size)); do ((padded *= 2)); done
    IMAGE_BYTES=$size
    truncate -s "$padded" "$copy"
    chmod u+w "$copy"
}

unpack_image() {
    ensure_packages "${1/xz/xz-utils}"
    run "$1" -dc -- "$2" >"$3" || die "cannot unpack $2 with $1: damaged, or the disk is full."
}

# read_partitions IMAGE NAME: fills PARTITIONS with "number start-byte type".
read_partitions() {
    local image=$1 name=$2 number start size type
    PARTITIONS=()
    while read -r number start size; do
        if (((start + size) * 512 > IMAGE_BYTES)); then
            die "$name is truncated: partition $number ends at byte $(((start + size) * 512)), the image at $IMAGE_BYTES."
        fi
        type=$(blkid -p -s TYPE -o value -O $((start * 512)) -S $((size * 512)) "$image" 2>/dev/null || true)
        PARTITIONS+=("$number $((start * 512)) ${type:-unknown}")
    done < <(sfdisk --dump "$image" 2>/dev/null |
        sed -n 's/^.*[^0-9]\([0-9]\+\) : start= *\([0-9]\+\), size= *\([0-9]\+\),.*/\1 \2 \3/p')
    ((${#PARTITIONS[@]})) || die "$name has no partition table; give a whole card image such as a .wic."
}

ext_has() { [[ $(debugfs -R "stat $3" "$1?offset=$2" 2>/dev/null) == Inode:* ]]; }

# The partition with an init on it. Sets ROOT_NUMBER and ROOT_OFFSET.
find_root() {
    local image=$1 name=$2 number offset type init
    for entry in "${PARTITIONS[@]}"; do
        read -r number offset type <<<"$entry"
        [[ $type == ext[234] ]] || continue
        for init in /sbin/init /usr/sbin/init /usr/lib/systemd/systemd; do
            if ext_has "$image" "$offset" "$init"; then
                ROOT_NUMBER=$number ROOT_OFFSET=$offset
                return 0
            fi
        done
    done
    die "$name has no ext2/3/4 partition with an init to boot; partitions: $(printf '%s; ' "${PARTITIONS[@]}")"
}

# list_files IMAGE OFFSET TYPE: paths of regular files where a kernel may lie.
list_files() {
    case $3 in
        ext[234])
            debugfs -R "ls -p /boot" "$1?offset=$2" 2>/dev/null | awk -F/ '$3 ~ /^100/ { print "/boot/" $6 }' ;;
        vfat)
            mdir -b -i "$1@@$2" :: 2>/dev/null | sed -n 's/^:://p' | grep -v '/$' ;;
    esac
}

copy_file() {
    case $3 in
        vfat) mcopy -n -i "$1@@$2" "::$4" "$5" ;;
        *) debugfs -R "dump \"$4\" \"$5\"" "$1?offset=$2" ;;
    esac >/dev/null 2>&1
    [[ -s $5 ]]
}

# take_from_image IMAGE PATTERN DESTINATION: the newest file of that name on any
# partition. Sets TAKEN to where it was; false when there is none.
take_from_image() {
    local image=$1 pattern=$2 destination=$3 entry number offset type path
    for entry in "${PARTITIONS[@]}"; do
        read -r number offset type <<<"$entry"
        path=$(list_files "$image" "$offset" "$type" | grep -E "/$pattern\$" | sort -V | tail -n 1 || true)
        if [[ -n $path ]] && copy_file "$image" "$offset" "$type" "$path" "$destination"; then
            TAKEN="$path of partition $number"
            return 0
        fi
    done
    return 1
}

# An arm64 kernel as QEMU takes it: a raw Image, or one packed with gzip.
check_kernel() {
    local file=$1 what=$2 magic
    magic=$(od -An -tx1 -N8 "$file" | tr -d ' \n')
    case $magic in
        1f8b*) return 0 ;;
        4d5a????7a696d67) die "$what is an EFI zboot kernel, which QEMU cannot load; give the plain Image with --kernel." ;;
    esac
    [[ $(od -An -c -j56 -N4 "$file" | tr -d ' \n') == 'ARMd' ]] || die "$what is no arm64 kernel image (Image or Image.gz)."
}

# put_plan IMAGE OFFSET PLAN: replaces the installed plan on the working copy.
put_plan() {
    ext_has "$1" "$2" /etc/rtperf || die "the image has no /etc/rtperf, so --plan has nowhere to go: is the rtperf layer in it?"
    put_file "$1" "$2" "$3" /etc/rtperf plan.yaml
}

# put_module_parameters IMAGE OFFSET NAME=VALUE…: for the simulated device.
put_module_parameters() {
    local list=$WORK/modprobe.conf
    printf 'options rtperf-daq-sim %s\n' "${*:3}" >"$list"
    put_file "$1" "$2" "$list" /etc/modprobe.d rtperf.conf
}

# put_file IMAGE OFFSET FILE FOLDER NAME: on the working copy.
put_file() {
    local device="$1?offset=$2" file=$3 folder=$4 name=$5
    e2fsck -p "$device" >/dev/null 2>&1 || (($? == 1)) || die "the root file system of the image is damaged; e2fsck cannot repair it by itself."
    debugfs -w -f - "$device" >/dev/null 2>&1 <<END
cd $folder
rm $name
write "$file" $name
set_inode_field $name mode 0100644
set_inode_field $name uid 0
set_inode_field $name gid 0
END
    debugfs -R "cat $folder/$name" "$device" 2>/dev/null | cmp -s - "$file" ||
        die "could not put $file on the image's root partition."
}
