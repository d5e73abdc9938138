#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Kotz and Cai's question on this machine: how much of a computation is left on processors that
# serve files too.  A computation on every processor, alone and beside a cluster of emulated disks
# whose daemons and clients run on the same processors.
#
#   tests/perf/ionode.sh [SECONDS]     5 for each measurement
set -eu
cd "$(dirname "$0")/../.."
secs=${1:-5}
build=${BUILD:-build}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ddio-ionode.XXXXXX")
pids=
# shellcheck disable=SC2154
trap 'for p in $pids; do kill -- "-$p" 2>/dev/null || true; done; rm -rf "$dir"' EXIT

compute() { "$build/tests/perf/bench_ionode" "$@"; }
rate() { sed 's/.*: \([0-9.]*\) steps.*/\1/'; }

declare -A loops
for step in 0 1000; do
	loops[$step]=$(compute 1 $step | sed 's/.*, \([0-9]*\) loops.*/\1/')
done
median() { sort -n | sed -n 2p; }

# once STEP PATTERN RECORD METHOD: per cent of the computation's speed alone just before
once() {
	local alone beside
	alone=$(compute "$secs" "$1" "${loops[$1]}" | rate)
	# In a process group of its own, so that kill reaches the loop and its bench, which ends its cluster.
	setsid bash -c 'while "$@"; do :; done' loop "$build/ddio" bench -q --csv --no-verify \
		-n 4 -i 4 -s 100M -p "$2" -r "$3" -m "$4" --trials 3 >"$dir/io" 2>&1 &
	pids=$!
	sleep 2
	beside=$(compute "$secs" "$1" "${loops[$1]}" | rate)
	kill -- "-$pids"
	wait "$pids" 2>/dev/null || true
	pids=
	awk -v a="$alone" -v b="$beside" 'BEGIN { printf "%.1f\n", 100 * b / a }'
}

# beside NAME PATTERN RECORD METHOD: while the pattern runs over and over; medians of three
beside() {
	local step line="$1 $4"
	for step in 0 1000; do
		for _ in 1 2 3; do once $step "$2" "$3" "$4"; done >"$dir/ratios"
		line+=$(printf '  %6s' "$(median <"$dir/ratios")")
	done
	echo "$line"
}

echo "# $(uname -r), $(nproc) processors; 4 I/O processors with an emulated HP 97560 each, 4 clients, 100 MB"
echo "# per cent of the computation's speed alone: without barriers, with one each millisecond"
for m in tc dds; do
	beside "easy read (rc 8192)" rc 8192 $m
	beside "easy write (wc 8192)" wc 8192 $m
	beside "hard read (rbc 8)" rbc 8 $m
	beside "hard write (wbc 8)" wbc 8 $m
done
