# shellcheck shell=bash
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# Options: wrong ones are one sentence and status 2, before anything is built.

VB=$ROOT/scripts/virtual-board
BT=$ROOT/scripts/build-board-tools
SD=$ROOT/scripts/collect-sd

refused() {
    export RTPERF_BUILD_DIR=$T/build
    expect 2 "$@"
    one_line
    [[ ! -e $T/build/apt ]] || failed "something was fetched for a bad option"
}

test_unknown_option() {
    refused 'unknown option --fast.*--help' "$VB" --fast
    refused 'unknown option --fast.*--help' "$BT" --fast
    refused 'unknown option --fast.*--help' "$SD" --fast
}
test_option_without_value() {
    refused '--plan needs a value' "$VB" --plan
    refused '--target needs a value' "$BT" --target
    refused '-o needs a value' "$SD" -o
}
test_cpus() {
    local bad
    for bad in 0 9 two '' -1 1.5 '2;ls'; do
        refused "--cpus: '.*' is not a number from 1 to 8" "$VB" --cpus "$bad"
    done
}
test_timeout() {
    local bad
    for bad in 0 -5 ten 10000000; do
        refused "--timeout: '$bad' is not" "$VB" "--timeout=$bad"
    done
}
test_trace() { refused "--trace: 'ftrace' is neither lttng nor none" "$VB" --trace=ftrace; }
test_module_parameters() {
    refused "--module-param: 'hold_us' is not NAME=NUMBER" "$VB" --module-param hold_us
    refused "--module-param: 'hold_us=;ls' is not" "$VB" --module-param 'hold_us=;ls'
    refused 'no parameter hold_ms; it has .*hold_us' "$VB" --module-param hold_us=1 --module-param hold_ms=1
}
test_own_card_only() {
    : >"$T/image"
    refused 'not for an --image' "$VB" --image "$T/image" --trace none
    refused 'not for an --image' "$VB" --image "$T/image" --module-param hold_us=1
}
test_missing_files() {
    local option
    for option in --plan --limits --image --kernel --initrd; do
        refused "$option: .*/none is not a readable file" "$VB" "$option" "$T/none"
    done
    refused '--image: .* is not a readable file' "$VB" --image "$T"
}
test_unknown_target() { refused "no board target 'vax'; there are aarch64 and x86_64" "$BT" --target vax; }
test_two_devices() { refused 'one device at a time' "$SD" /dev/null /dev/zero; }
test_help_names_every_option_and_status() {
    local word
    expect 0 '^usage: ' "$VB" --help
    for word in --plan --limits --out --trace --module-param --cpus --real-time --timeout --cut-power-at --shell --keep --image --kernel --initrd; do
        grep -qe "$word" <<<"$OUTPUT" || failed "--help does not name $word"
    done
    for word in 0 1 2 3 130; do
        grep -qE "^  $word +[a-z]" <<<"$OUTPUT" || failed "--help does not name status $word"
    done
    expect 0 '^usage: ' "$BT" -h
    expect 0 '^usage: ' "$SD" -h
}
