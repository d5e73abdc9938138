#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# The mount's program and the daemons under ThreadSanitizer, with every kind of load: data, names, locks, two mounts,
# copies, dropped pages, signals, an end with files open.
BUILD=$(cd "$(dirname "$0")/../.." && pwd)/build/tsan
. "$(dirname "$0")/lib_mount.sh"
export TSAN_OPTIONS="exitcode=66:halt_on_error=0"
posix=$top/build/tests/posix/posix

check "start" start_cluster c --iops 2 --disks 2 --reactors 2 --engine mem --disk-size 256M --block-size 32K --cache 32M \
	--timeout-ms 20000
# Some cases, which run on this mount, open devices and execute setuid programs.
check "mount" mount_at a suid,dev,threads=4
check "mount" mount_at b threads=4
mkdir "$dir/a/x" "$dir/a/load"

load() {
	local n
	for ((n = 0; n < 12; n++)); do
		head -c 300000 /dev/urandom >"$dir/$1/load/$1.$n" && cp "$dir/$1/load/$1.$n" "$dir/$1/load/$1.copy" &&
			cmp "$dir/$1/load/$1.$n" "$dir/$1/load/$1.copy" && echo "$1 $n" >>"$dir/$1/load/log" &&
			flock "$dir/$1/load/log" true && ls -l "$dir/$1/load" >/dev/null &&
			mv "$dir/$1/load/$1.$n" "$dir/$1/load/$1.last" && truncate -s 1000 "$dir/$1/load/$1.last" || return 1
	done
}
both() {
	load a &
	local p=$!
	load b && wait $p && [ "$(wc -l <"$dir/b/load/log")" = 24 ]
}
check "load of both" both
check "cases, several at a time" in_time 200 "$posix" --jobs 4 --not '@(path/*|dirs/thousands*|rename/*|xattr/*|acl/*)' "$dir/a/x"
check "locks of both" in_time 100 "$posix" --jobs 4 --only 'lock/*' --other "$dir/b/x" "$dir/a/x"
check "histories" in_time 60 "$top/build/tests/helpers/histories" --seed 7 --seconds 3 --locks "$dir/a" "$dir/b"
check "unmount" unmount b
check "mount" mount_at b cache=always,threads=4
exec 9>"$dir/b/open"
head -c 3000000 /dev/zero >&9
kill "${pid[b]}"
check "the end with a file open" wait "${pid[b]}"
exec 9>&-
check "unmount" unmount a
check "stop" stop_cluster c
check "no report of ThreadSanitizer" bash -c "! grep -A25 'WARNING: ThreadSanitizer' '$dir'/*.log '$dir'/*/*.log"
