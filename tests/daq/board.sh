#!/bin/sh
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# Runs on the virtual board in place of its console: the DAQ modules in use,
# and abused. Each check prints "ok NAME" or "FAILED NAME: why".
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
failures=0
iio=/sys/bus/iio/devices
sim=/sys/module/rtperf_daq_sim/parameters
drivers=/sys/bus/platform/drivers/rtperf-daq-sim

ok() { echo "ok $*"; }
failed() { echo "FAILED $*"; failures=$((failures + 1)); }

# is NAME HAVE WANT
is() { if [ "$2" = "$3" ]; then ok "$1"; else failed "$1: '$2' instead of '$3'"; fi; }
# at_least NAME HAVE LOW [HIGH]
at_least() {
    if [ "$2" -ge "$3" ] && [ "$2" -le "${4:-9223372036854775807}" ]; then
        ok "$1 ($2)"
    else
        failed "$1: $2 is not from $3 to ${4:-any}"
    fi
}
works() { name=$1; shift; if "$@"; then ok "$name"; else failed "$name: $*"; fi; }
refused() { name=$1; shift; if "$@" >/dev/null 2>&1; then failed "$name: it was let do it"; else ok "$name"; fi; }

devices() { for d in "$iio"/iio:device*; do [ ! -e "$d/blocks" ] || echo "${d##*device}"; done; }
counter() { cat "$iio/iio:device$1/$2"; }
counters() { for c in blocks_lost crc_errors format_errors bus_errors duplicates restarts merged_edges overruns; do printf '%s=%s ' "$c" "$(counter "$1" "$c")"; done; }
clean="blocks_lost=0 crc_errors=0 format_errors=0 bus_errors=0 duplicates=0 restarts=0 merged_edges=0 overruns=0 "
# field KEY LINE; stage KEY LINE WHICH (1 min, 2 median, 3 max)
field() { echo "$2" | tr ' ' '\n' | sed -n "s/^$1=//p"; }
stage() { field "$1" "$2" | cut -d/ -f"$3"; }
load() { modprobe rtperf-daq-sim "$@" && modprobe rtperf-daq; }
unload() { rmmod rtperf_daq; rmmod rtperf_daq_sim; }

stream() {
    load || failed "load"
    n=$(devices)
    is "one device" "$(echo "$n" | wc -w)" 1
    [ -n "$n" ] || finish
    line=$(daq-read "$n" 1000)
    echo "measured $line"
    is "1000 blocks without loss" "$(echo "$line" | cut -d' ' -f1-4)" "blocks=1000 lost=0 late=0 wrong=0"
    is "counters stay at nothing" "$(counters "$n")" "$clean"
    at_least "the driver saw as many" "$(counter "$n" blocks)" 1000
    is "simulator agrees" "$(cat /sys/devices/platform/rtperf-daq-sim.0/overwritten)" 0
    base=$(stage edge-hardirq "$line" 2)
    line=$(daq-read "$n" 300 samples)
    is "samples are the ramp" "$(echo "$line" | cut -d' ' -f1-4)" "blocks=300 lost=0 late=0 wrong=0"
}

period() {
    file=$iio/iio:device$n/block_period_us
    is "period as set by the module" "$(cat "$file")" 1000
    echo 2500 >"$file"
    is "period is kept" "$(cat "$file")" 2500
    refused "a period of 10 us" sh -c "echo 10 >$file"
    refused "a period of nonsense" sh -c "echo fast >$file"
    is "still as it was" "$(cat "$file")" 2500
    echo 1000 >"$file"
}

