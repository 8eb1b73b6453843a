# shellcheck shell=bash disable=SC2016,SC2034,SC2153,SC2317  # fakes expand later; variables go to and come from scripts/lib
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# The parts of scripts/lib that need no boot.

# --- interruption and the lock

# Gone, or dead and only waiting for a parent to ask.
ended() {
    local tries=0 state
    while state=$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) && [[ -n $state && $state != Z ]]; do
        ((++tries < 50)) || return 1
        sleep 0.1
    done
}

test_interruption_leaves_nothing_running() {
    cat >"$T/script" <<END
PROGRAM=script
. "$ROOT/scripts/lib/common.sh"
watch_interruptions
TEMPORARY+=("$T/half")
mkdir "$T/half"
run bash -c 'sleep 300 & echo \$! >"$T/pid"; wait'
END
    RTPERF_BUILD_DIR=$T/build bash -euo pipefail "$T/script" >"$T/out" 2>&1 &
    local script=$! status=0 tries=0
    until [[ -s $T/pid ]]; do
        ((++tries < 100)) || failed "the script did not start"
        sleep 0.1
    done
    kill -TERM "$script"
    wait "$script" || status=$?
    equal "$status" 130
    grep -q 'interrupted; nothing is left running' "$T/out" || failed "says nothing: $(cat "$T/out")"
    [[ ! -e $T/half ]] || failed "the temporary folder is still there"
    ended "$(cat "$T/pid")" || failed "a grandchild is still running"
}
test_interruption_is_said_while_output_goes_to_a_log() {
    cat >"$T/script" <<END
. "$ROOT/scripts/lib/common.sh"
watch_interruptions
kill -TERM \$\$
run_logged "$T/log" thing sleep 300
END
    expect 130 'interrupted' env RTPERF_BUILD_DIR="$T/build" bash -euo pipefail "$T/script"
}
test_unexpected_failure_is_said() {
    cat >"$T/script" <<END
. "$ROOT/scripts/lib/common.sh"
watch_interruptions
false
END
    expect 3 'unexpected failure \(status 1\)' env RTPERF_BUILD_DIR="$T/build" bash -euo pipefail "$T/script"
}
test_failed_command_shows_its_log() {
    load
    expect 3 'making tea failed; the whole log is ' run_logged "$T/log" "making tea" bash -c 'echo no water; exit 4'
    grep -q 'no water' <<<"$OUTPUT" || failed "the log's end is not shown"
}
test_second_run_in_one_build_folder() {
    load
    exec 8>"$BUILD/.lock"
    flock 8
    expect 3 "another run is using $BUILD" lock_build
    one_line
}
test_leftovers_of_a_killed_run_go() {
    load
    mkdir -p "$BUILD/debs/.new.abc/root" "$BUILD/virtual-board/card/.card.x" "$BUILD/virtual-board/.work.y" "$BUILD/debs/kept"
    lock_build
    equal "$(find "$BUILD" -name '.*.*' | wc -l)" 0
    [[ -d $BUILD/debs/kept ]] || failed "removed a cache entry"
}

# --- cache entries

test_cache_entry_without_its_key_is_rebuilt() {
    load card
    echo image >"$T/card.img.new"
    put_in_place "$T/card.img" key1
    is_current "$T/card.img" key1 || failed "a fresh entry is not current"
    ! is_current "$T/card.img" key2 || failed "another key is taken for current"
    rm "$T/card.img.key"
    ! is_current "$T/card.img" key1 || failed "an entry without key is taken for current"
}
test_key_follows_contents_only() {
    load card
    mkdir "$T/a" "$T/b"
    echo one >"$T/a/f"
    echo one >"$T/b/g"
    equal "$(key_of "$T/a/f")" "$(key_of "$T/b/g")"
    echo two >"$T/a/f"
    [[ $(key_of "$T/a/f") != "$(key_of "$T/b/g")" ]] || failed "contents do not count"
}

# --- versions

# archive PACKAGE=VERSION…: what the fake archive holds.
archive() {
    printf '%s\n' "$@" >"$T/archive"
    fake apt-get <<<'exit 0'
    fake apt-cache <<END
while [[ \$1 == -* ]]; do [[ \$1 == -o ]] && shift; shift; done
name=\${!#}; name=\${name%%:*}
case \$1 in
    pkgnames) cut -d= -f1 "$T/archive" ;;
    show) grep "^\$name=" "$T/archive" >/dev/null || exit 100; sed -n "s/^\$name=/Version: /p" "$T/archive" ;;
    madison) sed -n "s/^\$name=\(.*\)/ \$name | \1 | somewhere/p" "$T/archive" ;;
