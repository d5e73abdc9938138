#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Reading ahead: one program that reads a file in order through the mount gets what 16 emulated HP 97560 give at most.
# The disks run at a third of their speed, so that a busy machine is fast enough for all of them; one that has no
# processor left is not judged.
plain=1
. "$(dirname "$0")/lib_mount.sh"
scale=3
mb=128
# The sustained rate of a disk in thousands of bytes a second: 19 tracks of 72 sectors of 512 bytes, at 4002 revolutions a
# minute, with 18 head switches of 8 sectors and a step to the next cylinder that costs 18 more.
sustained=2198

start_cluster c --iops 16 --engine hp97560 --files --disk-options "time_scale=$scale" || exit 1
check "mount" mount_at m
dd if=/dev/urandom of="$dir/source" bs=1M count=$mb 2>/dev/null
check "write" dd if="$dir/source" of="$dir/m/f" bs=1M conv=fsync 2>/dev/null

# cold: empties the caches of the nodes and of the kernel
cold() {
	local n
	unmount m && stop_cluster c || return 1
	for n in "$dir"/c/*.log; do
		start_node c "$(basename "$n" .log)" || return 1
	done
	mount_at m
}
# ahead BYTES-OF-A-READ: prints the share, in per cent, of the disks' own rate
ahead() {
	local ns
	cold || return 1
	ns=$(date +%s%N)
	dd if="$dir/m/f" of="$dir/copy" bs="$1" 2>/dev/null || return 1
	ns=$(($(date +%s%N) - ns))
	rate=$((mb * 1048576 * scale / 16 * 1000000 / ns))
	percent=$((rate * 100 / sustained))
	echo "reads of $1: $rate KB/s of a disk's own time, $percent % of $sustained"
	cmp "$dir/source" "$dir/copy" && [ $percent -le 101 ]
}
# reaches WHAT BYTES-OF-A-READ: the best of three
reaches() {
	local n
	for n in 1 2 3; do
		watched ahead "$2" || { not_ok "$1: $percent %"; return; }
		[ $percent -lt 90 ] || { ok "$1"; return; }
	done
	too_slow "$1: $percent %"
}
reaches "requests of 1 MB" 1M
reaches "requests of 128 KB" 128K