faults() {
    echo 100 >"$sim/drop_every"
    line=$(daq-read "$n" 500)
    is "dropped blocks are seen" "$(field lost "$line")" 5
    is "dropped blocks are counted" "$(counter "$n" blocks_lost)" 5
    echo 0 >"$sim/drop_every"
    echo 50 >"$sim/corrupt_every"
    line=$(daq-read "$n" 490)
    is "corrupt blocks are seen as lost" "$(field lost "$line")" 9
    at_least "corrupt blocks are counted" "$(counter "$n" crc_errors)" 9 10
    is "no corrupt block got through" "$(field wrong "$line")" 0
    echo 0 >"$sim/corrupt_every"
    echo 3 >"$sim/storm"
    line=$(daq-read "$n" 200)
    is "a storm loses nothing" "$(field blocks "$line")/$(field lost "$line")" 200/0
    at_least "a storm's edges are counted" $(($(counter "$n" merged_edges) + $(counter "$n" duplicates))) 600
    echo 0 >"$sim/storm"
    echo 200 >"$sim/jitter_us"
    line=$(daq-read "$n" 300)
    is "jitter loses nothing" "$(echo "$line" | cut -d' ' -f1-4)" "blocks=300 lost=0 late=0 wrong=0"
    at_least "with jitter the edge is still the programmed expiry" "$(stage edge-hardirq "$line" 2)" 1 $((base * 2))
    echo 0 >"$sim/jitter_us"
    echo 100 >"$sim/hold_us"
    line=$(daq-read "$n" 300)
    echo "measured hold_us=100 $line"
    at_least "a held handler shows at its size" $(($(stage edge-hardirq "$line" 2) - base)) 100000 110000
    works "and under its own name" grep -q rtperf-daq-hold /proc/interrupts
    echo 0 >"$sim/hold_us"
    refused "hold_us of a second" sh -c "echo 1000000 >$sim/hold_us"
    line=$(daq-read "$n" 20 length=4 wait=100)
    at_least "a full buffer is counted" "$(counter "$n" overruns)" 50
    at_least "and seen in the sequence" "$(field lost "$line")" 50
}

# gone NAME COMMAND…: while a reader streams, COMMAND takes the device away.
gone() {
    name=$1
    shift
    daq-read "$n" 100000 >/tmp/gone.log 2>&1 &
    reader=$!
    sleep 0.3
    "$@" || failed "$name: $*"
    wait "$reader"
    is "$name: the reader is told" $? 3
    is "$name: the device is gone" "$(devices)" ""
}
back() {
    n=$(devices)
    line=$(daq-read "$n" 50 2>&1)
    is "$1: it streams again" "$(echo "$line" | cut -d' ' -f1-2)" "blocks=50 lost=0"
}
put() { echo "$1" >"$2"; }