esac
END
    load debs
    unpack_deb() { DEB_DIR=$BUILD/debs/${DEB_PACKAGE}_${DEB_VERSION#*:}_$1; DEB_NOTE=unpacked; mkdir -p "$DEB_DIR"; }
}
kernel_from_archive() { resolve_deb kernel linux-9-rt 'arm64' 9.1-1 'linux-[0-9]+-rt'; }

test_pinned_version() {
    archive linux-9-rt=9.1-1 linux-10-rt=10.1-1
    kernel_from_archive
    equal "$DEB_PACKAGE $DEB_VERSION $DEB_NOTE" "linux-9-rt 9.1-1 unpacked"
    archive
    kernel_from_archive
    equal "$DEB_PACKAGE $DEB_VERSION $DEB_NOTE" "linux-9-rt 9.1-1 cached"
}
test_package_rebuilt_since() {
    archive linux-9-rt=9.1-2
    kernel_from_archive
    equal "$DEB_PACKAGE $DEB_VERSION" "linux-9-rt 9.1-2"
    [[ $DEB_NOTE == *"the pinned linux-9-rt 9.1-1 is not in the archive"* ]] || failed "not said: $DEB_NOTE"
}
test_pinned_package_gone() {
    archive linux-10-rt=10.1-1 linux-11-rt=11.1-1 linux-12-cloud=12-1 linux-2-rt=2.1-1
    kernel_from_archive
    equal "$DEB_PACKAGE $DEB_VERSION" "linux-11-rt 11.1-1"
    kernel_from_archive
    [[ $DEB_NOTE == cached*"the pinned linux-9-rt 9.1-1 is not in the archive, this is the newest of its series" ]] || failed "not said again: $DEB_NOTE"
    grep -qx 'kernel linux-11-rt arm64 11.1-1 pin=linux-9-rt=9.1-1' "$VERSIONS_USED" || failed "not recorded"
}
test_changed_pin_is_resolved_again() {
    archive linux-9-rt=9.1-1
    kernel_from_archive
    archive linux-10-rt=10.1-1
    resolve_deb kernel linux-10-rt arm64 10.1-1 'linux-[0-9]+-rt'
    equal "$DEB_PACKAGE $DEB_NOTE" "linux-10-rt unpacked"
}
test_series_gone() {
    archive linux-12-cloud=12-1
    expect 3 'apt knows no arm64 package linux-.*check that this machine' kernel_from_archive
}
test_rust_versions() {
    load rust
    fake rustc <<<'echo "rustc ${FAKE:-} (abc 2026-01-01)"'
    FAKE=1.88.0 rust_at_least rustc 1.88 || failed "1.88.0 is not older than 1.88"
    FAKE=1.100.2-nightly rust_at_least rustc 1.88 || failed "1.100 is newer than 1.88"
    ! FAKE=1.87.1 rust_at_least rustc 1.88 || failed "1.87.1 is older than 1.88"
    ! rust_at_least "$T/none" 1.88 || failed "a missing compiler will not do"
}

# --- what a board or an image may throw at us

test_marker_among_noise() {
    load qemu
    printf 'x\0\033[31mRTPERF-DONE status=1 run=a/../b\r\n[  3.1] rtperf[9]: RTPERF-DONE status=2 run=img-01.x_y\r\nbye' >"$T/log"
    read_marker "$T/log"
    equal "$DONE_STATUS $DONE_RUN" "2 img-01.x_y"
    echo 'RTPERF-DONE status= run=' >"$T/log"
    read_marker "$T/log"
    equal "$DONE_STATUS$DONE_RUN" ""
}
# rtperf_says STATUS JSON: a card is collected by a fake rtperf.
rtperf_says() {
    load results
    printf '%s' "$2" >"$T/json"
    fake rtperf <<<"[[ \$2 == --format ]] && cat '$T/json' || echo 'run b: damaged'; exit $1"
    HOST_RTPERF=$T/bin/rtperf DONE_RUN=${DONE_RUN:-}
    mkdir -p "$T/out"
    collect_runs "$T/card" "$T/out" 2>"$T/said" {MESSAGES}>"$T/said"
}
TWO_RUNS='{
  "runs": [
    {
      "faults": [
        "\"path\": \"/etc\","
      ],
      "id": "a",
      "path": "/out/a \"b\"",
    },
    {
      "id": "ab",
      "path": "/out/ab"
    }
  ]
}'
test_all_runs_of_a_card() {
    rtperf_says 0 "$TWO_RUNS"
    equal "$(printf '%s|' "${RUNS[@]}")" '/out/a "b"|/out/ab|'
}
test_only_the_run_that_the_board_named() {
    DONE_RUN=a rtperf_says 0 "$TWO_RUNS"
    equal "$(printf '%s|' "${RUNS[@]}")" '/out/a "b"|'
    DONE_RUN=none rtperf_says 0 "$TWO_RUNS"
    equal "${#RUNS[@]}" 0
}
test_damage_on_the_card_is_shown() {
    rtperf_says 1 "$TWO_RUNS"
    equal "$COLLECT_STATUS ${#RUNS[@]}" "1 2"
    grep -q 'run b: damaged' "$T/said" || failed "not shown: $(cat "$T/said")"
}
test_verdict_is_the_status_of_the_gate() {
    load results
    fake rtperf <<<'exit "$FAKE_STATUS"'
    HOST_RTPERF=$T/bin/rtperf RUNS=("$T/run")
    for FAKE_STATUS in 0 1 2; do
        export FAKE_STATUS
        judge_runs "$T" limits.yaml
        equal "$VERDICT" "$FAKE_STATUS"
    done
    FAKE_STATUS=101 expect 3 'undocumented status 101' judge_runs "$T" limits.yaml
}
test_limits_on_a_trace_are_for_runs_with_one() {
    load results
    fake rtperf <<<'echo "$*"'
    HOST_RTPERF=$T/bin/rtperf RUNS=("$T/run")
    : >"$T/trace.yaml"
    [[ $(judge_runs "$T" limits.yaml "$T/trace.yaml") != *trace.yaml* ]] || failed "judged a trace that is not there"
    mkdir -p "$T/run/explain/trace"
    [[ $(judge_runs "$T" limits.yaml "$T/trace.yaml") == *"--limits $T/trace.yaml"* ]] || failed "did not judge the trace"
}
# analysed STATUS: a run with a trace, and one without.
analysed() {
    load results
    fake rtperf <<<"echo \"Findings of \$2\"; echo 'what is wrong' >&2; exit $1"
    HOST_RTPERF=$T/bin/rtperf RUNS=("$T/a" "$T/b")
    mkdir -p "$T/a/explain/trace" "$T/b/explain"
    OUTPUT=$(analyze_runs "$T" 2>&1 {MESSAGES}>&1)
    equal "$(cat "$T/analyze.txt")" "Findings of $T/a"
    [[ $OUTPUT == *"Findings of $T/a"* ]] || failed "not shown: $OUTPUT"
}
test_analysis_of_runs_with_a_trace() {
    analysed 0
    [[ $OUTPUT == *"the trace of a, into $T/analyze.txt"* ]] || failed "not said: $OUTPUT"
}
test_damaged_trace_is_told_and_does_not_stop() {
    analysed 1
    [[ $OUTPUT == *"parts of the trace"*"what is wrong"* ]] || failed "not said: $OUTPUT"
}
test_module_works_of_this_run_only() {
    load debs modules
    KERNEL_RELEASE=6-test
    module_work daq k || true
    equal "${MODULE_WORK[*]}" "$MODULES/6-test/work/daq"
}
test_kernels() {
    load image
    head -c 100 /dev/zero >"$T/k"
    expect 3 'k is no arm64 kernel image' check_kernel "$T/k" k
    printf 'MZ\0\0zimg' >"$T/k"
    expect 3 'EFI zboot' check_kernel "$T/k" k
    { head -c 56 /dev/zero; printf 'ARMd'; } >"$T/k"
    check_kernel "$T/k" k
    echo x | gzip >"$T/k"
    check_kernel "$T/k" k
}
image_of_16_mib() {
    load packages image
    truncate -s 16M "$T/i"
    printf 'label: dos\nstart=2048, size=8192\nstart=10240, size=8192\n' | sfdisk -q "$T/i"
    copy_image "$T/i" "$T/copy"
}
test_partitions() {
    image_of_16_mib
    equal "$(stat -c %s "$T/copy")" $((64 << 20)) "padded to a power of two"
    read_partitions "$T/copy" i
    equal "${#PARTITIONS[@]} ${PARTITIONS[1]}" "2 2 5242880 unknown"
    expect 3 'i has no ext2/3/4 partition with an init' find_root "$T/copy" i
}
test_truncated_image() {
    image_of_16_mib
    truncate -s 6M "$T/i"
    copy_image "$T/i" "$T/copy"
    expect 3 'i is truncated: partition 2 ends at byte 9437184, the image at 6291456' read_partitions "$T/copy" i
}
test_image_without_partition_table() {
    load packages image
    head -c 100000 /dev/zero >"$T/i"
    copy_image "$T/i" "$T/copy"
    expect 3 'i has no partition table' read_partitions "$T/copy" i
}
test_empty_and_damaged_images() {
    load packages image
    : >"$T/i"
    expect 3 'i is empty' copy_image "$T/i" "$T/copy"
    echo nonsense >"$T/i.gz"
    expect 3 'cannot unpack .*/i.gz with gzip' copy_image "$T/i.gz" "$T/copy"
}
