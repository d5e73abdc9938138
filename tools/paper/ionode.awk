# SPDX-License-Identifier: GPL-2.0-only
# Kotz and Cai 1995, Tables 2 and 3: awk -f ionode.awk ionode.csv ionode-calls.csv ionode-dd.csv
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
{
	k = $2 "," $3 "," ($4 == "TC" ? "TC" : "DD")
	l[k] = $col["iop_left"] / 1000
	b[k] = $col["iop_left_barriers"] / 1000
	m[k] = $6
	cells++
}
function near(ours, paper,   d) {
	d = ours - paper
	all++
	good += d <= 10 && d >= -10
	return d
}
END {
	print "Kotz and Cai 1995, Tables 2 and 3: per cent of the I/O processors' CPUs left to a computation; ours, published"
	printf "%-22s %-3s %22s %26s %16s\n", "", "", "without barriers", "a barrier each ms", "MB/s"
	for (i = 1; i <= n; i++) {
		k = order[i]
		split(k, p, ",")
		printf "%-22s %-3s %8.1f %6.1f %+6.1f %12.1f %6.1f %+6.1f %9.1f %6.1f\n", name[i], p[3], l[k], left[i],
			near(l[k], left[i]), b[k], bar[i], near(b[k], bar[i]), m[k], rate[i]
	}
	printf "\n%d of %d within 10 points\n", good, all
}
