# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2154
# What pair and debian have in common: two virtual machines, a and b, with a wire between them. Whoever sources it
# has set $bed, which its verdicts begin with.
here=$(dirname "$(readlink -f "$0")")

skip() {
        echo "skipped vm: $bed: $*"
        exit 0
}
work=$(mktemp -d) || exit 1
pids=()
end() {
        [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
        wait
        rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM HUP

# made COMMAND…: what makes a part of the machines; where that cannot be had they are skipped.
made() {
        local status=0
        "$@" 2>"$work/reason" || status=$?
        cat "$work/reason" >&2
        [ $status != 77 ] || skip "$(tail -n 1 "$work/reason")"
        [ $status = 0 ] || { echo "failed vm: $bed: ${1##*/} ended with $status"; exit 1; }
}

command -v qemu-system-x86_64 >/dev/null || skip "qemu-system-x86 is not installed"
made "$here/kernel" >"$work/kernel"
kernel=$(cat "$work/kernel")

# boot ME OTHER NUMBER SOCKET-OPTION QEMU-OPTION…
# Without acceleration, which a virtual machine itself may lack; emulated, a modest processor is the fastest. The TSC
# would be off by as much as this machine is busy while the guest starts. Of what the other machine says nothing is lost
# once both have their sockets.
words="console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check nowatchdog"
words+=" tsc=unstable clocksource=hpet net.ifnames=0 rdinit=/init"
boot() {
        nice qemu-system-x86_64 -accel tcg,thread=multi -cpu qemu64 -M q35 -smp 1 -display none -nodefaults \
                -no-user-config -kernel "$kernel/vmlinux" -initrd "$work/initramfs" \
                -append "$words alidade.me=$1" \
                -chardev "file,id=log,path=$work/log-$1,append=on" -serial chardev:log -serial "file:$work/tally-$1" \
                -chardev "socket,id=words,path=$work/words,$4" -serial chardev:words \
                -netdev "dgram,id=n,local.type=unix,local.path=$work/$1,remote.type=unix,remote.path=$work/$2" \
                -device "virtio-net-pci,netdev=n,mac=52:54:00:00:00:0$3,host_mtu=9000,romfile=" "${@:5}" \
                2>>"$work/log-$1" &
        pids+=($!)
}
# ended: waits until both machines have ended, or neither has said anything for five minutes, or for one where the other
# has ended: how long they take depends on what else this machine does.
ended() {
        local size before="" since=$SECONDS alive pid
        while :; do
                alive=0
                for pid in "${pids[@]}"; do
                        ! kill -0 "$pid" 2>/dev/null || alive=$((alive + 1))
                done
                size=$(stat -c %s "$work"/log-? "$work"/tally-? 2>/dev/null)
                [ "$size" = "$before" ] || { before=$size; since=$SECONDS; }
                if [ $alive = 0 ] || [ $((SECONDS - since)) -gt $((alive == 1 ? 60 : 300)) ]; then
                        return
                fi
                sleep 0.5
        done
}

# told: waits for both, and tells what they did.
told() {
        local me
        ended
        for me in a b; do
                touch "$work/tally-$me" "$work/log-$me"
                tr -d '\r' <"$work/tally-$me" | grep -aE '^((passed|failed|skipped) vm: |figures )' |
                        sed "s/ vm: / vm: $bed: /" >"$work/told-$me"
                grep -qx "passed vm: $bed: $me: ran to its end" "$work/told-$me" ||
                        echo "failed vm: $bed: $me: ended early" >>"$work/told-$me"
                cat "$work/told-$me"
                if [ -n "${ALIDADE_VM_LOG:-}" ] || grep -q ^failed "$work/told-$me"; then
                        tail -n "${ALIDADE_VM_LOG:-100}" "$work/log-$me" | sed "s/^/$me: /" >&2
                fi
        done
}
