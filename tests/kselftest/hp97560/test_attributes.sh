#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The attributes of a disk: defaults, good and bad values, and when they are fixed.
. "$(dirname "$0")/../lib/hp97560.sh"

case_defaults() {
	hp_make 1
	hp_has 1 size 2647080
	hp_has 1 block_size 512
	hp_has 1 queue_depth 64
	hp_has 1 time_scale 1000000
	hp_has 1 buffer_sectors 256
	hp_has 1 dirty_sectors 128
	same "$(hp_get 1 immediate_report)$(hp_get 1 read_ahead)$(hp_get 1 bus_overlap)" 110 policies
	same "$(hp_get 1 read_only)$(hp_get 1 power)" 00 "read_only and power"
	hp_has 1 bus ""
	hp_has 1 device hp97560_1
	hp_has 1 epoch_ns 0
}

case_features_are_the_attributes() {
	hp_make 1
	same "$(sort $hp_root/features)" "$(ls $hp_root/1 | sort)" features
}

case_numbers_and_their_limits() {
	local name least most below above
	hp_make 1
	while read -r name least most below above; do
		for v in "$least" "$most"; do
			hp_set 1 "$name" "$v" || fail "$name does not take $v"
			hp_has 1 "$name" "$v"
		done
		for v in "$below" "$above" ' ' x 1x 0x10 -1 "1 2" 4294967296 18446744073709551616; do
			refused 1 "$name" "$v" 'Invalid argument'
		done
	done <<-END
		size 8 2647080 7 2647081
		block_size 512 4096 256 8192
		queue_depth 1 1024 0 1025
		time_scale 1000 1000000000 999 1000000001
		timeout_ms 0 3600000 3600001 4294967295
		buffer_sectors 4 65536 3 65537
		dirty_sectors 4 65536 3 65537
	END
	hp_set 1 time_scale 0 || fail "no time_scale 0"
	hp_set 1 memory_limit 4294967295 || fail "no large memory_limit"
	refused 1 memory_limit 4294967296 'Invalid argument'
	refused 1 block_size 1000 'Invalid argument'
	refused 1 block_size 1536 'Invalid argument'
}

case_switches() {
	local name
	hp_make 1
	for name in read_only immediate_report read_ahead bus_overlap; do
		for v in 0 1 n y off on; do
			hp_set 1 $name $v || fail "$name does not take $v"
			case $v in 0 | n | off) hp_has 1 $name 0 ;;
			*) same "$(hp_get 1 $name)" 1 $name ;; esac
		done
		for v in ' ' 2 x -1; do
			refused 1 $name "$v" 'Invalid argument'
		done
	done
	refused 1 power 2 'Invalid argument'
	refused 1 stall maybe 'Invalid argument'
}

case_bus_names() {
	hp_make 1
	for v in a scsi-0 B_1.x "$(printf 'n%.0s' $(seq 31))"; do
		hp_set 1 bus "$v" || fail "bus does not take $v"
		hp_has 1 bus "$v"
	done
	for v in "a b" a/b ' ' "$(printf 'n%.0s' $(seq 32))"; do
		refused 1 bus "$v" 'Invalid argument'
	done
	echo >$hp_root/1/bus || fail "bus cannot be emptied"
	hp_has 1 bus ""
}

case_faults() {
	local v
	hp_make 1
	for name in fail_every fail_after stall_every stall_us; do
		for v in 1 4294967295 0; do
			hp_set 1 $name $v || fail "$name does not take $v"
			hp_has 1 $name $v
		done
		for v in ' ' x -1 4294967296; do
			refused 1 $name "$v" 'Invalid argument'
		done
	done
	for v in io medium nospc notsupp protection target timeout transport; do
		hp_set 1 fail_status $v || fail "fail_status does not take $v"
		hp_has 1 fail_status $v
	done
	refused 1 fail_status ok 'Invalid argument'
	hp_set 1 bad_sectors "5 7-9 100-100" || fail "bad_sectors"
	same "$(hp_get 1 bad_sectors)" "5-5 7-9 100-100" bad_sectors
	for v in x 5- -5 9-7 5-6-7 5,6 0x10; do
		refused 1 bad_sectors "$v" 'Invalid argument'
	done
	hp_set 1 bad_sectors "$(seq -s ' ' 32)" || fail "32 bad sectors"
	refused 1 bad_sectors "$(seq -s ' ' 33)" 'Argument list too long'
	echo >$hp_root/1/bad_sectors || fail "bad_sectors cannot be emptied"
	hp_has 1 bad_sectors ""
	refused 1 statistics 0 'Invalid argument'
}

