#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# What the order of a disk's list is worth, in virtual time, where figures are exact:
# none, by place, by shortest access time.
plain=1 # a simulation: sanitizers would only take time
. "$(dirname "$0")/lib.sh"

# rate OPTION ...: prints the MB/s of random-blocks reads, the mean of all rows
rate() {
	"$ddio" sim --quiet --csv --layouts random-blocks --patterns rb,rc,rcc --records 8192 "$@" |
		awk -F, '/^#/ { next }
			!n++ { for (i = 1; i <= NF; i++) c[$i] = i; next }
			{ s += $c["mbps"]; k++; if ($c["verified"] != 1) bad = 1 }
			END { if (!k || bad) print 0; else printf "%.3f\n", s / k }'
}

dd=$(rate --methods dd)
dds=$(rate --methods dds)
satf=$(rate --methods dds --satf)
echo "MB/s: in file order $dd, by place $dds, shortest access time first $satf"
check "by place is faster than in file order" \
	awk "BEGIN { exit !($dd > 0 && $dds > 1.2 * $dd) }"
check "shortest access time first is at least 15 % faster than by place" \
	awk "BEGIN { exit !($satf >= 1.15 * $dds && $dds > 0) }"
check "a run with a seed gives the same figure again" [ "$(rate --methods dds --satf)" = "$satf" ]
check "writes are as without it" \
	cmp <("$ddio" sim --quiet --csv --patterns wb --records 8192 --methods dds | grep -v '^#') \
	<("$ddio" sim --quiet --csv --patterns wb --records 8192 --methods dds --satf | grep -v '^#')
finish
