#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Probes: the scripts of tools/monitoring see what the daemon counts; the list in operating.rst is the whole one.
. "$(dirname "$0")/lib.sh"

# listed BINARY...: "name arguments" of its probes
listed() {
	local b
	for b in "$@"; do
		readelf -n "$b" | awk '/Provider: ddio$/ { p = 1 } p && /Name:/ { name = $2 } p && /Arguments:/ { print name, NF - 1; p = 0 }'
	done | sort -u
}
echo "#include <sys/sdt.h>" | ${CC:-cc} -E - >/dev/null 2>&1 || { echo "skipped: no sys/sdt.h (systemtap-sdt-dev)"; exit 77; }
listed "$build/ddiod" "$build/ddio" >"$dir/listed"
# The table: ``ddio:NAME``  first, second, ...
# shellcheck disable=SC2016
sed -n 's/^``ddio:\([a-z_]*\)``  *\(.*[^ ]\) *$/\1 \2/p' Documentation/operating.rst | awk '{ n = gsub(/,/, ","); print $1, n + 1 }' | sort >"$dir/told"
check "operating.rst tells of each probe, and of its arguments" cmp "$dir/told" "$dir/listed"
check "... and there are some" test "$(wc -l <"$dir/listed")" -ge 8

if [ "$(id -u)" != 0 ] || ! bpftrace -e 'BEGIN { exit(); }' >/dev/null 2>&1; then
	echo "skipped: the scripts: not root, or bpftrace cannot trace here"
	exit 77
fi
check "start" start_cluster c --iops 1 --engine mem --disk-size 64M --reactors 1
head -c 3M /dev/urandom >"$dir/f"
daemon=$(cat "$dir/c/io0.pid")
# What a disk, and the collectives, have counted so far.
disk_counts() {
	"$ddio" status --csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i }
		NR == 2 { print $col["reads"], $col["writes"], $col["read_bytes"], $col["write_bytes"] }'
}
work() {
	"$ddio" import "$dir/f" f && "$ddio" export f - >/dev/null && "$ddio" rm f &&
		"$ddio" bench --conf "$DDIO_CONF" --cps 2 --size 1M --patterns wb,rb --records 8192 --methods dd >/dev/null
}
# end_tracer PID: by SIGINT, and by another each second while it still has its handler: bpftrace forgets one that comes between setting the
# handler and waiting for events (7 of 60 beside four busy loops).  When it has heard one it drops the handler, and prints what it counted.
end_tracer() {
	local n
	interrupt "$1"
	for ((n = 0; n < 20 * DDIO_PATIENCE; n++)); do
		sleep 1
		hears "$1" || return
		kill -INT "$1"
	done
	kill -KILL "$1"
}
# traced SCRIPT SECONDS: runs it while there is work; what it says is in $dir/SCRIPT.  It needs so long to begin.
traced() {
	bpftrace -p "$daemon" "tools/monitoring/ddio-$1.bt" >"$dir/$1" 2>&1 &
	local tracer=$!
	sleep "$2"
	work
	end_tracer $tracer
	wait $tracer
}
# disks_seen SECONDS: the script counts what the daemon counts
disks_seen() {
	local r w rb wb r2 w2 rb2 wb2
	read -r r w rb wb < <(disk_counts)
	traced disks "$1"
	read -r r2 w2 rb2 wb2 < <(disk_counts)
	grep -qxF "@requests[d0, read]: $((r2 - r))" "$dir/disks" && grep -qxF "@requests[d0, write]: $((w2 - w))" "$dir/disks" &&
		grep -qxF "@bytes[d0, read]: $((rb2 - rb))" "$dir/disks" && grep -qxF "@bytes[d0, write]: $((wb2 - wb))" "$dir/disks"
}
collectives_seen() {
	traced collectives "$1"
	[ "$(grep -cE '^[0-9]+ +0 +bench[^ ]* +1048576 +[0-9]+\.[0-9]{3}$' "$dir/collectives")" -ge 2 ] &&
		grep -qxF "@collectives: $(grep -c ' bench' "$dir/collectives")" "$dir/collectives"
}
cache_seen() {
	traced cache "$1"
	[ "$(grep -c '^@hits' "$dir/cache")" -ge 1 ] && [ "$(grep -c '^@misses' "$dir/cache")" -ge 1 ]
}
requests_seen() {
	traced requests "$1"
	# Three writes of 1 MB or more small ones, as many reads at least; each has ended, so each has a time.
	awk '/^@requests\[4[89]\]/ { n += $2 } /^@us\[4[89]\]/ { us++ } END { exit !(n >= 6 && us == 2) }' "$dir/requests"
}
# Again with more time to begin, where the machine is slow.
seen() { "$1_seen" 3 || "$1_seen" 10 || "$1_seen" $((20 * DDIO_PATIENCE)); }
check "disks: requests and bytes are what the daemon counts" seen disks
check "collectives: each with its file and bytes" seen collectives
check "cache: hits and misses of files" seen cache
check "requests: reads and writes with their times" seen requests
check "the daemon is as before" work
check "stop" stop_cluster c
