# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034
# MPI programs as they are, with libddio_mpiio in front of their MPI.  Sourced, behind what makes the cluster's library.
. tests/mpiio/launch.sh
library=$top/build/libddio_mpiio.so
# Ranks that wait sleep, which leaves the processors to what they wait for, and to other tests.
export PATIENT=$top/build/tests/mpiio/patient.so
# Open MPI's sockets have short names only.
export TMPDIR=$dir

# said_counts WHAT: each case of each program whose last words are in $dir/said counts
said_counts() {
	local p f s
	read -r p f s < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$dir/said" | tail -n 1)
	if [ -z "${p:-}" ]; then
		not_ok "$1: no result: $(tail -n 3 "$dir/said")"
		return
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	echo "$1: $p passed, $f failed, $s skipped"
	grep -a 'not ok\|^skip\|^#' "$dir/said"
}

# programs WHAT [VARIABLE=VALUE...] MPI DIR_OR_PREFIX [PROGRAM...]
programs() {
	local what=$1
	shift
	env PRELOAD="$library" BOUND=$((60 * DDIO_PATIENCE)) "$@" >"$dir/said" 2>&1
	said_counts "$what"
}
