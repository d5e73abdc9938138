#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make night: fresh seeds of simulated faults, 8,000 or as many as $SEEDS says, from a number that the clock draws, or
# $SEED.  One in eight is a run in which nothing but the power breaks, one in eight has mounts, and
# one in eight epochs of several files.  A seed that fails is told as its shortest schedule.
# Then the file system of the name server's records goes away and comes back, 200 times or $ROUNDS.  The last line says how many seeds an hour that were.
set -u
cd "$(dirname "$0")/.." || exit 2
seeds=${SEEDS:-8000}
first=${SEED:-$(($(date +%s) * 10))}
below=${TMPDIR:-/tmp}
[ -d /dev/shm ] && [ -w /dev/shm ] && below=/dev/shm
TMPDIR=$(mktemp -d "$below/ddio-night.XXXXXX") || exit 2
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
log=$TMPDIR/log began=$SECONDS failed=0

# run FIRST COUNT [OPTION]
run() {
	[ "$2" -gt 0 ] || return
	echo "seeds $1 to $(($1 + $2 - 1))${3:+, $3}"
	build/ddio sim --faults --seed "$1" --seeds "$2" ${3:+"$3"} >"$log" 2>&1 && return
	failed=1
	grep '^seed' "$log"
	# shellcheck disable=SC2013
	for s in $(sed -n 's/^seed \([0-9]*\):.*/\1/p' "$log"); do
		build/ddio sim --faults --seed "$s" --minimize ${3:+"$3"}
	done
}
run "$first" $((seeds - 3 * (seeds / 8)))
run $((first + seeds)) $((seeds / 8)) --power
run $((first + 2 * seeds)) $((seeds / 8)) --mounts
run $((first + 3 * seeds)) $((seeds / 8)) --epochs
# The records' file system goes and comes back, as root.
if [ "$(id -u)" = 0 ] && [ -e /dev/loop-control ] && [ -e /dev/fuse ]; then
	BUILD=$PWD/build ROUNDS=${ROUNDS:-200} SEED=$first tests/cluster/mount_gone.sh || failed=1
fi
took=$((SECONDS - began))
echo "$seeds seeds in $took s, $((seeds * 3600 / (took > 0 ? took : 1))) an hour"
exit $failed
