# SPDX-License-Identifier: GPL-2.0-only
# A parameter down; layouts (c: contiguous, r: random-blocks, t: random-tracks), patterns and methods across.
BEGIN { FS = "," }
/^#/ { print substr($0, 3); next }
/^value/ { next }
{
	col = ($2 == "random-tracks" ? "t" : substr($2, 1, 1)) " " $3 " " $5
	if (!(col in seen)) {
		seen[col] = 1
		cols[++n] = col
	}
	if (!($1 in known)) {
		known[$1] = 1
		rows[++m] = $1
	}
	rate[$1, col] = $7
}
END {
	printf "\n%-8s", ""
	for (i = 1; i <= n; i++)
		printf " %8s", cols[i]
	print ""
	for (r = 1; r <= m; r++) {
		printf "%-8s", rows[r]
		for (i = 1; i <= n; i++)
			printf " %8.2f", rate[rows[r], cols[i]]
		print ""
	}
}
