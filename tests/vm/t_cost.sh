#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 900
# What a collective costs on a disk that takes no time: place against libaio and io_uring with
# registered buffers and files, and the three deliveries.  Checked is the number of system
# calls; rates depend on the machine and are printed.
#
# DDIO_COST=long: lists of 100,000 blocks and five rounds, else a short form
. "$(dirname "$0")/t_lib.sh"
bench=build/tests/vm/bench_kmod delivery=build/tests/vm/bench_kmod_delivery
disk=/dev/nullb0
need $bench $delivery

clean_up() { rmmod null_blk 2>/dev/null; }

rmmod null_blk 2>/dev/null
modprobe null_blk nr_devices=1 gb=4 queue_mode=2 irqmode=0 submit_queues=2 && [ -b $disk ] ||
	{ not_ok "a disk that takes no time"; exit 1; }
if [ "${DDIO_COST:-}" = long ]; then
	blocks=100000 rounds=5
else
	blocks=10000 rounds=1
fi

# Both print a table.
run() {
	local rc
	"$@" >"$dir/out" 2>&1
	rc=$?
	shows "$dir/out"
	return $rc
}
one_call() {
	run $bench -n $blocks -r $rounds $disk &&
		awk '$1 == "ddio" && $6 == 1 { one = 1 } END { exit !one }' "$dir/out"
}

check "$blocks blocks are one system call" one_call
check "every delivery brings the list" run $delivery $disk $blocks 8192 2 $rounds
