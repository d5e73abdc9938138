#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The module's parameters, and loading and unloading.
. "$(dirname "$0")/../lib/hp97560.sh"

unloaded() {
	hp_remove
	rmmod hp97560 2>/dev/null
	[ ! -e /sys/module/hp97560 ] || skip "the module is in use"
}

load() { modprobe hp97560 "$@" 2>/dev/null; }

case_many_loads() {
	local i
	unloaded
	for i in $(seq "${DDIO_LOADS:-100}"); do
		load nr_devices=$((i % 3)) time_scale=0 || fail "load $i"
		same "$(ls -d /sys/block/hp97560_* 2>/dev/null | wc -l)" $((i % 3)) "disks of load $i"
		[ $((i % 3)) = 0 ] || works write 0 0
		rmmod hp97560 || fail "unload $i"
	done
}

case_sixteen_disks() {
	local i
	unloaded
	load nr_devices=16 time_scale=0 size=4096 block_size=1024 queue_depth=9 disks_per_bus=8 ||
		fail "no 16 disks"
	for i in $(seq 0 15); do
		[ -b /dev/hp97560_$i ] || fail "no hp97560_$i"
		same "$(hp_get $i bus)" bus$((i / 8)) "bus of $i"
		same "$(hp_get $i power)" 1 "power of $i"
		dd if=/dev/zero of="$(hp_dev $i)" bs=4k count=1 oflag=direct conv=notrunc,nocreat \
			2>/dev/null || fail "cannot write $i"
	done
	same "$(cat /sys/block/hp97560_3/size)" 4096 size
	same "$(cat /sys/block/hp97560_3/queue/logical_block_size)" 1024 block_size
	same "$(hp_get 0 epoch_ns)" "$(hp_get 7 epoch_ns)" "epoch of a bus"
	rmdir $hp_root/3 2>/dev/null && fail "a disk of the parameters was removed"
	mkdir $hp_root/3 2>/dev/null && fail "two disks 3"
	hp_off 3
	[ ! -e /sys/block/hp97560_3 ] || fail "there without power"
	hp_set 3 block_size 512
	hp_on 3
	mkdir $hp_root/16 || fail "no further disk"
	same "$(hp_get 16 size)$(hp_get 16 block_size)" 40961024 "defaults of a further disk"
	rmmod hp97560 2>/dev/null && fail "unloaded with a directory there"
	rmdir $hp_root/16
	exec 7</dev/hp97560_5
	rmmod hp97560 2>/dev/null && fail "unloaded with an open disk"
	exec 7<&-
	rmmod hp97560 || fail "cannot be unloaded"
	[ ! -e $hp_root ] || fail "directory still there"
}

case_parameters_are_the_defaults() {
	unloaded
	load time_scale=5000 timeout_ms=77 buffer_sectors=64 dirty_sectors=32 memory_limit=10 \
		read_only=1 immediate_report=0 read_ahead=0 bus_overlap=1 || fail "not loaded"
	hp_make 1
	same "$(cd $hp_root/1 && cat time_scale timeout_ms buffer_sectors dirty_sectors \
		memory_limit read_only immediate_report read_ahead bus_overlap | tr '\n' ' ')" \
		"5000 77 64 32 10 1 0 0 1 " defaults
	rmdir $hp_root/1
	rmmod hp97560 || fail "cannot be unloaded"
}

case_bad_parameters() {
	local p
	unloaded
	for p in size=7 size=2647081 block_size=100 block_size=8192 queue_depth=0 queue_depth=2000 \
		time_scale=1 timeout_ms=4000000 buffer_sectors=2 dirty_sectors=300 \
		nr_devices=257 nr_devices=-1 'size=9 block_size=4096' read_ahead=7; do
		load $p && fail "loaded with $p"
		[ ! -e /sys/module/hp97560 ] || fail "half loaded with $p"
	done
	load || fail "not loaded without parameters"
	rmmod hp97560
}

case_unload_while_disks_are_busy() {
	local i
	unloaded
	load nr_devices=2 || fail "not loaded"
	for i in 0 1; do
		dd if=/dev/zero of=/dev/hp97560_$i bs=64k count=40 conv=notrunc,nocreat 2>/dev/null &
	done
	sleep 0.2
	for i in $(seq 100); do
		rmmod hp97560 2>/dev/null && break
		sleep 0.1
	done
	wait
	[ ! -e /sys/module/hp97560 ] || fail "never unloaded"
}

hp_run
