# shellcheck shell=bash disable=SC2034  # some are for the script that sources this
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# What every script here shares: messages, the build folder and its lock, and
# running commands so that an interruption ends them.

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=${RTPERF_BUILD_DIR:-$REPO/build}
PROGRAM=${0##*/}
# Debian leaves mke2fs, debugfs, sfdisk and blkid out of a user's PATH.
PATH=$PATH:/usr/sbin:/sbin

EXIT_USAGE=2       # a bad option
EXIT_FAILED=3      # our own failure: a package, a build, the boot
EXIT_INTERRUPTED=130

# Messages go here even while a command's output goes to a log.
exec {MESSAGES}>&2
BOLD='' RED='' GREEN='' DIM='' PLAIN=''
TERMINAL=
if [[ -t 2 ]]; then TERMINAL=yes; fi
if [[ -n $TERMINAL && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then
    BOLD=$'\e[1m' RED=$'\e[31m' GREEN=$'\e[32m' DIM=$'\e[2m' PLAIN=$'\e[0m'
fi

note() { printf '%s\n' "$PROGRAM: $*" >&"$MESSAGES"; }

# die MESSAGE [STATUS]
die() {
    clear_doing
    printf '%s\n' "${RED}$PROGRAM: $1${PLAIN}" >&"$MESSAGES"
    exit "${2:-$EXIT_FAILED}"
}

# One line for each finished stage, with the time since the start.
stage() {
    clear_doing
    printf '[%3d s] %s%-12s%s %s\n' "$SECONDS" "$BOLD" "$1" "$PLAIN" "$2" >&"$MESSAGES"
}

# What is going on now: a line that the stage's own line replaces.
doing() {
    clear_doing
    if [[ -n $TERMINAL ]]; then
        printf '[%3d s] %-12s %s%s …%s' "$SECONDS" "$1" "$DIM" "$2" "$PLAIN" >&"$MESSAGES"
    fi
}
clear_doing() { if [[ -n $TERMINAL ]]; then printf '\r\e[K' >&"$MESSAGES"; fi; }

# The lock's descriptor, which no child may keep open; until the lock is taken
# it stands for nothing.
exec {LOCK_FD}</dev/null

# Folders and files to remove at the end, and the process group to end.
TEMPORARY=()
CHILD=

# run COMMAND…: in a process group of its own, so that an interruption ends the
# command and all it started at once instead of waiting for it.
run() {
    local status=0
    set -m
    "$@" </dev/null {LOCK_FD}>&- &
    CHILD=$!
    set +m
    wait "$CHILD" || status=$?
    CHILD=
    return "$status"
}

# run_logged LOG WHAT COMMAND…: run it quietly; on failure show the log's end.
run_logged() {
    local log=$1 what=$2
    shift 2
    if run "$@" >"$log" 2>&1; then
        return 0
    fi
    clear_doing
    tail -n 20 "$log" >&2
    die "$what failed; the whole log is $log."
}

# Ends the process group of CHILD (or CHILD alone: a shell's QEMU has none of its
# own), first kindly.
end_child() {
    [[ -n $CHILD ]] || return 0
    local tries=0
    {
        kill -TERM -- "-$CHILD" || kill -TERM "$CHILD" || true
        while kill -0 "$CHILD" && ((++tries < 50)); do
            sleep 0.1
        done
        kill -KILL -- "-$CHILD" || kill -KILL "$CHILD" || true
        wait "$CHILD" || true
    } 2>/dev/null
    CHILD=
}

remove_temporary() {
    if ((${#TEMPORARY[@]})); then
        rm -rf -- "${TEMPORARY[@]}"
        TEMPORARY=()
    fi
}

# A shell on the board has the terminal in raw mode.
restore_terminal() {
    [[ -z ${TERMINAL_STATE:-} ]] || stty "$TERMINAL_STATE" 2>/dev/null || true
    TERMINAL_STATE=
}

interrupted() {
    trap '' INT TERM HUP
    end_child
    restore_terminal
    clear_doing
    note "interrupted; nothing is left running."
    exit "$EXIT_INTERRUPTED"
}

# A command that fails where nothing expects it must not end us silently.
unexpected() {
    trap - ERR
    ((BASH_SUBSHELL == 0)) || exit "$1"
    die "unexpected failure (status $1) at ${2#"$REPO"/} line $3; logs are in $BUILD/logs."
}

# Call once, before anything is started.
watch_interruptions() {
    set -E
    trap 'unexpected $? "${BASH_SOURCE[0]}" $LINENO' ERR
    trap interrupted INT TERM HUP
    trap 'end_child; restore_terminal; remove_temporary' EXIT
}

# One run at a time in a build folder: they share its caches.
lock_build() {
    mkdir -p "$BUILD/logs" 2>/dev/null || die "cannot create the build folder $BUILD; set RTPERF_BUILD_DIR to a folder you can write."
    exec {LOCK_FD}>&-
    exec {LOCK_FD}>"$BUILD/.lock" || die "cannot write in the build folder $BUILD; set RTPERF_BUILD_DIR to a folder you can write."
    flock -n "$LOCK_FD" || die "another run is using $BUILD; wait for it, or set RTPERF_BUILD_DIR to another folder."
    # What a run that was killed outright left half-made.
    find "$BUILD" -maxdepth 3 \( -name '.work.*' -o -name '.new.*' -o -name '.card.*' -o -name '.initrd.*' \) -prune -exec rm -rf {} +
}

# need_value OPTION COUNT: an option that needs a value must have one.
need_value() {
    (($2 >= 2)) || die "$1 needs a value; see $PROGRAM --help." "$EXIT_USAGE"
}
need_readable() {
    [[ -f $2 && -r $2 ]] || die "$1: $2 is not a readable file." "$EXIT_USAGE"
}
