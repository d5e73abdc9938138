# SPDX-License-Identifier: GPL-2.0-only
# Shares of the cells of Tables 3 and 4 near the published figures, before (before.csv) and now (means):
#   awk -f shares.awk before.csv table3.csv table4.csv
# Fitted are the cells on which a constant was chosen: those of 8-byte cyclic chunks by TC (a look-up in the cache)
# and, on contiguous blocks, by DD (pieces); and DD's contiguous writes (unwritten sectors).  The rest is prediction.
BEGIN {
	FS = ","
	split("5 10 15 30", limit, " ")
}
FNR == 1 { file++ }
/^#/ || /^layout/ { next }
$2 ~ /^(ra|rn|wn)$/ && $3 == 8 { next }
function mag(x) { return x < 0 ? -x : x }
function fitted() {
	if ($2 ~ /^[rw](c|bc|cc)$/ && $3 == 8)
		return $4 == "TC" || $1 == "contiguous"
	return $4 != "TC" && $1 == "contiguous" && $2 ~ /^w/
}
{
	ours = file == 1 ? $5 : $6
	paper = file == 1 ? $6 : $7
	if (paper <= 0)
		next
	when = file == 1 ? "before" : "now"
	kind = (fitted() ? "fitted" : "predicted") " " ($4 == "TC" ? "TC" : "DD, DDs")
	all[when, kind]++
	for (i = 1; i <= 4; i++)
		near[when, kind, i] += mag(ours / paper - 1) <= limit[i] / 100
}
END {
	printf "%-20s %6s %7s", "Tables 3 and 4", "", "cells"
	for (i = 1; i <= 4; i++)
		printf " %6s %%", limit[i]
	print ""
	split("predicted TC:fitted TC:predicted DD, DDs:fitted DD, DDs", kinds, ":")
	split("before now", whens, " ")
	for (k = 1; k <= 4; k++)
		for (w = 1; w <= 2; w++) {
			if (!all[whens[w], kinds[k]])
				continue
			printf "%-20s %6s %7d", kinds[k], whens[w], all[whens[w], kinds[k]]
			for (i = 1; i <= 4; i++)
				printf " %6.0f %%", 100 * near[whens[w], kinds[k], i] / all[whens[w], kinds[k]]
			print ""
		}
}
