# shellcheck shell=bash disable=SC2016  # fakes expand later
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# Finding the card, with an lsblk that says what we want.

SD=$ROOT/scripts/collect-sd

# disk PATH RM LABEL-OF-PARTITION…: lines as lsblk prints them.
disk() {
    local path=$1 rm=$2 label n=0
    shift 2
    echo "PATH=\"$path\" TYPE=\"disk\" RM=\"$rm\" HOTPLUG=\"$rm\" PKNAME=\"\" LABEL=\"\" SIZE=\"29.7G\" MODEL=\"Card Reader\""
    for label; do
        ((++n))
        echo "PATH=\"$path$n\" TYPE=\"part\" RM=\"$rm\" HOTPLUG=\"$rm\" PKNAME=\"${path#/dev/}\" LABEL=\"$label\" SIZE=\"1G\" MODEL=\"\""
    done
}

with_disks() {
    cat >"$T/disks"
    fake lsblk <<<"cat '$T/disks'"
    fake rtperf <<<'echo "rtperf $*"; exit "${FAKE_STATUS:-0}"'
    export RTPERF_BUILD_DIR=$T/build
}

test_no_card() {
    with_disks < <(disk /dev/sda 0 ROOT home)
    expect 3 'no removable card with a partition labelled RTPERF; put the card in' "$SD"
    one_line
}
test_no_disk_at_all() {
    with_disks </dev/null
    expect 3 'no removable card' "$SD"
}
test_one_card() {
    # /dev/null stands for the card: it exists and can be read.
    with_disks < <(disk /dev/sda 0 ROOT; disk /dev/null 1 boot RTPERF; disk /dev/zero 1 other)
    expect 0 "^rtperf collect /dev/null -o $T/out\$" "$SD" -o "$T/out"
}
test_card_without_partition_table() {
    with_disks <<<'PATH="/dev/null" TYPE="disk" RM="1" HOTPLUG="1" PKNAME="" LABEL="RTPERF" SIZE="1G" MODEL="x"'
    expect 0 '^rtperf collect /dev/null ' "$SD"
}
test_several_cards() {
    with_disks < <(disk /dev/null 1 RTPERF; disk /dev/zero 1 RTPERF)
    expect 3 'several cards .*name one.*/dev/null.*/dev/zero' "$SD"
    one_line
}
test_two_labels_on_one_card_are_for_collect_to_judge() {
    with_disks < <(disk /dev/null 1 RTPERF RTPERF)
    expect 0 '^rtperf collect /dev/null ' "$SD"
}
test_built_in_disk_is_not_taken() {
    with_disks < <(disk /dev/null 0 RTPERF)
    expect 3 'built-in disk has one, name it if you mean it: /dev/null' "$SD"
    expect 0 '^rtperf collect /dev/null ' "$SD" /dev/null
}
test_label_must_match_whole() {
    with_disks < <(disk /dev/null 1 RTPERF2 xRTPERF rtperf)
    expect 3 'no removable card' "$SD"
}
test_label_in_a_model_is_no_label() {
    with_disks <<<'PATH="/dev/null" TYPE="disk" RM="1" HOTPLUG="1" PKNAME="" LABEL="" SIZE="1G" MODEL="RTPERF"'
    expect 3 'no removable card' "$SD"
}
test_device_that_is_not_there() {
    with_disks </dev/null
    expect 3 "there is no $T/none" "$SD" "$T/none"
}
test_lsblk_fails() {
    with_disks </dev/null
    fake lsblk <<<'exit 1'
    expect 3 'lsblk cannot list' "$SD"
}
test_status_of_collect_is_ours() {
    with_disks < <(disk /dev/null 1 RTPERF)
    FAKE_STATUS=1 expect 1 '^rtperf collect' "$SD"
    FAKE_STATUS=2 expect 2 '^rtperf collect' "$SD"
}
