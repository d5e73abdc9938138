#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 360
# Two threads of each rank in MPI_THREAD_MULTIPLE, with both MPIs: the library, and the daemons, under ThreadSanitizer.
BUILD=$(cd "$(dirname "$0")/../.." && pwd)/build/tsan
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_mpiio.sh"
# Threads race as they do without it.
unset PATIENT
# The MPIs are not built with it: what they copy, on whichever thread is in a call of theirs, is ordered by means that it does not see.  So
# copies by code that is not instrumented do not count.
export TSAN_OPTIONS="exitcode=66:halt_on_error=0:ignore_noninstrumented_modules=1:history_size=4:suppressions=$top/tests/mpiio/tsan.supp:log_path=$dir/report"
# UCX, by which MPICH sends, calls locks of its own from threads that have not begun.
export UCX_MEM_MMAP_HOOK_MODE=none UCX_MEM_EVENTS=no
sanitized="$(gcc -print-file-name=libtsan.so) $build/libddio_mpiio.so"

check "start" start_cluster c --iops 2 --disks 2 --engine mem --disk-size 256M
for mpi in mpich openmpi; do
	if ! command -v "mpiexec.$mpi" >/dev/null || [ ! -x "$top/build/tests/mpiio/$mpi/functions" ]; then
		skipped=$((skipped + 1))
		echo "skipped: $mpi is not installed"
		continue
	fi
	BUILD=$top/build programs "$mpi" OPTIONS='--ddio --threads --only threads:' PRELOAD="$sanitized" \
		tests/mpiio/run.sh $mpi ddio: functions
done
check "stop" stop_cluster c
check "no report of ThreadSanitizer" bash -c "! grep -s -A40 'WARNING: ThreadSanitizer' '$dir'/report.* '$dir'/*/*.log"
