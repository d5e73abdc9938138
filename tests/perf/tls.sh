#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What TLS costs over loopback, where nothing else limits: one I/O processor with two disks in memory, four processes, no shared
# buffers and no channels in memory; a plain cluster and one with security = tls in turn, from the same build.  Prints medians, and
# the medians of the rounds' ratios.
#   tests/perf/tls.sh [ROUNDS] [SIZE]
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-build} rounds=${1:-5} size=${2:-100M}
dir=$(mktemp -d) || exit 2
tidy() {
	for how in none tls; do
		"$build/ddio" stop --clean --dir "$dir/$how" >/dev/null 2>&1
	done
	rm -rf "$dir"
}
trap tidy EXIT
for how in none tls; do
	"$build/ddio" start --dir "$dir/$how" --engine mem --iops 1 --disks 2 --disk-size 1G --security $how >/dev/null &&
		sed -i 's/^name = /channels = no\n&/' "$dir/$how/ddio.conf" || exit 1
done
for ((i = 0; i < rounds; i++)); do
	for how in none tls; do
		"$build/ddio" bench -q --conf "$dir/$how/ddio.conf" -n 4 -p ra,rb,rc,wb,wc -r 8192 -m dd -s "$size" -b 256K \
			--no-verify --no-share --csv | awk -F, -v how=$how '$2 == "pattern" {
				for (i = 1; i <= NF; i++) c[$i] = i; next }
			c["mbps"] { print how, $c["pattern"], $c["mbps"] }'
		start=$(date +%s%N)
		for ((k = 0; k < 20; k++)); do "$build/ddio" ls --conf "$dir/$how/ddio.conf" >/dev/null; done
		echo "$how ls_us $((($(date +%s%N) - start) / 20000))"
	done
done >"$dir/rows"
awk '
	{ key = $2 " " $1; v[key, ++n[key]] = $3; names[$2] = 1 }
	function median(key, i, j, t) {
		for (i = 2; i <= n[key]; i++)
			for (j = i; j > 1 && v[key, j - 1] > v[key, j]; j--) { t = v[key, j]; v[key, j] = v[key, j - 1]; v[key, j - 1] = t }
		return v[key, int((n[key] + 1) / 2)]
	}
	END { for (p in names) {
		for (i = 1; i <= n[p " none"]; i++) { v[p, i] = v[p " tls", i] / v[p " none", i]; n[p] = i }
		printf "%-6s none %8.1f  tls %8.1f  ratio %.2f\n", p, median(p " none"), median(p " tls"), median(p) } }' "$dir/rows" | sort
