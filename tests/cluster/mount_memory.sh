#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# A mount gives back the memory that it once needed: after 16 programs have moved large requests, and after files have
# come and gone that the kernel has forgotten, it has little more than at its beginning.
plain=1 # measured without sanitizers
. "$(dirname "$0")/lib_mount.sh"

kb() {
	awk -v k="$1:" '$1 == k { print $2 }' "/proc/${pid[m]}/status"
}
at_most() {
	[ "$(kb VmRSS)" -le "$1" ]
}
# all COMMAND...: runs it 16 times at once, with a number behind
all() {
	local n jobs=() rc=0
	for n in {1..16}; do
		"$@" "$n" &
		jobs+=($!)
	done
	for n in "${jobs[@]}"; do wait "$n" || rc=1; done
	return $rc
}
large() {
	dd if=/dev/zero of="$dir/m/large$1" bs=1M count=12 oflag=direct 2>/dev/null &&
		dd if="$dir/m/large$1" of=/dev/null bs=1M iflag=direct 2>/dev/null
}
small() {
	mkdir "$dir/m/d$1" && (cd "$dir/m/d$1" && seq 200 | xargs touch && ls -l >/dev/null) && rm -rf "$dir/m/d$1"
}

start_cluster c --iops 2 --engine mem --disk-size 256M --cache 4M || exit 1
check "mount" mount_at m
began=$(kb VmRSS)
check "large requests" all large
check "small files" all small
check "forget" eval 'echo 2 >/proc/sys/vm/drop_caches'
echo "at the beginning $began KB, at most $(kb VmHWM) KB, now $(kb VmRSS) KB"
check "more memory was needed" [ "$(kb VmHWM)" -ge $((began + 24 * 1024)) ]
# 3 MB of it are tables of names and of threads, of a fixed size, that were not touched at the beginning.
check "it is given back" soon at_most $((began + 15 * 1024))
echo "in the end $(kb VmRSS) KB"
check "it still works" large 1
check "unmount" unmount m
stop_cluster c
