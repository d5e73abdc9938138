#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
# serial
# The figures that the emulated disks must reach, in real time: medians of three,
# with a stated tolerance of 10 %: on two cores the patterns that collect each block
# from all 16 processes move some 70,000 messages a second each way.
plain=1 # measured without sanitizers
. "$(dirname "$0")/lib.sh"

# at_least CSV METHOD OP FLOOR WHAT: every pattern's median is at least 0.9 * FLOOR MB/s
at_least() {
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
				med = x[int((t + 1) / 2)]
				if (!low || med < low) { low = med; worst = k }
				if (med < 0.9 * floor) { print "too slow: " k ": " med; bad = 1 }
				seen++
			}
			print m " " op ": slowest " worst ": " low " MB/s, to be at least " floor
			exit bad || !seen }' "$1"
	check "$5" [ $? -eq 0 ]
}

run() {
	"$ddio" bench --quiet --csv --output "$dir/out.csv" "$@"
	check "run: $*" [ $? -eq 0 ]
}

run --methods dds --trials 3 --no-verify
at_least "$dir/out.csv" DDs r 31.0 "contiguous, 10 MB, DDs reading in every pattern"
at_least "$dir/out.csv" DDs w 31.0 "contiguous, 10 MB, DDs writing in every pattern"
run --methods dds --size 100M --patterns rb,rcc,wb,wcc --records 8 --trials 1 --no-verify
at_least "$dir/out.csv" DDs r 33.0 "contiguous, 100 MB, DDs reading"
at_least "$dir/out.csv" DDs w 33.0 "contiguous, 100 MB, DDs writing"
run --methods tc,2p,dd,dds --layouts random-blocks --patterns rb,rcc,wb,wcc --records 8192 --trials 3 \
	--no-verify
at_least "$dir/out.csv" DDs r 6.2 "random-blocks, DDs reading"
at_least "$dir/out.csv" DDs w 7.3 "random-blocks, DDs writing"
at_least "$dir/out.csv" DD r 4.4 "random-blocks, DD reading"
at_least "$dir/out.csv" DD w 4.9 "random-blocks, DD writing"
awk -F, '/^#/ { next }
	!n++ { for (i = 1; i <= NF; i++) c[$i] = i; next }
	{ k = $c["pattern"]; v[k "," $c["method"]] += $c["mbps"]; p[k] }
	END { for (k in p) if (v[k ",DDs"] < 0.98 * v[k ",TC"] || v[k ",DDs"] < 0.98 * v[k ",2P"]) {
		print k ": DDs is not the fastest"; bad = 1 } exit bad }' "$dir/out.csv"
check "random-blocks: DDs never slower than TC or 2P" [ $? -eq 0 ]
