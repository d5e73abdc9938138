#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The drive's behaviour as time and statistics show it; test_timing.c looks closer.
. "$(dirname "$0")/../lib/hp97560.sh"

# reads NAME COUNT: sequential, 8 KB; the milliseconds in $took
reads() {
	local t
	t=$(now_ms)
	dd if="$(hp_dev "$1")" of=/dev/null bs=8k count="$2" iflag=direct 2>/dev/null || fail "reading"
	took=$(($(now_ms) - t))
}

# A busy machine can exceed a time, but only the drive can make it this long.  A hundredth of the speed makes a
# read of 3.3 milliseconds, the media's, one of a third of a second, which is more than the slowest kernel needs for it.
case_time_scale() {
	local slow
	hp_new 1
	reads 1 300
	[ "$took" -ge 1000 ] || fail "$took ms at life size"
	hp_off 1
	hp_set 1 time_scale 100000000
	hp_on 1
	reads 1 20
	[ "$took" -ge 6600 ] || fail "$took ms at a hundredth of the speed"
	slow=$took
	hp_off 1
	hp_set 1 time_scale 0
	hp_on 1
	reads 1 20
	[ "$took" -lt "$slow" ] || fail "$took ms without waiting, $slow at a hundredth of the speed"
}

case_statistics_of_a_sequence() {
	hp_new 1
	hp_set 1 statistics reset
	reads 1 100
	same "$(hp_stat 1 reads)" 100 reads
	same "$(hp_stat 1 read_sectors)" 1600 read_sectors
	[ "$(hp_stat 1 hits)" -ge 98 ] || fail "hits: $(hp_stat 1 hits)"
	[ "$(hp_stat 1 seeks)" -le 2 ] || fail "seeks: $(hp_stat 1 seeks)"
	same "$(hp_stat 1 writes)$(hp_stat 1 errors)$(hp_stat 1 flushes)" 000 "writes, errors, flushes"
	hp_set 1 statistics reset
	same "$(hp_stat 1 reads)$(hp_stat 1 hits)$(hp_stat 1 media_ns)" 000 "after a reset"
}

case_statistics_of_leaps() {
	local i
	hp_new 1
	works read 2600000 1
	hp_set 1 statistics reset
	for i in $(seq 10); do works read $((i * 200000)) 1; done
	same "$(hp_stat 1 seeks)" 10 seeks
	same "$(hp_stat 1 rotations)" 10 rotations
	same "$(hp_stat 1 hits)" 0 hits
	[ "$(hp_stat 1 seek_ns)" -ge 50000000 ] || fail "seek_ns: $(hp_stat 1 seek_ns)"
}

case_no_read_ahead() {
	hp_new 1 read_ahead=0
	hp_set 1 statistics reset
	reads 1 30
	[ "$(hp_stat 1 hits)" -le 30 ] && same "$(hp_stat 1 full_hits)" 0 full_hits
	[ "$took" -ge 400 ] || fail "$took ms with a turn for each read"
}

# Writes 8 KB at distant places; sets $took to the milliseconds.
writes() {
	local i t
	t=$(now_ms)
	for i in $(seq 5); do
		dd if=/dev/zero of="$(hp_dev 1)" bs=8k seek=$((i * 30000)) count=1 oflag="$1" \
			conv=notrunc,nocreat 2>/dev/null || fail "writing"
	done
	took=$(($(now_ms) - t))
}

case_write_behind_flush_and_fua() {
	hp_new 1
	hp_set 1 statistics reset
	dd if=/dev/zero of="$(hp_dev 1)" bs=8k count=64 oflag=direct conv=notrunc,nocreat 2>/dev/null
	[ "$(hp_stat 1 joins)" -ge 40 ] || fail "joins: $(hp_stat 1 joins)"
	dd if=/dev/zero of="$(hp_dev 1)" bs=8k count=1 oflag=direct conv=notrunc,nocreat,fsync 2>/dev/null
	[ "$(hp_stat 1 flushes)" -ge 1 ] || fail "no flush"
	hp_set 1 statistics reset
	writes direct,dsync
	same "$(hp_stat 1 fua_writes)" 5 fua_writes
}

case_fua_waits_for_the_media() {
	local t
	hp_new 1 time_scale=20000000
	works read 0 1
	t=$(now_ms)
	dd if=/dev/zero of="$(hp_dev 1)" bs=8k seek=10000 count=1 oflag=direct,dsync \
		conv=notrunc,nocreat 2>/dev/null
	t=$(($(now_ms) - t))
	[ $t -ge 140 ] || fail "$t ms to the media"
	same "$(hp_stat 1 fua_writes)" 1 fua_writes
}

case_write_through() {
	hp_new 1 immediate_report=0
	hp_set 1 statistics reset
	dd if=/dev/zero of="$(hp_dev 1)" bs=8k count=30 oflag=direct conv=notrunc,nocreat,fsync 2>/dev/null
	same "$(hp_stat 1 joins)" 0 joins
	same "$(hp_stat 1 flushes)" 0 "flushes of a disk without cache"
}

case_drives_of_a_bus_wait_for_each_other() {
	local i
	for i in 1 2 3 4; do hp_new $i bus=shared; done
	for i in 1 2 3 4; do
		dd if="$(hp_dev $i)" of=/dev/null bs=64k count=40 iflag=direct 2>/dev/null &
	done
	wait
	i=$(($(hp_stat 1 bus_waits) + $(hp_stat 2 bus_waits) + $(hp_stat 3 bus_waits) + \
		$(hp_stat 4 bus_waits)))
	[ $i -gt 0 ] || fail "no waits for the bus"
	hp_remove
	hp_new 1
	hp_new 2
	for i in 1 2; do
		dd if="$(hp_dev $i)" of=/dev/null bs=64k count=20 iflag=direct 2>/dev/null &
	done
	wait
	same "$(hp_stat 1 bus_waits)$(hp_stat 2 bus_waits)" 00 "waits for a bus of one's own"
}

case_a_queue_waits_in_the_host() {
	local i
	# Slow enough that all of them read at the same time, however long they take to begin.
	hp_new 1 time_scale=20000000
	hp_set 1 statistics reset
	for i in 1 2 3 4; do
		dd if="$(hp_dev 1)" of=/dev/null bs=8k skip=$((i * 20000)) count=4 iflag=direct 2>/dev/null &
	done
	wait
	[ "$(hp_stat 1 queue_waits)" -ge 5 ] || fail "queue_waits: $(hp_stat 1 queue_waits)"
}

hp_run
