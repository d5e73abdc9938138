#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# The daemon's memory for a disk-directed transfer does not depend on the number
# of compute processes: 4, 16 and 64 of them move the same file.
plain=1 # measured without sanitizers
. "$(dirname "$0")/lib.sh"

for n in 4 16 64; do
	start_cluster c$n --iops 1 --disks 2 --engine mem --disk-size 64M --cache 4M --reactors 1 || exit 1
	for op in "" -w -w ""; do
		"$helpers/crowd" -n $n -s 16777216 -b 65536 $op -c 2 -f m$n >"$dir/out" 2>&1
		[ -n "$op" ] || continue
		check "$n processes" [ "$(grep -c ' ok 2' "$dir/out")" = $n ]
	done
	pid=$(cat "$dir/c$n/io0.pid")
	# Counts anonymous memory only; the emulated disks keep their data in files.
	hwm=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status")
	buffers=$("$ddio" status --csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["max_buffers"] > m { m = $c["max_buffers"] } END { print m }')
	echo "$n processes: peak resident $hwm KB, at most $buffers block buffers a disk"
	# Half of the 8 MB that each disk moves: the buffers are shared.
	check "$n processes: four megabytes of block buffers a disk" [ "$buffers" = 64 ]
	eval "hwm$n=$hwm"
	stop_cluster c$n
done
# 16 MB of file data are in the emulated disks of each; what may grow is a connection's own state.
# Allowed: 48 KB for each further process.
check "64 processes cost less than 48 KB each over 4" [ $((${hwm64:?not measured} - ${hwm4:?not measured})) -lt $((60 * 48)) ]
