# SPDX-License-Identifier: GPL-2.0-only
# Variants of the traditional file system across, cells of Table 4 down: MB/s, deviation, CPU left.
BEGIN {
	FS = ","
	# Kotz and Cai 1995.
	published["rbc 8"] = 60
	published["wbc 8"] = 87
}
$2 == "layout" {
	for (i = 1; i <= NF; i++)
		col[$i] = i
	next
}
/^[^,]*,contiguous/ {
	if (!($1 in had)) {
		had[$1] = 1
		variant[++nv] = $1
	}
	row = $3 " " $4
	if (!(row in seen)) {
		seen[row] = 1
		rows[++n] = row
	}
	rate[row, $1] = $7
	paper[row] = $8
	left[row, $1] = $col["iop_left"] / 1000
}
END {
	print "Traditional caching, Table 4 (contiguous), seed 1: MB/s, deviation, per cent of the CPU left"
	for (v = 1; v <= nv; v++)
		printf "(%d) %s\n", v, variant[v]
	printf "\n%-9s %14s", "", "published"
	for (v = 1; v <= nv; v++)
		printf " %17s", "(" v ")"
	print ""
	for (i = 1; i <= n; i++) {
		r = rows[i]
		printf "%-9s %6.1f %7s", r, paper[r], published[r] == "" ? "" : published[r] " %"
		for (v = 1; v <= nv; v++)
			printf " %6.2f %+4.0f%% %4.0f", rate[r, variant[v]], 100 * rate[r, variant[v]] / paper[r] - 100,
				left[r, variant[v]]
		print ""
	}
}
