#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What checksums cost where nothing else does: collective transfers with memory disks, with "checksums = yes" and "no" in turns.
#
#   tests/perf/sums.sh [ROUNDS [MB]]
#
# ROUNDS (5): in each, a new cluster of an I/O processor with two disks either way, and four processes that read and write a file of MB
# (100) by rb, rc, wb and wc with records of 8 bytes and 8 KB, three times each.  Prints the rate with checksums over that without
# of each round: medians, with the least and greatest.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/perf/lib.sh
rounds=${1:-5} mb=${2:-100}
want_numbers "$rounds" "$mb"
alone "$@"

# begin WAY: a daemon, $daemon, that the configuration $dir/conf describes
begin() {
	{
		printf '[cluster]\nname = sums\nchecksums = %s\n[node io0]\naddress = 127.0.0.1:19000\nmeta = %s\n' "$1" "$dir/meta"
		for d in d0 d1; do printf '[disk %s]\nnode = io0\nengine = mem\nsize = 512M\n' $d; done
	} >"$dir/conf"
	mkdir "$dir/meta" || exit 1
	"$build/ddiod" --conf "$dir/conf" --node io0 --foreground 2>"$dir/log" &
	daemon=$!
	for _ in $(seq 100); do
		"$build/ddio" ls --conf "$dir/conf" >/dev/null 2>&1 && return
		sleep 0.1
	done
	cat "$dir/log"
	exit 1
}
# rates WAY: of every cell, into $dir/WAY
rates() {
	begin "$1"
	"$build/ddio" bench --conf "$dir/conf" -n 4 -p rb,rc,wb,wc -r 8,8192 -m dds -s "${mb}M" --trials 3 --no-verify --csv >"$dir/$1"
	local rc=$?
	kill "$daemon" && wait "$daemon"
	rm -rf "$dir/meta"
	[ $rc -eq 0 ] || exit 1
}
for ((r = 0; r < rounds; r++)); do
	if [ $((r % 2)) = 0 ]; then rates yes && rates no; else rates no && rates yes; fi
	# A trial a line.
	awk -F, '/^#/ { next } /^layout/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ cell = $at["pattern"] " " $at["record"] }
		NR == FNR { yes[cell] += $at["mbps"]; next }
		{ no[cell] += $at["mbps"] }
		END { for (cell in no) printf "%s %.3f\n", cell, yes[cell] / no[cell] }' "$dir/yes" "$dir/no" | sort
done | medians '%-8s %.2f  (%.2f to %.2f)'
