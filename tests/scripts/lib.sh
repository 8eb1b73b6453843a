# shellcheck shell=bash
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# A tiny harness: each test is a function test_*, run in a subshell with a
# scratch folder of its own as $T.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

failed() {
    echo "    $*"
    exit 1
}

# expect STATUS PATTERN COMMAND…: the exit status, and an extended regular
# expression that some line of the output matches. The output stays in $OUTPUT.
expect() {
    local want=$1 pattern=$2 status=0
    shift 2
    # shellcheck disable=SC2034  # functions of scripts/lib speak on a descriptor of their own.
    OUTPUT=$(MESSAGES=2; "$@" 2>&1) || status=$?
    ((status == want)) || failed "status $status instead of $want: $* — $OUTPUT"
    grep -qE -- "$pattern" <<<"$OUTPUT" || failed "no line matches '$pattern': $* — $OUTPUT"
}

one_line() { [[ $(wc -l <<<"$OUTPUT") -eq 1 ]] || failed "more than one line: $OUTPUT"; }

equal() { [[ $1 == "$2" ]] || failed "'$1' is not '$2'${3:+ ($3)}"; }

# fake NAME: a command of that name, first in PATH; its body on standard input.
fake() {
    mkdir -p "$T/bin"
    { echo '#!/bin/bash'; cat; } >"$T/bin/$1"
    chmod +x "$T/bin/$1"
    PATH=$T/bin:$PATH
}

# load PART…: the functions of scripts/lib, in this shell.
load() {
    export RTPERF_BUILD_DIR=$T/build
    local part
    # shellcheck source=scripts/versions.sh
    . "$ROOT/scripts/versions.sh"
    for part in common "$@"; do
        # shellcheck disable=SC1090
        . "$ROOT/scripts/lib/$part.sh"
    done
    mkdir -p "$BUILD/logs"
}

# run_tests: every test_* function, one line each; adds to PASSED and FAILED.
run_tests() {
    local name
    for name in $(compgen -A function test_); do
        T=$(mktemp -d)
        if (set -eu; "$name") >"$T/.log" 2>&1; then
            echo "  ok    ${name#test_}"
            ((++PASSED))
        else
            echo "  FAIL  ${name#test_}"
            cat "$T/.log"
            ((++FAILED))
        fi
        rm -rf "$T"
        unset -f "$name"
    done
}
