# shellcheck shell=bash disable=SC2034  # results for the script that sources this
# SPDX-FileCopyrightText: The meta-rtperf authors
# SPDX-License-Identifier: MIT
#
# Booting the virtual board and watching it until it is off.

QEMU_LOG=$BUILD/logs/qemu.log
STAY_LIMIT=60    # s that a board may take to power off after its marker

# boot_arguments CARD KERNEL INITRD ROOT_DEVICE: sets QEMU. With -icount the
# board's clock counts instructions, so that figures repeat on any host.
boot_arguments() {
    local card=$1 kernel=$2 initrd=$3 root=$4 line
    line="console=ttyAMA0 root=$root rootwait rw panic=-1 quiet rtperf.board=virtual rtperf.clock=$CLOCK"
    [[ $MODE == shell ]] || line+=" rtperf.autorun rtperf.finish=poweroff"
    # shellcheck disable=SC2054  # the commas are QEMU's
    QEMU=(
        qemu-system-aarch64 -M virt,gic-version=3 -accel tcg -cpu cortex-a53 -smp "$CPUS" -m 512
        -display none -nodefaults -no-reboot
        -kernel "$kernel" -append "$line"
        -device sdhci-pci -device "sd-card,drive=card"
        -drive "if=none,id=card,format=raw,cache=unsafe,file=${card//,/,,}"
    )
    [[ -z $initrd ]] || QEMU+=(-initrd "$initrd")
    [[ $CLOCK != icount ]] || QEMU+=(-icount "shift=0,sleep=off")
}

# The console as a person may see it: no control characters of the board's.
show_console() {
    tee "$1" | LC_ALL=C sed -u -e 's/\x1b\[[0-9;?]*[A-Za-z]//g; s/[\x01-\x08\x0b-\x1f\x7f]//g' -e "s/^/${DIM}board|${PLAIN} /" >&2
}

# Sets BOARD_END: off, timeout, stayed, cut, or failed (QEMU itself).
boot_unattended() {
    local log=$1 out status=0
    exec {out}> >(trap '' INT TERM; exec {LOCK_FD}>&-; show_console "$log")
    local console=$!
    set -m
    # Whatever ends this script, the kernel then ends QEMU too.
    setpriv --pdeathsig TERM "${QEMU[@]}" -serial stdio -monitor none </dev/null >&"$out" 2>"$QEMU_LOG" {LOCK_FD}>&- {out}>&- &
    CHILD=$!
    set +m
    exec {out}>&-
    BOARD_END=off
    watch_board "$log"
    if [[ $BOARD_END == off ]]; then
        wait "$CHILD" || status=$?
        CHILD=
        ((status == 0)) || BOARD_END=failed
    else
        end_child
    fi
    wait "$console" 2>/dev/null || true
}

watch_board() {
    local log=$1 end=$((SECONDS + TIMEOUT)) marked=
    while kill -0 "$CHILD" 2>/dev/null; do
        if [[ -z $marked ]] && grep -qa 'RTPERF-DONE status=' "$log" 2>/dev/null; then
            marked=$SECONDS
        fi
        if [[ -n $CUT_AT ]] && grep -qaF -- "$CUT_AT" "$log" 2>/dev/null; then
            kill -KILL "$CHILD" 2>/dev/null || true
            BOARD_END="cut"
            return 0
        fi
        if [[ -n $marked ]] && ((SECONDS - marked > STAY_LIMIT)); then
            BOARD_END=stayed
            return 0
        fi
        if ((SECONDS >= end)); then
            BOARD_END=timeout
            return 0
        fi
        sleep 0.2
    done
}

# The terminal is the board's until it is off; Ctrl-C goes to the board.
boot_shell() {
    local log=$1 status=0
    if [[ -t 0 ]]; then
        TERMINAL_STATE=$(stty -g)
        note "the board's console: exit (or poweroff) ends it, Ctrl-A X pulls the plug."
    fi
    setpriv --pdeathsig TERM "${QEMU[@]}" \
        -chardev "stdio,id=console,mux=on,signal=off,logfile=${log//,/,,}" \
        -serial chardev:console -mon chardev=console <&0 2>"$QEMU_LOG" {LOCK_FD}>&- &
    CHILD=$!
    wait "$CHILD" || status=$?
    CHILD=
    restore_terminal
    BOARD_END=off
    ((status == 0)) || BOARD_END=failed
}

# Sets DONE_STATUS and DONE_RUN from the board's marker; empty without one.
read_marker() {
    local line
    line=$(LC_ALL=C grep -aoE 'RTPERF-DONE status=[0-9]+ run=[A-Za-z0-9._-]+' "$1" | tail -n 1 || true)
    DONE_STATUS='' DONE_RUN=''
    if [[ $line =~ status=([0-9]+)\ run=(.+)$ ]]; then
        DONE_STATUS=${BASH_REMATCH[1]} DONE_RUN=${BASH_REMATCH[2]}
    fi
}
