# shellcheck shell=bash
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# After the board is off: runs from the card, then the verdict on them.

# collect_runs CARD DIR: sets COLLECT_STATUS and RUNS, the run folders to judge:
# the one that the board's marker names, else all that the card holds.
collect_runs() {
    local card=$1 dir=$2 run
    COLLECT_STATUS=0
    doing collect "reading the card"
    run "$HOST_RTPERF" collect "$card" -o "$dir" >"$dir/collect.log" 2>&1 || COLLECT_STATUS=$?
    RUNS=()
    if [[ $DONE_RUN == none ]]; then
        :
    elif [[ -n $DONE_RUN && -f $dir/$DONE_RUN/run.json ]]; then
        RUNS=("$dir/$DONE_RUN")
    else
        for run in "$dir"/*/run.json; do
            [[ ! -f $run ]] || RUNS+=("${run%/run.json}")
        done
    fi
    stage collect "${#RUNS[@]} run(s) from the card (rtperf collect: status $COLLECT_STATUS)"
    if ((COLLECT_STATUS != 0)); then
        sed 's/^/  /' "$dir/collect.log" >&2
    fi
}

# Sets VERDICT, the gate's exit status.
judge_runs() {
    local limits=$1 dir=$2
    VERDICT=0
    doing gate "judging"
    clear_doing
    run "$HOST_RTPERF" gate --limits "$limits" --junit "$dir/gate.xml" "${RUNS[@]}" || VERDICT=$?
    case $VERDICT in
        0) stage gate "${GREEN}pass${PLAIN}: every limit of $limits is kept" ;;
        1) stage gate "${RED}fail${PLAIN}: a limit of $limits is missed" ;;
        2) stage gate "${RED}unusable${PLAIN}: the data or the limits of $limits" ;;
        *) die "rtperf gate ended with the undocumented status $VERDICT." ;;
    esac
}
