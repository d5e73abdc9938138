# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034
# MPI programs as they are, with libddio_mpiio in front of their MPI.  Sourced, behind what makes the cluster's library.
. tests/mpiio/launch.sh
library=$top/build/libddio_mpiio.so
# Open MPI's sockets have short names only.
export TMPDIR=$dir

# programs WHAT [VARIABLE=VALUE...] MPI DIR_OR_PREFIX [PROGRAM...]: each case of each program counts
programs() {
	local what=$1 p f s
	shift
	env PRELOAD="$library" BOUND=$((60 * DDIO_PATIENCE)) "$@" >"$dir/said" 2>&1
	read -r p f s < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$dir/said" | tail -n 1)
	if [ -z "${p:-}" ]; then
		not_ok "$what: no result: $(tail -n 3 "$dir/said")"
		return
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	echo "$what: $p passed, $f failed, $s skipped"
	grep -a 'not ok\|^skip' "$dir/said"
}
