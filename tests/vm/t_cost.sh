#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 900
# What a collective costs on a disk that takes no time: place against libaio and io_uring with
# registered buffers and files, and the three deliveries.  Checked is the number of system
# calls; rates depend on the machine and are printed.
#
# DDIO_COST=long: lists of 100,000 blocks and five rounds, else a short form
set -u
cd "$(dirname "$0")/../.." || exit 2
bench=build/tests/vm/bench_kmod delivery=build/tests/vm/bench_kmod_delivery
disk=/dev/nullb0 out=$(mktemp)
trap 'rmmod null_blk 2>/dev/null; rm -f "$out"' EXIT

[ -x $bench ] && [ -x $delivery ] || { echo "SKIP $bench is not there"; exit 77; }
modprobe ddio || { echo "SKIP ddio was not built"; exit 77; }
rmmod null_blk 2>/dev/null
modprobe null_blk nr_devices=1 gb=4 queue_mode=2 irqmode=0 submit_queues=2 && [ -b $disk ] ||
	{ echo "not ok 1 a disk that takes no time"; exit 1; }
if [ "${DDIO_COST:-}" = long ]; then
	blocks=100000 rounds=5
else
	blocks=10000 rounds=1
fi

failed=0
$bench -n $blocks -r $rounds $disk >"$out" 2>&1
rc=$?
sed 's/^/# /' "$out"
if [ $rc = 0 ] && awk '$1 == "ddio" && $6 == 1 { one = 1 } END { exit !one }' "$out"; then
	echo "ok 1 $blocks blocks are one system call"
else
	echo "not ok 1 $blocks blocks are one system call"
	failed=1
fi
$delivery $disk $blocks 8192 2 $rounds >"$out" 2>&1
rc=$?
sed 's/^/# /' "$out"
if [ $rc = 0 ]; then
	echo "ok 2 every delivery brings the list"
else
	echo "not ok 2 every delivery brings the list"
	failed=1
fi
exit $failed