case_fixed_while_powered() {
	local v name
	hp_new 1 time_scale=0
	for name in size block_size queue_depth time_scale timeout_ms buffer_sectors dirty_sectors \
		memory_limit read_only immediate_report read_ahead bus_overlap bus; do
		v=$(hp_get 1 $name)
		refused 1 $name "${v:-x}" 'Device or resource busy'
	done
	hp_set 1 power 1 || fail "power cannot be given twice"
	hp_set 1 fail_every 0 || fail "faults cannot be set"
	hp_set 1 statistics reset || fail "statistics cannot be reset"
	hp_off 1
	hp_set 1 size 4096 || fail "not to be changed without power"
}

case_what_does_not_fit_together() {
	hp_make 1 size=9 block_size=1024
	refused 1 power 1 'Invalid argument'
	hp_set 1 size 10
	hp_set 1 buffer_sectors 100
	refused 1 power 1 'Invalid argument'
	hp_set 1 dirty_sectors 100
	hp_on 1
	same "$(cat /sys/block/hp97560_1/size)" 10 "size of the device"
}

case_one_scale_on_a_bus() {
	hp_new 1 time_scale=0 bus=shared
	hp_make 2 time_scale=1000 bus=shared
	refused 2 power 1 'Invalid argument'
	hp_set 2 time_scale 0
	hp_on 2
	same "$(hp_get 2 epoch_ns)" "$(hp_get 1 epoch_ns)" "epoch of a bus"
	hp_off 1
	hp_off 2
	hp_set 2 time_scale 1000
	hp_on 2
}

case_names() {
	local name why
	for name in 0 a0 disk-3 x_y_2 p1 ap1 kth-12-0 abcdefghijklmnopqr12; do
		mkdir $hp_root/$name || fail "no directory $name"
		hp_set $name time_scale 0
		hp_on $name
		same "$(cat /sys/block/hp97560_$name/size)" 2647080 "size of $name"
	done
	for name in a 0a 0p1 a7p12 'a 0' a.0 é0 abcdefghijklmnopqrs12; do
		why=$(mkdir "$hp_root/$name" 2>&1) && fail "there is a directory $name"
		case $why in *'Invalid argument'*) ;; *) fail "$name: $why" ;; esac
	done
	mkdir $hp_root/0 2>/dev/null && fail "two directories 0"
	return 0
}

case_read_only_attributes() {
	hp_make 1
	for name in device epoch_ns; do
		same "$(stat -c %a $hp_root/1/$name)" 444 "mode of $name"
	done
	same "$(stat -c %a $hp_root/features)" 444 "mode of features"
}

case_block_device_as_told() {
	hp_new 1 time_scale=0 block_size=4096 queue_depth=7 size=80000 read_only=1
	local q=/sys/block/hp97560_1/queue
	same "$(cat $q/logical_block_size)" 4096 block_size
	same "$(cat $q/nr_requests)" 7 queue_depth
	same "$(cat $q/rotational)" 1 rotational
	same "$(cat /sys/block/hp97560_1/ro)" 1 ro
	same "$(cat $q/write_cache)" "write back" "cache"
	grep -q '\[none\]' $q/scheduler || fail "scheduler $(cat $q/scheduler)"
	hp_off 1
	hp_set 1 immediate_report 0
	hp_on 1
	same "$(cat $q/write_cache)" "write through" "cache without immediate report"
}

hp_run
