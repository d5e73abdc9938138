#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 60
# tests/perf/linpack.sh at a small size: both arrangements, all four kinds of requests, and what it does when one of its
# programs fails.
plain=1
. "$(dirname "$0")/lib_mount.sh"
[ -x "$build/tests/mpiio/mpich/linpack" ] || { echo "skipped: there is no MPICH"; exit 77; }
[ "$(nproc)" -gt 1 ] || { echo "skipped: it needs two processors"; exit 77; }

measure() { in_time 40 env TMPDIR="$dir" tests/perf/linpack.sh "$@"; }
measure 0.1 1 4 >"$dir/out" 2>&1
rc=$?
check "it ends well" [ $rc -eq 0 ]
for how in server all; do
	for kind in read randread write randwrite; do
		check "$how, $kind" grep -Eq "^$how $kind: [0-9]+\.[0-9] \([0-9.]+ to [0-9.]+\), [1-9][0-9]* a second$" "$dir/out"
	done
done
[ $failed -eq 0 ] || cat "$dir/out"

solve() { in_time 20 mpiexec.mpich -n 1 "$build/tests/mpiio/mpich/linpack" "$@"; }
check "a system of 64 equations" grep -Eq '^[0-9.]+ [1-9][0-9]*$' < <(solve 0 64)
fails "a number that 16 does not divide" "a multiple of 16" solve 0 65

# A computation that ends with an error is no measurement.
mkdir -p "$dir/b/tests/mpiio/mpich"
ln -s "$build"/ddio* "$dir/b/"
printf '#!/bin/sh\nexit 1\n' >"$dir/b/tests/mpiio/mpich/linpack"
chmod +x "$dir/b/tests/mpiio/mpich/linpack"
fails "the computation fails" "read was not measured" in_time 30 env BUILD="$dir/b" TMPDIR="$dir" tests/perf/linpack.sh 0.1 1 4
check "nothing stays mounted" sh -c "! grep -q 'ddio-linpack' /proc/self/mounts"
