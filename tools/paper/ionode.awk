# SPDX-License-Identifier: GPL-2.0-only
# Kotz and Cai 1995, Tables 2 and 3, with the client of Table 4: awk -f ionode.awk ionode.csv table4.csv
BEGIN { FS = "," }
FNR == 1 { file++ }
/^#/ || /^case/ { next }
file == 1 {
	split($1, w, /[()]/)
	split(w[2], p, " ")
	order[++n] = p[1] "," p[2] "," $2
	name[n] = $1
	left[n] = $3
	bar[n] = $4
	rate[n] = $5
	next
}
/^layout/ {
	for (i = 1; i <= NF; i++)
		col[$i] = i
	next
}
$4 != "DDs" {
	k = $2 "," $3 "," $4
	l[k] = $col["iop_left"] / 1000
	b[k] = $col["iop_left_barriers"] / 1000
	m[k] = $6
	# Figures 2 and 3: the points above 30 MB/s, and disk-directed ones on the left.
	if ($2 ~ /^(ra|rn|wn)$/ && $3 == 8)
		next
	points++
	above += m[k] > 30
	hard += $4 == "DD" && l[k] < 50
	if (m[k] > 30)
		least = least == "" || b[k] < least ? b[k] : least
}
function mag(x) { return x < 0 ? -x : x }
function near(ours, paper) {
	all++
	good += mag(ours - paper) <= 10
	return ours - paper
}
END {
	print "Kotz and Cai 1995, Tables 2 and 3: per cent of the I/O processors' CPUs left to a computation; ours, published"
	printf "%-22s %-3s %22s %26s %26s\n", "", "", "without barriers", "a barrier each ms", "MB/s"
	for (i = 1; i <= n; i++) {
		k = order[i]
		split(k, p, ",")
		d = 100 * (m[k] / rate[i] - 1)
		rates += mag(d) <= 30
		printf "%-22s %-3s %8.1f %6.1f %+6.1f %12.1f %6.1f %+6.1f %10.2f %6.1f %+6.1f%%\n", name[i], p[3], l[k], left[i],
			near(l[k], left[i]), b[k], bar[i], near(b[k], bar[i]), m[k], rate[i], d
	}
	printf "\nFigure 2: %d of %d points above 30 MB/s (41 of 72), %d hard patterns of DD (6)\n", above, points, hard
	printf "Figure 3: of the points above 30 MB/s %.0f %% is left at least, with barriers (80)\n", least
	printf "%d of %d figures of CPU left within 10 points, %d of %d rates within 30 %%\n", good, all, rates, n
}
