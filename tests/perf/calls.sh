#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the calls around a transfer cost, small transfers, and the first touch of a disk in memory:
#
#   tests/perf/calls.sh [ROUNDS]
#
# For 4 and 16 processes, and 1 KB, 64 KB and 100 MB: ROUNDS (5) clusters of $IOPS I/O processors (4) with disks in
# memory, each new, one after the other, rank 0 starting with the others, and 5 ms after them; in turn with a fresh
# plain file on tmpfs that the same processes write.  Prints medians in ms, with the least and greatest
# round.  Before all that three quarters of the free memory, or $TOUCH GB, are touched once: what a virtual machine has
# never touched yet is several times as slow as what it has, for whoever comes first.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/perf/lib.sh
rounds=${1:-5}
want_numbers "$rounds"
alone "$@"

# one PROCESSES BYTES LATE_MS: a cluster's whole life
one() {
	"$build/ddio" start --dir "$dir/c" --engine mem --disk-size 512M --iops "${IOPS:-4}" --cache 64M >/dev/null || exit 1
	"$build/tests/perf/bench_calls" "$dir/c/ddio.conf" 127.0.0.1:19000 "$1" "$2" "$3" || exit 1
	"$build/ddio" stop --clean --dir "$dir/c" >/dev/null
}
plain() {
	"$build/tests/perf/bench_calls" --plain "$dir/plain" "$1" "$2" || exit 1
	rm "$dir/plain"
}

TOUCH=${TOUCH:-$(awk '/^MemAvailable/ { print int($2 * 3 / 4 / 1024 / 1024) }' /proc/meminfo)}
"$build/tests/perf/bench_calls" --touch "$TOUCH" || exit 1
echo "processes bytes what: median ms (least to greatest), $rounds rounds"
for procs in 4 16; do
	for bytes in 1024 65536 100000000; do
		for ((r = 0; r < rounds; r++)); do
			one $procs $bytes 0
			plain $procs $bytes
			one $procs $bytes 5 | sed -n 's/^group_create/& (rank 0 5 ms late)/p'
		done | medians '%-28s %9.3f  (%.3f to %.3f)' "$procs $bytes"
	done
done
