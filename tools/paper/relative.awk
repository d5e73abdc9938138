# SPDX-License-Identifier: GPL-2.0-only
# Throughput relative to SPFS (TC), as in Table III of TOCS 1997.
BEGIN { FS = "," }
/^#/ || /^layout/ { next }
{
	row = sprintf("%-14s %-5s %5s", $1, $2, $3)
	if (!(row in seen)) {
		seen[row] = 1
		rows[++n] = row
	}
	rate[row, $4] = $6
}
function line(name, m, min, mean, max,   i, r, lo, hi, sum) {
	lo = 1e9
	for (i = 1; i <= n; i++) {
		r = rate[rows[i], m] / rate[rows[i], "TC"]
		lo = r < lo ? r : lo
		hi = r > hi ? r : hi
		sum += log(r)
	}
	printf "%-14s %6.2f (%5.2f) %6.2f (%5.2f) %6.2f (%5.2f)\n", name, lo, min, exp(sum / n), mean, hi, max
}
END {
	print "TOCS 1997, Figures 4 to 7: MB/s"
	printf "%-26s %8s %8s %8s %8s\n", "layout, pattern, record", "SPFS", "2PIO", "DDIO", "DDIO sort"
	for (i = 1; i <= n; i++)
		printf "%s %8.2f %8.2f %8.2f %8.2f\n", rows[i], rate[rows[i], "TC"], rate[rows[i], "2P"],
			rate[rows[i], "DD"], rate[rows[i], "DDs"]
	print ""
	print "Table III, relative to SPFS (published in brackets): minimum, geometric mean, maximum"
	line("DDIO sort", "DDs", 1.00, 1.64, 18.10)
	line("DDIO no sort", "DD", 1.00, 1.18, 5.88)
	line("2PIO", "2P", 0.44, 1.20, 17.83)
}
