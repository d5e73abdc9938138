#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Loads and unloads the module many times: idle, while it is used, and while disks are
# still reading for a process that was killed.
#
# DDIO_LOADS: how often (100)
cd "$(dirname "$0")" || exit 1
. ../lib/kt.sh

loads=${DDIO_LOADS:-100}
child=

need_root
modprobe -q ddio 2>/dev/null
[ -e /dev/ddio ] || skip_all "no /dev/ddio here"
[ -e /sys/module/ddio/refcnt ] || skip_all "ddio is not a module here"
[ "$(cat /sys/module/ddio/refcnt)" = 0 ] || skip_all "ddio is in use"
null_disk 8 irqmode=2 completion_nsec=3000000 || skip_all "no null_blk disk here"

out=$(mktemp) || exit 1
cleanup() {
	[ -z "$child" ] || kill -9 "$child" 2>/dev/null
	exec 9>&- 2>/dev/null
	modprobe -q ddio
	null_gone
	rm -f "$out"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

unload() { rmmod ddio 2>/dev/null; }
load() { modprobe ddio && [ -e /dev/ddio ]; }

# Waits at most ten seconds for requests in flight to end.
unload_soon() {
	i=0
	while ! unload; do
		i=$((i + 1))
		[ $i -lt 200 ] || return 1
		sleep 0.05
	done
}

again() {
	i=0
	while [ $i -lt "$1" ]; do
		i=$((i + 1))
		unload || { echo "# unloading $i fails"; return 1; }
		[ ! -e /dev/ddio ] && [ ! -e /sys/kernel/debug/ddio ] && [ ! -e /sys/module/ddio ] ||
			{ echo "# something is left after unloading $i"; return 1; }
		load || { echo "# loading $i fails"; return 1; }
	done
}

slabs() { sed -n 's/^SUnreclaim: *\([0-9]*\) kB/\1/p' /proc/meminfo; }

without_growth() {
	again 5 || return 1
	before=$(slabs)
	again "$loads" || return 1
	after=$(slabs)
	echo "# unreclaimable slabs: $((after - before)) kB more after $loads times"
	[ $((after - before)) -lt 4096 ]
}

# While this shell has the device open, neither -f nor waiting may unload the module.
while_open() {
	exec 9<>/dev/ddio
	if unload; then return 1; fi
	[ -e /dev/ddio ] || return 1
	exec 9>&-
	unload && load
}

begin() {
	: >"$out"
	./inflight "$disk" "$1" >"$out" &
	child=$!
	i=0
	until grep -q ready "$out"; do
		i=$((i + 1))
		[ $i -lt 200 ] || return 1
		sleep 0.05
	done
}

while_reading() {
	begin "$1" || { echo "# nothing in flight"; return 1; }
	if unload; then echo "# unloaded under its user"; return 1; fi
	kill -9 "$child"
	wait "$child" 2>/dev/null
	child=
	unload_soon || { echo "# still busy after the user was killed"; return 1; }
	load
}

many_kills() {
	n=0
	while [ $n -lt 5 ]; do
		n=$((n + 1))
		for d in place stream scatter; do
			while_reading $d || return 1
		done
	done
}

# After all that, the module still works.
usable() {
	begin place || return 1
	kill -9 "$child"
	wait "$child" 2>/dev/null
	child=
}

plan 7
check "$loads times" without_growth
check "while the device is open" while_open
check "while a disk reads to places" while_reading place
check "while a stream has the slots" while_reading stream
check "while a disk scatters" while_reading scatter
check "right after users were killed, again and again" many_kills
check "and it works" usable
finish
