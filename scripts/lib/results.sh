# shellcheck shell=bash
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# After the board is off: runs from the card, then the verdict on them.

# The lines `id` and `path` of each run, in that order, out of rtperf's JSON:
# one key a line, and no string can hold a line's end.
collected_fields() {
    sed -n 's/^ *"\(id\|path\)": "\(.*\)",\{0,1\}$/\1 \2/p' | sed 's/\\\(["\\]\)/\1/g'
}

# collect_runs CARD DIR: sets COLLECT_STATUS and RUNS, the run folders to judge:
# the one that the board's marker names, else all that the card holds.
collect_runs() {
    local card=$1 dir=$2 key text id=
    COLLECT_STATUS=0 RUNS=()
    doing collect "reading the card"
    run "$HOST_RTPERF" collect --format json "$card" -o "$dir" >"$dir/collect.json" 2>"$BUILD/logs/collect.log" || COLLECT_STATUS=$?
    while read -r key text; do
        case $key in
            id) id=$text ;;
            path) [[ -n $DONE_RUN && $DONE_RUN != "$id" ]] || RUNS+=("$text") ;;
        esac
    done < <(collected_fields <"$dir/collect.json")
    stage collect "${#RUNS[@]} run(s) from the card (rtperf collect: status $COLLECT_STATUS)"
    case $COLLECT_STATUS in
        0) ;;
        1) run "$HOST_RTPERF" collect "$card" -o "$dir" >&"$MESSAGES" || true ;; # for people: what is wrong
        *) sed 's/^/  /' "$BUILD/logs/collect.log" >&"$MESSAGES" ;;
    esac
}

# What the traced pass tells of each run that has one. It explains the figures
# and judges nothing, so whatever comes of it, the verdict stands by itself.
analyze_runs() {
    local dir=$1 folder status
    for folder in "${RUNS[@]}"; do
        [[ -d $folder/explain/trace ]] || continue
        status=0
        doing analyze "reading the trace"
        run "$HOST_RTPERF" analyze "$folder" >"$dir/analyze.new" 2>"$BUILD/logs/analyze.log" || status=$?
        clear_doing
        cat "$dir/analyze.new" >>"$dir/analyze.txt"
        rm "$dir/analyze.new"
        case $status in
            0) stage analyze "the trace of ${folder##*/}, into $dir/analyze.txt" ;;
            1) stage analyze "${RED}parts of the trace${PLAIN} of ${folder##*/}, the rest is lost or damaged; into $dir/analyze.txt" ;;
            *) stage analyze "${RED}nothing${PLAIN}: the trace of ${folder##*/} cannot be analysed" ;;
        esac
        sed 's/^/  /' "$BUILD/logs/analyze.log" >&"$MESSAGES"
    done
    [[ ! -s $dir/analyze.txt ]] || cat "$dir/analyze.txt"
}

any_trace() {
    local folder
    for folder in "${RUNS[@]}"; do
        [[ ! -d $folder/explain/trace ]] || return 0
    done
    return 1
}

# judge_runs DIR LIMITS [TRACE_LIMITS]: sets VERDICT, the gate's exit status.
# The limits on a trace are for runs that have one.
judge_runs() {
    local dir=$1 limits=$2 files=(--limits "$2")
    if [[ -n ${3:-} && -f ${3:-} ]] && any_trace; then
        limits+=" and $3"
        files+=(--limits "$3")
    fi
    VERDICT=0
    doing gate "judging"
    clear_doing
    run "$HOST_RTPERF" gate "${files[@]}" --junit "$dir/gate.xml" "${RUNS[@]}" || VERDICT=$?
    case $VERDICT in
        0) stage gate "${GREEN}pass${PLAIN}: every limit of $limits is kept" ;;
        1) stage gate "${RED}fail${PLAIN}: a limit of $limits is missed" ;;
        2) stage gate "${RED}unusable${PLAIN}: the data or the limits of $limits" ;;
        *) die "rtperf gate ended with the undocumented status $VERDICT." ;;
    esac
}