unbind() {
    spi=$(basename /sys/bus/spi/drivers/rtperf-daq/spi*)
    i2c=$(basename /sys/bus/i2c/drivers/rtperf-daq-ctl/*-0048)
    gone "unbind the SPI half" put "$spi" /sys/bus/spi/drivers/rtperf-daq/unbind
    put "$spi" /sys/bus/spi/drivers/rtperf-daq/bind
    back "SPI half"
    gone "unbind the I2C half" put "$i2c" /sys/bus/i2c/drivers/rtperf-daq-ctl/unbind
    put "$i2c" /sys/bus/i2c/drivers/rtperf-daq-ctl/bind
    back "I2C half"
    put "$i2c" /sys/bus/i2c/drivers/rtperf-daq-ctl/unbind
    put "$spi" /sys/bus/spi/drivers/rtperf-daq/unbind
    put "$spi" /sys/bus/spi/drivers/rtperf-daq/bind
    is "half a device is none" "$(devices)" ""
    put "$i2c" /sys/bus/i2c/drivers/rtperf-daq-ctl/bind
    back "halves in the other order"
    gone "unplug the whole device" put rtperf-daq-sim.0 "$drivers/unbind"
    put rtperf-daq-sim.0 "$drivers/bind"
    back "whole device"
}

unloading() {
    daq-read "$n" 100000 >/tmp/open.log 2>&1 &
    reader=$!
    sleep 0.3
    refused "unload the driver under an open file" rmmod rtperf_daq
    kill "$reader"
    wait "$reader" 2>/dev/null
    put 0 "$iio/iio:device$n/buffer/enable" 2>/dev/null
    put 1 "$iio/iio:device$n/buffer/enable"
    sleep 0.1
    refused "unload the simulator under the driver" rmmod rtperf_daq_sim
    works "unload the driver while it streams" rmmod rtperf_daq
    works "then the simulator" rmmod rtperf_daq_sim
    works "load the driver first" modprobe rtperf-daq
    works "then the simulator" modprobe rtperf-daq-sim
    back "driver first"
    put rtperf-daq-sim.0 "$drivers/unbind"
    works "unload the simulator first, once unplugged" rmmod rtperf_daq_sim
    rmmod rtperf_daq || failed "rmmod rtperf_daq last"
    refused "channels=9" modprobe rtperf-daq-sim channels=9
    refused "samples=3" modprobe rtperf-daq-sim samples=3
    refused "devices=0" modprobe rtperf-daq-sim devices=0
    refused "period_us=1" modprobe rtperf-daq-sim period_us=1
}

shapes() {
    for shape in "1 1" "3 1" "3 4" "8 64"; do
        # shellcheck disable=SC2086  # two words
        set -- $shape
        load channels="$1" samples="$2"
        n=$(devices)
        line=$(daq-read "$n" 100 samples)
        is "blocks of $1 x $2" "$(echo "$line" | cut -d' ' -f1-4)" "blocks=100 lost=0 late=0 wrong=0"
        unload
    done
}

two() {
    load devices=2
    # shellcheck disable=SC2046  # one word each
    set -- $(devices)
    is "two devices" $# 2
    daq-read "$1" 500 samples >/tmp/one.log &
    daq-read "$2" 500 samples >/tmp/two.log
    wait
    is "both stream at once" "$(cut -d' ' -f1-4 /tmp/one.log /tmp/two.log | sort -u)" "blocks=500 lost=0 late=0 wrong=0"
    unload
}

trace() {
    [ -x /usr/bin/lttng ] || return 0
    load
    n=$(devices)
    mkdir -p /results
    mount -t ext4 /dev/mmcblk0p2 /results || failed "mount the results partition"
    lttng-sessiond --daemonize --kmod-probes=irq,sched,timer,i2c --extra-kmod-probes=rtperf-daq || failed "lttng-sessiond"
    {
        lttng create daq --output=/results/trace &&
            lttng enable-event --kernel 'rtperf_daq_*,irq_*,sched_switch,sched_waking,timer_hrtimer_*,i2c_*' &&
            lttng start && daq-read "$n" 1000 >/tmp/traced.log &&
            lttng stop && lttng destroy
    } >/tmp/lttng.log 2>&1 || { failed "lttng session"; cat /tmp/lttng.log; }
    echo "measured traced $(cat /tmp/traced.log)"
    is "1000 blocks under LTTng" "$(cut -d' ' -f1-4 /tmp/traced.log)" "blocks=1000 lost=0 late=0 wrong=0"
    sync
    umount /results
    kill "$(cat /run/lttng/lttng-sessiond.pid)"
    sleep 2
    is "the daemon takes the LTTng probe along" "$(lsmod | grep -c lttng_probe_rtperf_daq)" 0
    unload
}

finish() {
    is "the kernel complained of nothing" "$(dmesg | grep -cE 'WARNING|BUG|Oops|Call trace|REMOVING')" 0
    is "no module is left" "$(lsmod | grep -c rtperf)" 0
    dmesg | grep -iE 'WARNING|BUG:|Call trace|rtperf|lttng' | tail -n 40
    echo "RTPERF-DONE status=$((failures > 0)) run=daq-test"
    poweroff
    exit
}

stream
period
faults
unbind
unloading
shapes
two
trace
finish
