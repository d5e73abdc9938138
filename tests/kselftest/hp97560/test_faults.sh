#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Injected faults: errors, stalls, time limits; and a disk that is read-only.
. "$(dirname "$0")/../lib/hp97560.sh"

case_bad_sectors() {
	hp_new 1 time_scale=0
	hp_set 1 bad_sectors "1000-1007 5000"
	fails read 1000 1 'Input/output error'
	fails write 1007 1 'Input/output error'
	fails read 5000 1 'Input/output error'
	works read 999 1
	works write 1008 1
	io read 992 8 1 || fail "the block before"
	io read 992 9 1 && fail "a range that runs into a bad sector"
	hp_set 1 bad_sectors "5000"
	works read 1000 1
	fails read 5000 1 'Input/output error'
	echo >$hp_root/1/bad_sectors
	works read 5000 1
	same "$(hp_stat 1 errors)" 5 errors
}

case_a_failed_write_changes_nothing() {
	want sha256sum
	hp_new 1 time_scale=0
	yes a | head -c 4096 | dd of="$(hp_dev 1)" bs=4096 oflag=direct conv=notrunc,nocreat 2>/dev/null
	hp_set 1 bad_sectors 3
	yes b | head -c 4096 | dd of="$(hp_dev 1)" bs=4096 oflag=direct conv=notrunc,nocreat 2>/dev/null &&
		fail "the write worked"
	echo >$hp_root/1/bad_sectors
	dd if="$(hp_dev 1)" bs=4096 count=1 iflag=direct 2>/dev/null | cmp - <(yes a | head -c 4096) ||
		fail "other data"
}

case_every_nth() {
	local i n=0
	hp_new 1 time_scale=0
	hp_set 1 fail_every 4
	for i in $(seq 12); do
		io read $((i * 100)) 1 1 || { n=$((n + 1)); same $((i % 4)) 0 "command $i"; }
	done
	same $n 3 failures
	hp_set 1 fail_every 0
	for i in $(seq 8); do works read $i 1; done
}

case_after_n() {
	local i
	hp_new 1 time_scale=0
	hp_set 1 fail_after 5
	for i in 1 2 3 4 5; do works write $i 1; done
	for i in 1 2 3 4 5; do fails write $i 1 'Input/output error'; done
	hp_set 1 fail_after 1
	works read 0 1
	fails read 0 1 'Input/output error'
	hp_set 1 fail_after 0
	works read 0 1
}

case_status() {
	local status why
	hp_new 1 time_scale=0
	hp_set 1 fail_every 1
	while read -r status why; do
		hp_set 1 fail_status "$status"
		fails read 0 1 "$why"
		fails write 0 1 "$why"
	done <<-END
		io Input/output error
		nospc No space left
		notsupp Operation not supported
		medium No data available
		target Remote I/O error
		timeout Connection timed out
		transport Link has been severed
		protection Invalid or incomplete
	END
}

case_stall_until_told() {
	local pid
	hp_new 1 time_scale=0
	hp_set 1 stall 1
	io read 0 1 1 &
	pid=$!
	sleep 1
	kill -0 $pid 2>/dev/null || fail "it did not stall"
	hp_set 1 stall 0
	wait $pid || fail "it failed: $(cat "$hp_tmp/io.log")"
	works read 0 1
	same "$(hp_stat 1 timeouts)" 0 timeouts
}

case_every_nth_held_until_told() {
	local pid i
	hp_new 1 time_scale=0
	hp_set 1 stall_every 3
	works read 1 1
	works read 2 1
	io read 3 1 1 &
	pid=$!
	sleep 0.5
	works read 4 1
	works read 5 1
	kill -0 $pid 2>/dev/null || fail "it was not held"
	same "$(hp_stat 1 held)" 1 held
	hp_set 1 stall_every 0
	kill -0 $pid 2>/dev/null || fail "it ended untold"
	hp_set 1 stall 0
	wait $pid || fail "it failed"
}

case_held_for_a_time() {
	local t
	hp_new 1 time_scale=0
	hp_set 1 stall_us 3000000
	hp_set 1 stall_every 1
	t=$(now_ms)
	works read 1 1
	t=$(($(now_ms) - t))
	[ $t -ge 3000 ] || fail "held for $t ms"
	hp_set 1 stall_every 0
	t=$(now_ms)
	works read 1 1
	t=$(($(now_ms) - t))
	[ $t -lt 3000 ] || fail "not held, but $t ms"
}

case_stalled_commands_time_out() {
	local t
	hp_new 1 timeout_ms=2000 time_scale=0
	hp_set 1 stall_every 1
	t=$(now_ms)
	fails read 0 1 'Connection timed out'
	t=$(($(now_ms) - t))
	[ $t -ge 1900 ] || fail "timed out after $t ms"
	same "$(hp_stat 1 timeouts)" 1 timeouts
	hp_set 1 stall_every 0
	works read 0 1
	hp_set 1 stall 1
	fails write 0 1 'Connection timed out'
	hp_set 1 stall 0
	works write 0 1
}

case_slow_commands_do_not_time_out() {
	hp_new 1 timeout_ms=1000 time_scale=100000000
	works read 2000000 1
	same "$(hp_stat 1 timeouts)" 0 timeouts
}

case_read_only() {
	hp_new 1 time_scale=0
	yes r | head -c 4096 | dd of="$(hp_dev 1)" bs=4096 oflag=direct conv=notrunc,nocreat 2>/dev/null
	hp_off 1
	hp_set 1 read_only 1
	hp_on 1
	io write 0 8 1 && fail "it was written"
	blkdiscard "$(hp_dev 1)" 2>/dev/null && fail "it was discarded"
	blockdev --setrw "$(hp_dev 1)" 2>/dev/null
	io write 0 8 1 && fail "it was written after all"
	dd if="$(hp_dev 1)" bs=4096 count=1 iflag=direct 2>/dev/null | cmp - <(yes r | head -c 4096) ||
		fail "other data"
}

case_many_faults_at_once() {
	local i
	hp_new 1 time_scale=1000 timeout_ms=1000
	hp_set 1 fail_every 7
	hp_set 1 stall_every 50
	hp_set 1 stall_us 20000
	hp_set 1 bad_sectors "3000-4000"
	for i in 1 2 3 4; do
		(for j in $(seq 20); do io read $((i * 1000 + j)) 8 1; io write $((i * 1000 + j)) 8 1; done
		exit 0) &
	done
	for i in $(seq 10); do
		hp_set 1 stall 1
		sleep 0.05
		hp_set 1 stall 0
		sleep 0.1
	done
	wait
	hp_set 1 fail_every 0
	hp_set 1 stall_every 0
	hp_set 1 stall 0
	works read 0 1
	[ "$(hp_stat 1 errors)" -gt 10 ] || fail "few errors: $(hp_stat 1 errors)"
}

hp_run
