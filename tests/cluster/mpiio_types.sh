#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# 100,000 random datatypes of each MPI, without files: the library's own code takes them apart, and what it makes of them has each byte
# where a naive walk has it, and as MPI_Pack() does.
plain=1
. "$(dirname "$0")/lib.sh"
. tests/mpiio/launch.sh
# Open MPI's sockets have short names only.
export TMPDIR=$dir

# random_types SEED: each of the batches counts
random_types() {
	local p f s
	N=1 BOUND=$((100 * DDIO_PATIENCE)) launch "build/tests/mpiio/$mpi/random_types" none 100000 "$1" >"$dir/said" 2>&1
	read -r p f s < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$dir/said")
	if [ -z "${p:-}" ]; then
		not_ok "$mpi: no result: $(tail -n 3 "$dir/said")"
		return
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	echo "$mpi: $p passed, $f failed, $s skipped"
	grep -a '^not ok\|^#' "$dir/said"
}
for mpi in mpich openmpi; do
	if [ -x "build/tests/mpiio/$mpi/random_types" ]; then
		random_types ${#mpi}
	else
		skipped=$((skipped + 1))
		echo "skipped: $mpi is not installed"
	fi
done
