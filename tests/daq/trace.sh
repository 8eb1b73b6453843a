# shellcheck shell=bash
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# The trace that LTTng left on the card, as babeltrace2 reads it.

# trace_is NAME HAVE WANT: at least WANT.
trace_is() {
    if (($2 >= $3)); then
        printf 'ok %s (%s)\n' "$1" "$2"
    else
        printf 'FAILED %s: %s, at least %s are expected\n' "$1" "$2" "$3"
        TRACE_FAILED=1
    fi
}

check_trace() {
    local card=$1 out=$BUILD/daq-trace text name
    TRACE_FAILED=0
    rm -rf "$out"
    mkdir -p "$out"
    debugfs -R "rdump /trace $out" "$card?offset=$((RESULTS_START_MIB * MIB))" >"$BUILD/logs/daq-rdump.log" 2>&1
    text=$out/text
    babeltrace2 --clock-seconds "$out/trace" >"$text" 2>"$BUILD/logs/daq-babeltrace.log" || TRACE_FAILED=1
    for name in hardirq thread i2c_start i2c_done spi_start spi_done pushed; do
        trace_is "rtperf_daq_$name in the trace" "$(grep -c " rtperf_daq_$name: " "$text" || true)" 1000
    done
    for name in irq_handler_entry sched_switch sched_waking timer_hrtimer_expire_entry i2c_write; do
        trace_is "$name in the trace" "$(grep -c " $name: " "$text" || true)" 1000
    done
    trace_is "handler of rtperf-daq by name" "$(grep -c 'irq_handler_entry: .*name = "rtperf-daq"' "$text" || true)" 1000
    trace_is "no event was discarded" "$((1 - $(grep -c 'discarded' "$BUILD/logs/daq-babeltrace.log" || true)))" 1
    du -sh "$out/trace" | cut -f1
    return "$TRACE_FAILED"
}
