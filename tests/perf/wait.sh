#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What MPI_Wait() and MPI_Test() cost a program that has no file of ddio, without and with libddio_mpiio before its MPI:
#
#   tests/perf/wait.sh [ROUNDS [MILLIONS]]
#   tests/perf/wait.sh --count
#
# ROUNDS (7) of MILLIONS (20) of calls each, in turns.  Prints medians in ns, and the median of the rounds' differences with the
# least and greatest.  --count prints instructions a call, the mean of all, as valgrind counts them, and takes a minute.  Wants "make
# mpiio mpiio-tests".
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-$PWD/build} count=
[ "${1:-}" != --count ] || { count=1; shift; }
rounds=${1:-7} millions=${2:-20}
case $rounds$millions in *[!0-9]*) sed -n '4,11s/^# \?//p' "$0"; exit 2 ;; esac
. tests/mpiio/launch.sh

# refs MILLIONS [LIBRARY]: instructions of a run
refs() {
	LD_PRELOAD=${2:-} valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$build/tests/mpiio/$mpi/wait" "$1" 2>&1 </dev/null |
		sed -n 's/.* I *refs: *//p' | tr -d ,
}
# a_call [LIBRARY]: what 100,000 more of each loop's calls take, beside the start of the MPI; there are five loops of each call, one of
# them of an eighth.  Under valgrind an MPI does some ten million instructions a second on a busy machine, and a call takes up to 300.
a_call() {
	awk -v few="$(refs 0.05 "$@")" -v many="$(refs 0.15 "$@")" 'BEGIN { printf "%.1f", (many - few) / (5e5 * 3.125) }'
}
if [ -n "$count" ]; then
	for mpi in mpich openmpi; do
		[ ! -x "$build/tests/mpiio/$mpi/wait" ] ||
			printf '%-8s instructions a call: without %s  with %s\n' $mpi "$(a_call)" "$(a_call "$build/libddio_mpiio.so")"
	done
	exit
fi

# one NAME [LIBRARY]: a run
one() {
	N=1 PRELOAD=${2:-} launch "$build/tests/mpiio/$mpi/wait" "$millions" | sed "s/^/$1: /"
}
for mpi in mpich openmpi; do
	[ -x "$build/tests/mpiio/$mpi/wait" ] || continue
	for ((i = 0; i < rounds; i++)); do
		one without
		one with "$build/libddio_mpiio.so"
	done | awk -F': ' -v mpi=$mpi '
		$1 == "without" { if (!($2 in n)) order[++m] = $2; a[$2, ++n[$2]] = $3 }
		$1 == "with" { b[$2, n[$2]] = $3; d[$2, n[$2]] = $3 - a[$2, n[$2]] }
		function sorted(v, w, i, j, t) {
			for (i = 2; i <= n[w]; i++)
				for (j = i; j > 1 && v[w, j - 1] + 0 > v[w, j] + 0; j--) {
					t = v[w, j]; v[w, j] = v[w, j - 1]; v[w, j - 1] = t
				}
			return v[w, int((n[w] + 1) / 2)]
		}
		END {
			for (k = 1; k <= m; k++) {
				w = order[k]
				printf "%-8s %-36s without %7.2f  with %7.2f  more %6.2f", mpi, w, sorted(a, w), sorted(b, w), sorted(d, w)
				printf "  (%.2f to %.2f)\n", d[w, 1], d[w, n[w]]
			}
		}'
done
