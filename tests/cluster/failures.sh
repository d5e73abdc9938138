#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 420
# Things go wrong in mid-collective: every process gets the same clear error in
# bounded time, and the cluster goes on.
. "$(dirname "$0")/lib.sh"
crowd=$helpers/crowd
bound=$((15000 * DDIO_PATIENCE)) # ms: timeouts below are 3 s

# judge "what" ERRNO TEXT MIN_RANKS FILE: at least MIN_RANKS ranks failed, all with ERRNO, naming TEXT, in time
judge() {
	local what=$1 errno=$2 text=$3 min=$4 file=$5 n
	n=$(grep -c ' err ' "$file")
	check "$what: $n processes saw it" [ "$n" -ge "$min" ]
	check "$what: all the same error" [ "$(grep -o ' err -[0-9]*' "$file" | sort -u)" = " err -$errno" ]
	check "$what: the text names it" grep -qiE -- "$text" "$file"
	grep -qiE -- "$text" "$file" || cat "$file"
	check "$what: in bounded time" awk -v b=$bound '{ for (i = 1; i < NF; i++)
		if ($i == "ms" && $(i + 1) > b) exit 1 }' "$file"
	check "$what: no wrong bytes" bash -c "! grep -q WRONG '$file'"
	[ "${SHOW:-}" ] && cat "$file"
}
usable() {
	"$crowd" -n 4 -s 262144 -f after -w >"$dir/after" 2>&1 && "$crowd" -n 4 -s 262144 -f after >>"$dir/after" 2>&1
	check "$1: the cluster is usable afterwards" [ "$(grep -c ' ok 1' "$dir/after")" = 8 ]
	grep -v ' ok ' "$dir/after"
}
restart() { # cluster node
	"$build/ddiod" --conf "$dir/$1/ddio.conf" --node "$2" --pid-file "$dir/$1/$2.pid" \
		--log-file "$dir/$1/$2.log"
}

check "start" start_cluster c --iops 4 --engine hp97560 --files --disk-options time_scale=1 \
	--block-size 8K --timeout-ms 3000

# Mismatched collectives.
for kind in file shape op; do
	"$crowd" -n 4 -x $kind -v 2 -w >"$dir/out" 2>&1
	judge "mismatch of $kind" 52 "process 2|rank 2|process [0-9].*process|rank [0-9]" 4 "$dir/out"
done
"$crowd" -n 4 -x leave -v 2 -t 3000 >"$dir/out" 2>&1
n=$(grep -c ' err -' "$dir/out")
check "a process that never comes: the others fail" [ "$n" -ge 3 ]
usable "mismatch"

whole() { # the file that reads read, whole
	"$crowd" -n 4 -s "$1" -w >"$dir/out" 2>&1
	check "a file of $1 bytes" [ "$(grep -c ' ok 1' "$dir/out")" = 4 ]
}

# Kills a compute process at several moments of reads and writes.
whole 4194304
for op in "" -w; do
	for after in 100 300 700; do
		"$crowd" -n 4 -c 200 -s 4194304 $op -k kill -v 2 -a $after >"$dir/out" 2>&1
		judge "CP killed after $after ms${op:+ (write)}" 103 "process 2|rank 2" 3 "$dir/out"
	done
done
usable "CP killed"

# Stops a compute process, so that it no longer reads from its connections.
whole 8388608
"$crowd" -n 4 -c 200 -s 8388608 -k stop -v 2 -a 500 >"$dir/out" 2>&1
n=$(grep -c ' err -' "$dir/out")
check "a process that stops: the others fail in bounded time" [ "$n" -ge 3 ]
check "... naming it" grep -qE 'process 2|rank 2' "$dir/out"
check "... in bounded time" awk -v b=$bound '{ for (i = 1; i < NF; i++)
	if ($i == "ms" && $(i + 1) > b) exit 1 }' "$dir/out"
usable "a stopped CP"

# Kills an I/O processor.
whole 4194304
for op in "" -w; do
	("$crowd" -n 4 -c 400 -s 4194304 $op >"$dir/out" 2>&1) &
	sleep 1
	kill -9 "$(cat "$dir/c/io2.pid")"
	wait $!
	judge "IOP killed${op:+ (write)}" 112 "io2" 4 "$dir/out"
	check "restart io2" restart c io2
	whole 4194304
done
usable "IOP killed"

# A daemon that was killed holds its node's lock for a while; one that lives keeps it.
fails "a second daemon of a node" "io2.*already served by process $(cat "$dir/c/io2.pid")" \
	"$build/ddiod" --conf "$dir/c/ddio.conf" --node io2 --log-file "$dir/c/second.log"
check "... waited before" grep -q "waiting for process $(cat "$dir/c/io2.pid")" "$dir/c/second.log"
kill -9 "$(cat "$dir/c/io2.pid")"
exec 7<>"$dir/c/io2/lock"
flock 7
(sleep 1 && flock -u 7) &
check "a lock that is held on: the next waits" restart c io2 7<&-
check "... and says so" grep -q "waiting for process" "$dir/c/io2.log"
exec 7<&-
usable "a daemon that waited"
check "fsck after it all" "$ddio" fsck --repair
check "fsck finds nothing left" "$ddio" fsck
stop_cluster c

# Makes a disk return errors.
check "start with a failing disk" start_cluster d --iops 2 --engine hp97560 \
	--disk-options time_scale=0,fail_after=40 --block-size 8K --timeout-ms 3000
"$crowd" -n 4 -c 50 -s 1048576 -w >"$dir/out" 2>&1
judge "a disk fails" 5 "disk .*d[01]|d[01]" 4 "$dir/out"
check "... naming the offset" grep -qE 'byte|offset|block' "$dir/out"
check "the daemons live" [ "$("$ddio" status --nodes | grep -c ' up ')" = 2 ]
stop_cluster d

# Fills a disk.
check "start with small disks" start_cluster e --iops 2 --engine mem --disk-size 2M --block-size 8K
"$crowd" -n 4 -s 3145728 -w -f fits >"$dir/out" 2>&1
check "what fits is written" [ "$(grep -c ' ok 1' "$dir/out")" = 4 ]
"$crowd" -n 4 -s 2097152 -w -f full >"$dir/out" 2>&1
judge "a full disk" 28 "full|space" 4 "$dir/out"
"$crowd" -n 4 -s 3145728 -f fits >"$dir/out" 2>&1
check "a full disk: what was there still is" [ "$(grep -c ' ok 1' "$dir/out")" = 4 ]
check "rm gives room" "$ddio" rm full fits
usable "a full disk"
check "fsck" "$ddio" fsck
stop_cluster e
