#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What collective reads cost in processor time, and how fast they are, with 4 and 16 processes that have a block of the file each:
#
#   tests/perf/cost.sh [ROUNDS [BYTES]]
#
# ROUNDS (5) in turns, for files of 10 and 100 MB: a new cluster of an I/O processor with two disks in memory, and as many reads one
# right after the other as make BYTES (2G); by shared buffers, and by TCP ("share = no").  Prints the rate in MB/s (2^20), and what
# processes and daemon used of the processors, in seconds a GB (10^9 bytes): medians, with the least and greatest round.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/perf/lib.sh
rounds=${1:-5} bytes=$(numfmt --from=iec "${2:-2G}") || exit 2
want_numbers "$rounds"
alone "$@"

# The daemon's processor time so far, in hundredths of a second.
ticks() {
	sed 's/.*) //' "/proc/$(<"$dir/c/io0.pid")/stat" | awk '{ print $12 + $13 }'
}
# reads PROCESSES MB WAY
reads() {
	local size=$(($2 << 20)) n before
	n=$((bytes / size))
	"$build/tests/perf/bench_calls" --repeat "$dir/$3.conf" 127.0.0.1:19000 "$1" $size read 1 >/dev/null || exit 1
	before=$(ticks)
	"$build/tests/perf/bench_calls" --repeat "$dir/$3.conf" 127.0.0.1:19000 "$1" $size read $n >"$dir/out" || exit 1
	awk -v n=$n -v size=$size -v procs="$1" -v ticks=$(($(ticks) - before)) -v what="$2 MB, $3" '
		{ us[NR] = $NF }
		END {
			printf "%s: MB/s %.0f\n", what, size / us[1] * 1e6 / 1048576
			printf "%s: s/GB %.4f\n", what, (us[2] * procs * n / 1e6 + ticks / 100) / (n * size / 1e9)
		}' "$dir/out"
}
for procs in 4 16; do
	for ((r = 0; r < rounds; r++)); do
		"$build/ddio" start --dir "$dir/c" --engine mem --disk-size 512M --iops 1 --disks 2 >/dev/null || exit 1
		cp "$dir/c/ddio.conf" "$dir/shared.conf"
		sed '/^\[cluster\]/a share = no' "$dir/c/ddio.conf" >"$dir/tcp.conf"
		for mb in 10 100; do
			reads $procs $mb shared
			reads $procs $mb tcp
		done
		"$build/ddio" stop --clean --dir "$dir/c" >/dev/null
	done | medians '%-26s %10.3f  (%.3f to %.3f)' "$(printf %2d $procs)"
done
