# SPDX-License-Identifier: GPL-2.0-only
#
# What the texts of TR94-226, TR95-251, and Kotz and Cai 1995 say about their figures, looked up in ours:
#   awk -f say.awk -f statements_reports.awk table3.csv table4.csv [fig6.csv ...] figure10.csv lu.csv
BEGIN { FS = "," }
FNR == 1 {
	file = FILENAME
	sub(/.*\//, "", file)
	sub(/\.csv$/, "", file)
	had[file] = 1
}
/^#/ || /^value/ { next }
/^layout/ {
	for (i = 1; i <= NF; i++)
		col[$i] = i
	next
}
# TR95-251's Figure 10, and ours.
file == "figure10" || file == "lu" {
	k = ($1 ~ /^contig/ ? "c" : "r") " " $2 " " $3 " " ($4 == "TC" ? "TC" : "DD")
	traffic[file, k] = $10
	seconds[file, k] = $11
	next
}
file ~ /^table/ {
	if ($2 ~ /^(ra|rn|wn)$/ && $3 == 8)
		next
	k = $2 "," $3
	v[file, k, $4] = $6
	cv[file] = $8 > cv[file] ? $8 : cv[file]
	left[file, k, $4] = $col["iop_left"] / 1000
	bars[file, k, $4] = $col["iop_left_barriers"] / 1000
	if (!((file, k) in known)) {
		known[file, k] = 1
		cells[file, ++ncells[file]] = k
	}
	next
}
{
	s[file, $1, $2 == "contiguous" ? "c" : "r", $3, $4, $5] = $7
}
function S(f, value, p, m,   l) {
	l = (f == "fig9" || f == "fig11") ? "r" : "c"
	return s[f, value, l, p, "8192", m]
}
# The smallest or largest (which: 1, -1) of method a's rate over b's, over the cells that match.
function extreme(t, a, b, match_re, which,   i, k, x, best) {
	best = which * 1e9
	for (i = 1; i <= ncells[t]; i++) {
		k = cells[t, i]
		if (k !~ match_re)
			continue
		x = v[t, k, a] / (b == "" ? 1 : v[t, k, b])
		if (which * x < which * best) {
			best = x
			at = k
		}
	}
	return best
}
# Cells in which method a is at least f times as fast as b, or as b, where that is a number.
function count(t, a, b, f, match_re,   i, k, n) {
	n = total = 0
	for (i = 1; i <= ncells[t]; i++) {
		k = cells[t, i]
		if (k !~ match_re)
			continue
		total++
		n += v[t, k, a] >= f * (b + 0 > 0 ? b : v[t, k, b])
	}
	return n
}
function tr94_random(   a) {
	num("random blocks: DDIO with presort reads 6.2 MB/s, the slowest pattern", 6.2, extreme("table3", "DDs", "", "^r", 1), 0, at)
	num("random blocks: the fastest", 6.2, extreme("table3", "DDs", "", "^r", -1), 0, at)
	num("random blocks: DDIO with presort writes 7.4 MB/s, the slowest", 7.4, extreme("table3", "DDs", "", "^w", 1), 0, at)
	num("random blocks: 7.5 MB/s, the fastest", 7.5, extreme("table3", "DDs", "", "^w", -1), 0, at)
	a = extreme("table3", "TC", "", ".", -1)
	say(a <= 5.05, "random blocks: TC is never faster than 5 MB/s", a " (" at ")")
	num("random blocks: TC as slow as 0.7 MB/s", 0.7, extreme("table3", "TC", "", ".", 1), 0, at)
	num("random blocks: DDIO with presort up to 10.6 times TC", 10.6, extreme("table3", "DDs", "TC", ".", -1), 1, at)
	a = count("table3", "DD", "TC", 1, ".")
	say(a > total / 2, "random blocks: DDIO without presort is faster in most cases", a " of " total)
	num("random blocks: DDIO without presort at best 7.1 times TC", 7.1, extreme("table3", "DD", "TC", ".", -1), 1, at)
	a = 100 - 100 * extreme("table3", "DD", "TC", ".", 1)
	say(a <= 1.1, "DDIO is slower than TC by 1.1 % at most", sprintf("%.1f %% (%s)", a, at))
	say(cv["table3"] <= 0.11, "Figure 4: coefficients of variation of at most 0.11", cv["table3"])
}
function tr94_contiguous(   a, b) {
	a = count("table4", "DD", 32.8 * 0.95, 1, "^r")
	say(a > total / 2, "contiguous: DDIO reads about 32.8 MB/s in most cases (5 %)", a " of " total)
	a = count("table4", "DD", 34.8 * 0.95, 1, "^w")
	say(a > total / 2, "contiguous: DDIO writes about 34.8 MB/s in most cases (5 %)", a " of " total)
	num("contiguous: DDIO reaches 93 % of the disks' 37.5 MB/s", 93, 100 * extreme("table4", "DD", "", "^w", -1) / 37.5, 0, at)
	a = extreme("table4", "DD", "", "^(rc|rbc|rcc|wc|wbc|wcc),8$", -1)
	b = extreme("table4", "DD", "", ",8192$|^(rb|rnb|rbb|rcb|rcn|wb|wnb|wbb|wcb|wcn),8$", 1)
	say(a < b, "contiguous: the exceptions are 8-byte records that go to and fro by themselves", a " at most, others " b " at least")
	num("contiguous: TC as much as 18.2 times slower", 18.2, extreme("table4", "DD", "TC", ".", -1), 1, at)
	a = count("table4", "TC", 0.9 * 37.5 * 0.93, 1, ".")
	say(a < total / 2, "contiguous: TC is rarely able to obtain the disks' rate (nine tenths of DDIO's most)", a " of " total)
	a = count("table4", "DD", "TC", 1, ".")
	say(a == total, "contiguous: DDIO is faster than TC in all cases (Table 4; but wn)", a " of " total)
	say(cv["table4"] <= 0.12, "Figure 5: coefficients of variation of at most 0.12", cv["table4"])
}
function tr94_sensitivity(   a, b) {
	if (had["fig6"]) {
		a = S("fig6", 1, "rc", "TC"); b = S("fig6", 16, "rc", "TC")
		say(a < b / 2, "Figure 6: with fewer CPs TC's rc does not use all disks", a " with 1, " b " with 16")
		a = S("fig6", 2, "rb", "DDs"); b = S("fig6", 16, "rb", "DDs")
		say(a / b > 0.97 && a / b < 1.03, "Figure 6: DDIO is unaffected", a " with 2, " b " with 16")
		a = S("fig6", 16, "rb", "TC"); b = S("fig6", 1, "rb", "TC")
		say(a < b / 2, "Figure 6: multiple localities hurt TC's rb", a " with 16, " b " with 1")
		a = S("fig6", 1, "rn", "TC"); b = S("fig6", 16, "rn", "TC")
		say(b < 0.97 * a, "Figure 6: cache management that grows with the CPs reduces TC's rn", b " with 16, " a " with 1")
	}
	if (had["fig7"]) {
		num("Figure 7: with one IOP the bus is the bound, 10 MB/s", 9.54, S("fig7", 1, "rn", "DDs"), 0)
		a = S("fig7", 4, "rn", "DDs"); b = S("fig7", 16, "rn", "DDs")
		say(a > 0.95 * b, "Figure 7: with four to 16 IOPs the disks are", a " with 4, " b " with 16")
		a = S("fig7", 16, "rb", "TC")
		say(a < b / 2, "Figure 7: TC has difficulty with rb", a ", DDIO " b)
	}
	if (had["fig8"])
		num("Figure 8: throughput nears the bus's 10 MB/s", 9.54, S("fig8", 32, "rn", "DDs"), 0)
	if (had["fig9"])
		num("Figure 9: throughput nears the bus's 10 MB/s", 9.54, S("fig9", 32, "rn", "DDs"), 0)
	if (had["fig10"]) {
		a = S("fig10", "10M", "rb", "TC"); b = S("fig10", "100M", "rb", "TC")
		say(a < 0.7 * b, "Figure 10: TC's rb is much slower with 10 MB than with 100", a ", " b)
		a = S("fig10", "10M", "rn", "DDs"); b = S("fig10", "100M", "rn", "DDs")
		say(a < b, "Figure 10: the most is reached with files of 100 MB or more", a ", " b)
	}
}
function kotz_cai(   i, k, m, n, lo, hi, rate_lo, rate_hi, a, above, hard, barrier_lo, barrier_hi) {
	lo = rate_lo = barrier_lo = 1e9
	split("rc,8192 wc,8192", k, " ")
	split("TC DD", m, " ")
	for (i = 0; i < 4; i++) {
		a = left["table4", k[i % 2 + 1], m[int(i / 2) + 1]]
		lo = a < lo ? a : lo
		hi = a > hi ? a : hi
		a = v["table4", k[i % 2 + 1], m[int(i / 2) + 1]]
		rate_lo = a < rate_lo ? a : rate_lo
		rate_hi = a > rate_hi ? a : rate_hi
	}
	num("easy patterns leave 90 % of the CPU at least", 90, lo, 0)
	num("and 95 % at most", 95, hi, 0)
	num("easy patterns sustain 32 MB/s at least", 32, rate_lo, 0)
	num("and 33 MB/s at most", 33, rate_hi, 0)
	num("which is 86 % of the disks' peak at least", 86, 100 * rate_lo / 37.5, 0)
	num("and 89 % at most", 89, 100 * rate_hi / 37.5, 0)
	lo = 1e9
	for (i = 1; i <= ncells["table4"]; i++)
		for (n = 1; n <= 2; n++) {
			a = left["table4", cells["table4", i], m[n]]
			lo = n == 2 && a < lo ? a : lo
			hard += n == 2 && a < 50
			if (v["table4", cells["table4", i], m[n]] <= 30)
				continue
			above++
			a = bars["table4", cells["table4", i], m[n]]
			barrier_lo = a < barrier_lo ? a : barrier_lo
			barrier_hi = a > barrier_hi ? a : barrier_hi
		}
	num("in the worst case DDIO leaves 3.4 %", 3.4, lo, 0)
	num("Figure 2: 41 points above 30 MB/s", 41, above, 0)
	say(hard == 6, "Figure 2: six hard patterns of DDIO on the left", hard)
	num("with a barrier each millisecond, where rates are high, about 80 % is left at least", 80, barrier_lo, 0)
	num("and about 97 % at most", 97, barrier_hi, 0)
}
function L(m, l, slab, block, fs) { return m == "traffic" ? traffic["lu", l " " slab " " block " " fs] : seconds["lu", l " " slab " " block " " fs] }
function lu(   a, b, c) {
	num("slabs of 16 columns move nearly 4 GB", 4036.5, L("traffic", "c", 16, 4096, "DD"), 0, "MB")
	num("slabs of 128 columns move 8 MB", 8, L("traffic", "c", 128, 4096, "DD"), 0, "MB")
	num("slabs of 128 columns take about a minute", 60, L("seconds", "r", 128, 4096, "TC"), 0, "s")
	num("smaller ones nearly an hour (TC, random blocks)", 3254.3, L("seconds", "r", 16, 4096, "TC"), 0, "s")
	a = L("traffic", "c", 16, 4096, "DD") / L("traffic", "c", 16, 4096, "TC")
	say(a > 0.9 && a <= 1, "4 KB: both cause about the same traffic, TC a little more", sprintf("%.3f", a))
	a = L("seconds", "c", 16, 4096, "DD") / L("seconds", "c", 16, 4096, "TC")
	b = L("seconds", "r", 16, 4096, "DD") / L("seconds", "r", 16, 4096, "TC")
	c = L("seconds", "r", 64, 4096, "DD") / L("seconds", "r", 64, 4096, "TC")
	say(a <= 1.01 && b <= 1, "4 KB: DDIO is never slower", sprintf("%.2f contiguous, %.2f random", a, b))
	say(c < b, "4 KB, random: DDIO gains more with larger slabs, up to 64 columns", sprintf("%.2f with 16, %.2f with 64", b, c))
	a = L("seconds", "c", 32, 8192, "TC") / L("seconds", "c", 32, 8192, "DD")
	b = L("seconds", "r", 32, 8192, "TC") / L("seconds", "r", 32, 8192, "DD")
	num("8 KB, 32 columns: DDIO is twice as fast at least", 2, a < b ? a : b, 1)
	num("and three times at most", 3, a > b ? a : b, 1)
	a = L("traffic", "c", 32, 8192, "TC"); b = L("traffic", "c", 32, 4096, "TC")
	num("8 KB, 32 columns: installation reads, 1.379 times the traffic of 4 KB", 1.379, a / b, 1)
	a = L("seconds", "c", 16, 1024, "TC") / L("seconds", "c", 16, 4096, "TC")
	num("1 KB, contiguous: TC is drastically slower than with 4 KB, 11.1 times", 11.14, a, 1)
	num("DDIO with 32 columns takes 90 % of TC with 16, contiguous", 90, 100 * L("seconds", "c", 32, 4096, "DD") / L("seconds", "c", 16, 4096, "TC"), 0, "%")
	num("and 70 % on random blocks", 70, 100 * L("seconds", "r", 32, 4096, "DD") / L("seconds", "r", 16, 4096, "TC"), 0, "%")
	a = L("seconds", "r", 32, 8192, "TC"); b = L("seconds", "r", 32, 4096, "TC")
	c = L("seconds", "r", 16, 8192, "TC")
	say(a > b || a > c, "larger blocks or slabs sometimes make TC slower", sprintf("random, 32 of 8 KB %d s; 32 of 4 KB %d, 16 of 8 KB %d", a, b, c))
}
END {
	if (had["table3"] && had["table4"]) {
		print "TR94-226, what section 6 says: does it hold?"
		tr94_random()
		tr94_contiguous()
		tr94_sensitivity()
		sum_up("TR94-226")
		print "\nKotz and Cai 1995, what sections 3 and 5 say: does it hold?"
		kotz_cai()
		sum_up("Kotz and Cai")
	}
	if (had["lu"]) {
		print "\nTR95-251, what section 5 says: does it hold?"
		lu()
		sum_up("TR95-251")
	}
}
