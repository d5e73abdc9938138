#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# 100,000 random datatypes of each MPI, without files: the library's own code takes them apart, and what it makes of them has each byte
# where a naive walk has it, and as MPI_Pack() does.
plain=1
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_mpiio.sh"

for mpi in mpich openmpi; do
	if [ -x "build/tests/mpiio/$mpi/random_types" ]; then
		N=1 BOUND=$((100 * DDIO_PATIENCE)) launch "build/tests/mpiio/$mpi/random_types" none 100000 ${#mpi} >"$dir/said" 2>&1
		said_counts "$mpi"
	else
		skipped=$((skipped + 1))
		echo "skipped: $mpi is not installed"
	fi
done
