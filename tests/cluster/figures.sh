#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# The figures that the emulated disks must reach, with a stated tolerance of 10 %.  The disks run at a quarter of their
# speed, so that a busy machine is fast enough for the patterns that collect each block from all 16 processes: on two
# cores and at life size they move some 70,000 messages a second each way.  What misses its figure in one run is run
# three times more, and the median counts.
plain=1 # measured without sanitizers
. "$(dirname "$0")/lib.sh"

# below CSV METHOD OP FLOOR: each layout, pattern and record whose median is less than 0.9 * FLOOR MB/s, a line each;
# fails if there was nothing to judge
below() {
	awk -F, -v m="$2" -v op="$3" -v floor="$4" '
		/^#/ { next }
		!n++ { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["method"] == m && substr($c["pattern"], 1, 1) == op {
			k = $c["layout"] " " $c["pattern"] " " $c["record"]; v[k] = v[k] " " $c["mbps"] }
		END {
			for (k in v) {
				t = split(v[k], x, " ")
				for (i = 1; i <= t; i++) for (j = i + 1; j <= t; j++)
					if (x[j] < x[i]) { y = x[i]; x[i] = x[j]; x[j] = y }
				if (x[int((t + 1) / 2)] < 0.9 * floor) print k, x[int((t + 1) / 2)]
				seen++
			}
			exit !seen }' "$1"
}

# again METHOD OP FLOOR LAYOUT PATTERN RECORD: one of the last run once more, by itself
again() {
	"$ddio" bench --quiet --csv --output "$dir/again.csv" "${last[@]}" --methods "${1,,}" --layouts "$4" \
		--patterns "$5" --records "$6" --trials 3 && [ -z "$(below "$dir/again.csv" "$1" "$2" "$3")" ]
}

# at_least METHOD OP FLOOR WHAT: of the last run
at_least() {
	local layout pattern record mbps slow=
	below "$dir/out.csv" "$1" "$2" "$3" >"$dir/below" || not_ok "$4: nothing was measured"
	while read -r layout pattern record mbps; do
		echo "$layout $pattern, records of $record: $mbps MB/s, to be at least $3; once more"
		watched again "$1" "$2" "$3" "$layout" "$pattern" "$record" && continue
		slow=1
		too_slow "$4: $layout $pattern $record"
	done <"$dir/below"
	[ -n "$slow" ] || ok "$4"
}

run() {
	last=(--disk-options time_scale=4 --no-verify "$@")
	"$ddio" bench --quiet --csv --output "$dir/out.csv" "${last[@]}"
	check "run: $*" [ $? -eq 0 ]
}

run --methods dds
at_least DDs r 31.0 "contiguous, 10 MB, DDs reading in every pattern"
at_least DDs w 31.0 "contiguous, 10 MB, DDs writing in every pattern"
run --methods dds --size 100M --patterns rb,rcc,wb,wcc --records 8
at_least DDs r 33.0 "contiguous, 100 MB, DDs reading"
at_least DDs w 33.0 "contiguous, 100 MB, DDs writing"
random=(--layouts random-blocks --patterns "rb,rcc,wb,wcc" --records 8192)
run --methods dd,dds "${random[@]}"
at_least DDs r 6.2 "random-blocks, DDs reading"
at_least DDs w 7.3 "random-blocks, DDs writing"
at_least DD r 4.4 "random-blocks, DD reading"
at_least DD w 4.9 "random-blocks, DD writing"

# Methods beside one another: in virtual time, where nothing but the methods makes a difference.
"$ddio" sim --quiet --csv --methods tc,2p,dds "${random[@]}" >"$dir/sim.csv"
awk -F, '/^#/ { next }
	!n++ { for (i = 1; i <= NF; i++) c[$i] = i; next }
	{ k = $c["pattern"]; v[k "," $c["method"]] += $c["mbps"]; p[k]; seen++ }
	END { for (k in p) if (v[k ",DDs"] < v[k ",TC"] || v[k ",DDs"] < v[k ",2P"]) {
		print k ": DDs is not the fastest"; bad = 1 } exit bad || seen < 12 }' "$dir/sim.csv"
check "random-blocks: DDs never slower than TC or 2P" [ $? -eq 0 ]
