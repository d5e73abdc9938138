#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# make plants: how many of the bugs of plant.pl simulated faults find, and how soon: by 300 seeds, or $SEEDS, from 1 or $SEED
# on.  PLANTS="NAME..." tries only these.  The seeds are the same for all bugs; the product passes those of make check.
set -u
cd "$(dirname "$0")/.." || exit 2
below=${TMPDIR:-/tmp}
[ -d /dev/shm ] && [ -w /dev/shm ] && below=/dev/shm
TMPDIR=$(mktemp -d "$below/ddio-plants.XXXXXX") || exit 2
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
seeds=${SEEDS:-300} first=${SEED:-1} found=0 all=0
for p in ${PLANTS:-$(tests/sim/plant.pl)}; do
	option=$(tests/sim/plant.pl --option "$p") || exit 2
	env -u MAKEFLAGS -u MAKELEVEL make -s "build/plants/$p/ddio-lab" || exit 2
	all=$((all + 1))
	line=$("build/plants/$p/ddio-lab" sim --faults --seed "$first" --seeds "$seeds" --first ${option:+"$option"} 2>/dev/null |
		grep -m 1 '^seed')
	[ -z "$line" ] || found=$((found + 1))
	printf '%-12s %-10s %s\n' "$p" "$option" "${line:-not found}"
	find "$TMPDIR" -mindepth 1 -name 'ddio-sim.*' -exec rm -rf {} +
done
echo "$found of $all planted bugs found by $seeds seeds"
[ $found -eq $all ]
