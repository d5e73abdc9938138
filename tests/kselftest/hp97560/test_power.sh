#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Turns power on and off while the disk is in use; nothing may hang.
. "$(dirname "$0")/../lib/hp97560.sh"

pattern() { yes "$1" | head -c 65536; }

case_data_outlive_power() {
	local i
	hp_new 1 time_scale=0
	pattern one >"$hp_tmp/a"
	dd if="$hp_tmp/a" of="$(hp_dev 1)" bs=64k seek=3 oflag=direct conv=notrunc,nocreat 2>/dev/null ||
		fail "cannot write"
	for i in $(seq 20); do
		hp_off 1
		[ ! -e /sys/block/hp97560_1 ] || fail "there without power"
		hp_on 1
	done
	dd if="$(hp_dev 1)" of="$hp_tmp/b" bs=64k skip=3 count=1 iflag=direct 2>/dev/null
	cmp "$hp_tmp/a" "$hp_tmp/b" || fail "other data after 20 power cycles"
}

case_off_twice_and_remove_while_on() {
	hp_new 1 time_scale=0
	hp_off 1
	hp_off 1
	hp_on 1
	rmdir $hp_root/1 || fail "cannot be removed"
	[ ! -e /sys/block/hp97560_1 ] || fail "still there"
}

# Starts many readers and writers, which must all return with an error.
crowd() {
	local i
	for i in 1 2 3 4; do
		(while dd if="$(hp_dev "$1")" of=/dev/null bs=8k skip=$((i * 9000)) count=50 \
			iflag=direct 2>/dev/null; do :; done) &
		(while dd if=/dev/zero of="$(hp_dev "$1")" bs=8k seek=$((i * 9500)) count=50 \
			oflag=direct conv=notrunc,nocreat 2>/dev/null; do :; done) &
	done
}

off_in_transfer() {
	local i
	for i in 1 2 3; do
		hp_on 1
		crowd 1
		sleep 0.5
		within_seconds 600 sh -c "echo 0 >$hp_root/1/power"
		wait
		[ ! -e /sys/block/hp97560_1 ] || fail "still there"
	done
}

case_off_in_mid_transfer() {
	hp_make 1
	off_in_transfer
}

case_off_in_mid_transfer_without_waiting() {
	hp_make 1 time_scale=0
	off_in_transfer
}

case_off_in_mid_transfer_with_a_scheduler() {
	hp_make 1
	hp_on 1
	echo mq-deadline >/sys/block/hp97560_1/queue/scheduler || skip "no mq-deadline"
	crowd 1
	sleep 0.5
	within_seconds 600 sh -c "echo 0 >$hp_root/1/power"
	wait
}

# Requests of a stalled disk do not time out here: its power alone ends them.
case_off_while_stalled() {
	hp_new 1 timeout_ms=0
	hp_set 1 stall 1
	crowd 1
	sleep 0.5
	within_seconds 600 sh -c "echo 0 >$hp_root/1/power"
	wait
	hp_on 1
	same "$(hp_get 1 stall)" 0 "stall after power on"
	works read 0 1
}

case_off_while_commands_are_held() {
	hp_new 1 time_scale=0 timeout_ms=0
	hp_set 1 stall_every 1
	crowd 1
	sleep 0.5
	within_seconds 600 sh -c "echo 0 >$hp_root/1/power"
	wait
}

case_off_while_pages_are_dirty() {
	hp_new 1
	dd if=/dev/zero of="$(hp_dev 1)" bs=1M count=16 conv=notrunc,nocreat 2>/dev/null &
	sleep 1
	within_seconds 600 sh -c "echo 0 >$hp_root/1/power"
	wait
}

case_removed_in_mid_transfer() {
	hp_new 1
	crowd 1
	sleep 0.5
	within_seconds 600 rmdir $hp_root/1
	wait
	[ ! -e $hp_root/1 ] || fail "still there"
}

case_an_opener_outlives_the_disk() {
	hp_new 1 time_scale=0
	exec 7<>"$(hp_dev 1)"
	hp_off 1
	rmdir $hp_root/1
	same "$(dd bs=512 count=1 <&7 2>/dev/null | wc -c)" 0 "bytes read from a disk that is gone"
	rmmod hp97560 2>/dev/null && fail "the module went under an open disk"
	exec 7>&-
	return 0
}

case_off_under_a_file_system() {
	want mkfs.ext4 mount umount
	hp_new 1 time_scale=0 size=131072
	mkfs.ext4 -q "$(hp_dev 1)" || fail "no file system"
	mkdir -p "$hp_tmp/mnt"
	mount "$(hp_dev 1)" "$hp_tmp/mnt" || skip "no ext4 here"
	(i=0; while [ $i -lt 200 ]; do echo $i >"$hp_tmp/mnt/$i" || break; i=$((i + 1)); done) 2>/dev/null &
	sleep 0.3
	within_seconds 600 sh -c "echo 0 >$hp_root/1/power"
	wait
	umount "$hp_tmp/mnt" || fail "cannot be unmounted"
}

case_off_and_on_by_many() {
	local i j
	hp_make 1 time_scale=0
	for i in 1 2 3 4; do
		(for j in $(seq 15); do echo $(((i + j) % 2)) >$hp_root/1/power; done) &
	done
	(for j in $(seq 40); do cat $hp_root/1/statistics $hp_root/1/epoch_ns >/dev/null; done) &
	wait
	hp_off 1
	hp_on 1
	works read 5 1
}

hp_run
