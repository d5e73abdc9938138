# SPDX-License-Identifier: GPL-2.0-only
# Processes that come late, together and each by itself: awk -f alone.awk alone.csv
# Rates count from the moment at which the first could begin.
BEGIN { FS = "," }
/^#/ { print substr($0, 3); next }
/^mode/ { next }
{
	row = $4 " " $5 " " $6
	if (!(row in seen)) {
		seen[row] = 1
		rows[++n] = row
	}
	col = $1 "," $2
	if (!(col in had)) {
		had[col] = 1
		cols[++nc] = col
	}
	v[row, col] = $7
}
END {
	printf "\n%-16s", "MB/s, contiguous"
	for (c = 1; c <= nc; c++) {
		split(cols[c], p, ",")
		printf " %16s", p[1] " " p[2]
	}
	print ""
	for (i = 1; i <= n; i++) {
		printf "%-16s", rows[i]
		for (c = 1; c <= nc; c++)
			printf " %16.2f", v[rows[i], cols[c]]
		print ""
	}
}
