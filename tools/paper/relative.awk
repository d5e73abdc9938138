# SPDX-License-Identifier: GPL-2.0-only
# Throughput relative to SPFS (TC), as in Table III of TOCS 1997.  "No sort" is of the random layout only, as the
# text says; the other rows are of both.
BEGIN { FS = "," }
/^#/ || /^layout/ { next }
# These do not depend on the size of a record: 35 cells a layout.
$2 ~ /^(ra|rn|wn)$/ && $3 == 8 { next }
{
	row = sprintf("%-14s %-5s %5s", $1, $2, $3)
	if (!(row in seen)) {
		seen[row] = 1
		rows[++n] = row
	}
	rate[row, $4] = $6
}
function off(a, b) { a = log(a / b); return a < 0 ? -a : a }
function line(name, m, only, min, mean, max,   i, r, lo, hi, sum, k, g) {
	lo = 1e9
	for (i = 1; i <= n; i++) {
		if (rows[i] !~ only)
			continue
		r = rate[rows[i], m] / rate[rows[i], "TC"]
		lo = r < lo ? r : lo
		hi = r > hi ? r : hi
		sum += log(r)
		k++
	}
	g = exp(sum / k)
	away += off(lo, min) + off(g, mean) + off(hi, max)
	printf "%-14s %3d %6.2f (%5.2f) %6.2f (%5.2f) %6.2f (%5.2f)\n", name, k, lo, min, g, mean, hi, max
}
END {
	print "TOCS 1997, Figures 4 to 7: MB/s"
	printf "%-26s %8s %8s %8s %8s\n", "layout, pattern, record", "SPFS", "2PIO", "DDIO", "DDIO sort"
	for (i = 1; i <= n; i++)
		printf "%s %8.2f %8.2f %8.2f %8.2f\n", rows[i], rate[rows[i], "TC"], rate[rows[i], "2P"],
			rate[rows[i], "DD"], rate[rows[i], "DDs"]
	print ""
	print "Table III, relative to SPFS (published in brackets): cells, minimum, geometric mean, maximum"
	line("DDIO sort", "DDs", ".", 1.00, 1.64, 18.10)
	line("DDIO no sort", "DD", "^random", 1.00, 1.18, 5.88)
	line("2PIO", "2P", ".", 0.44, 1.20, 17.83)
	printf "mean factor between ours and the published nine: %.2f\n", exp(away / 9)
}
