#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Small collectives one right after the other, through memory and by TCP, and the barrier of each MPI that is installed:
#
#   tests/perf/small.sh [ROUNDS [CALLS]]
#
# For 4 and 16 processes ROUNDS (5) in turns: a new cluster of $IOPS I/O processors (4) with disks in memory, and CALLS (1000)
# each of reads and writes of 1 KB and 64 KB and of barriers; the same with "channels = no" at the processes; and as many of MPI_Barrier().
# Prints medians in us, with the least and greatest round.  What MPI takes wants "make mpiio-tests".
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/perf/lib.sh
. tests/mpiio/launch.sh
rounds=${1:-5} calls=${2:-1000}
want_numbers "$rounds" "$calls"
alone "$@"

# cluster WAY PROCESSES: a cluster's whole life; with WAY tcp no message goes through memory
cluster() {
	local bytes call
	"$build/ddio" start --dir "$dir/c" --engine mem --disk-size 512M --iops "${IOPS:-4}" --cache 64M >/dev/null || exit 1
	# The processes say so by their own configuration.
	sed '/^\[cluster\]/a channels = no' "$dir/c/ddio.conf" >"$dir/c/tcp.conf"
	cp "$dir/c/ddio.conf" "$dir/c/memory.conf"
	for bytes in 1024 65536; do
		for call in write read; do
			"$build/tests/perf/bench_calls" --repeat "$dir/c/$1.conf" 127.0.0.1:19000 "$2" $bytes $call "$calls" |
				sed "s/^/$1: $bytes bytes: /" || exit 1
		done
	done
	"$build/tests/perf/bench_calls" --repeat "$dir/c/$1.conf" 127.0.0.1:19000 "$2" 1024 barrier "$calls" |
		sed "s/^/$1: /" || exit 1
	"$build/ddio" stop --clean --dir "$dir/c" >/dev/null
}
for procs in 4 16; do
	for ((r = 0; r < rounds; r++)); do
		cluster memory $procs
		cluster tcp $procs
		for mpi in mpich openmpi; do
			[ -x "$build/tests/mpiio/$mpi/barrier" ] || continue
			N=$procs BOUND=10 launch "$build/tests/mpiio/$mpi/barrier" "$calls" 2>/dev/null | sed -n "s/^barrier /$mpi: barrier /p"
		done
	done | medians '%-30s %9.2f  (%.2f to %.2f)' "$(printf %2d $procs)"
done
