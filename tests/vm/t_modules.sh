#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# ddio.ko is loaded and unloaded many times, while hp97560.ko comes and goes too, and
# stays while somebody has it open.
rounds=${DDIO_LOADS:-100}
n=0

fail() { echo "not ok $((n + 1)) $*"; exit 1; }
case_done() { n=$((n + 1)); echo "ok $n $*"; }

for m in ddio hp97560; do
	modinfo $m >/dev/null 2>&1 || { echo "SKIP $m was not built"; exit 77; }
done
rmmod ddio 2>/dev/null
rmmod hp97560 2>/dev/null
for ((i = 0; i < rounds; i++)); do
	modprobe ddio || fail "ddio does not load in round $i"
	[ -c /dev/ddio ] || fail "no /dev/ddio in round $i"
	[ $((i % 10)) -ne 0 ] || modprobe hp97560 nr_devices=2 || fail "no hp97560 in round $i"
	rmmod ddio || fail "ddio does not unload in round $i"
	[ $((i % 10)) -ne 0 ] || rmmod hp97560 || fail "hp97560 stays in round $i"
done
case_done "loaded and unloaded $rounds times"
modprobe -a ddio hp97560 || fail "the modules do not load again"
exec 5<>/dev/ddio || fail "/dev/ddio does not open"
! rmmod ddio 2>/dev/null || fail "ddio unloads while /dev/ddio is open"
exec 5<&-
case_done "ddio stays while /dev/ddio is open"
