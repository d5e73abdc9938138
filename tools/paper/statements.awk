# SPDX-License-Identifier: GPL-2.0-only
#
# What the text of TOCS 1997, sections 6 and 6.1, says about its figures, looked up in ours:
#   awk -f say.awk -f statements.awk tocs.csv [cps.csv iops.csv disks.csv ...]
BEGIN { FS = "," }
FNR == 1 {
	file = FILENAME
	sub(/.*\//, "", file)
	sub(/\.csv$/, "", file)
}
/^#/ || /^layout/ || /^value/ || /^fix,/ { next }
file == "fixes" {
	if (/^batched/) {
		a = 100 * $4 / $3 - 100
		gain_least = gain_least == "" || a < gain_least ? a : gain_least
		gain_most = a > gain_most ? a : gain_most
	}
	next
}
file == "tocs" {
	r[$1, $2, $3, $4] = $6
	l = $1 == "contiguous" ? "c" : "r"
	v[l, $2, $3, $4] = $6
	cv[l, $2, $3, $4] = $8
	cell = $2 "," $3
	if (!(cell in known) && !twice(cell)) {
		known[cell] = 1
		cells[++ncells] = cell
	}
	next
}
{
	s[file, $1, $2 == "contiguous" ? "c" : "r", $3, $4, $5] = $7
	if (!((file, $1) in had)) {
		had[file, $1] = 1
		val[file, ++nval[file]] = $1
	}
}
# These do not depend on the size of a record.
function twice(cell) { return cell ~ /^(ra|rn|wn),8$/ }
function small(cell) { return cell ~ /^[rw](c|bc|cc),8$/ }
# The smallest or largest (which: 1, -1) of method a's rate over b's, over the cells that match.
function extreme(l, a, b, match_re, which,   i, p, x, best) {
	best = which * 1e9
	for (i = 1; i <= ncells; i++) {
		if (cells[i] !~ match_re)
			continue
		split(cells[i], p, ",")
		x = v[l, p[1], p[2], a] / (b == "" ? 1 : v[l, p[1], p[2], b])
		if (which * x < which * best) {
			best = x
			at = cells[i]
		}
	}
	return best
}
# Cells of which method a is at least f times b.
function count(l, a, b, f, match_re,   i, p, n) {
	n = total = 0
	for (i = 1; i <= ncells; i++) {
		if (cells[i] !~ match_re)
			continue
		split(cells[i], p, ",")
		total++
		n += v[l, p[1], p[2], a] >= f * v[l, p[1], p[2], b]
	}
	return n
}
# Are the six patterns of 8-byte chunks slower than all others?
function six(l, m,   i, p, hi, lo) {
	lo = 1e9
	for (i = 1; i <= ncells; i++) {
		split(cells[i], p, ",")
		if (small(cells[i]) && v[l, p[1], p[2], m] > hi)
			hi = v[l, p[1], p[2], m]
		if (!small(cells[i]) && v[l, p[1], p[2], m] < lo)
			lo = v[l, p[1], p[2], m]
	}
	got = sprintf("%.2f at most, others %.2f at least", hi, lo)
	return hi < lo
}
function S(f, value, l, p, m) { return s[f, value, l, p, "8192", m] }
# By how many per cent method a is slower than b, median of the cells that match.
function slower(l, a, b, match_re,   i, j, p, n, x, v2) {
	n = 0
	for (i = 1; i <= ncells; i++) {
		if (cells[i] !~ match_re)
			continue
		split(cells[i], p, ",")
		x = 100 - 100 * v[l, p[1], p[2], a] / v[l, p[1], p[2], b]
		for (j = n++; j > 0 && v2[j] > x; j--)
			v2[j + 1] = v2[j]
		v2[j + 1] = x
	}
	return v2[int((n + 1) / 2)]
}
# The largest coefficient of variation of a figure, but for that of wc of 8 bytes by SPFS.
function varies(l, match_re,   i, j, n, p, m, x) {
	x = 0
	n = split("TC 2P DD DDs", m, " ")
	for (i = 1; i <= ncells; i++)
		for (j = 1; j <= n; j++) {
			split(cells[i], p, ",")
			if (cells[i] !~ match_re || cells[i] == "wc,8" && m[j] == "TC" || cv[l, p[1], p[2], m[j]] <= x)
				continue
			x = cv[l, p[1], p[2], m[j]]
			at = cells[i] " " m[j]
		}
	return x
}
function variation(   a) {
	a = varies("r", ",8$")
	say(a <= 0.042, "Figure 4: coefficients of variation of at most 0.042, but for one", a " (" at ")")
	num("Figure 4: that of wc by SPFS, 0.32", 0.32, cv["r", "wc", 8, "TC"], 0)
	a = varies("r", ",8192$")
	say(a <= 0.031, "Figure 5: coefficients of variation of at most 0.031", a " (" at ")")
	a = varies("c", ",8$")
	say(a <= 0.052, "Figure 6: coefficients of variation of at most 0.052, but for one", a " (" at ")")
	num("Figure 6: that of wc by SPFS, 0.25", 0.25, cv["c", "wc", 8, "TC"], 0)
	a = varies("c", ",8192$")
	say(a <= 0.024, "Figure 7: coefficients of variation of at most 0.024", a " (" at ")")
}
# The geometric mean of method a's rate over b's.
function mean(l, a, b,   i, j, p, n, sum) {
	n = sum = 0
	for (j = 1; j <= length(l); j++)
		for (i = 1; i <= ncells; i++) {
			split(cells[i], p, ",")
			sum += log(v[substr(l, j, 1), p[1], p[2], a] / v[substr(l, j, 1), p[1], p[2], b])
			n++
		}
	return exp(sum / n)
}
function both(a, b, which,   x, y, xat) {
	x = extreme("r", a, b, ".", which)
	xat = "random blocks, " at
	y = extreme("c", a, b, ".", which)
	if (which * x < which * y) {
		at = xat
		return x
	}
	at = "contiguous, " at
	return y
}
# The second largest gain of 2PIO over SPFS.
function second(   i, l, p, x, most, next_) {
	for (l = 1; l <= 2; l++)
		for (i = 1; i <= ncells; i++) {
			split(cells[i], p, ",")
			x = v[substr("rc", l, 1), p[1], p[2], "2P"] / v[substr("rc", l, 1), p[1], p[2], "TC"]
			if (p[1] == "wbc" && p[2] == 8)
				continue
			next_ = x > next_ ? x : next_
		}
	return next_
}
function table3() {
	num("Table III: DDIO with presort over SPFS, least, 1.00", 1, both("DDs", "TC", 1), 0, at)
	num("Table III: the same, mean, 1.64", 1.64, mean("rc", "DDs", "TC"), 1)
	num("Table III: DDIO without presort over SPFS, mean, 1.18", 1.18, mean("r", "DD", "TC"), 1)
	num("Table III: 2PIO over SPFS, mean, 1.20", 1.2, mean("rc", "2P", "TC"), 1)
	num("Table III: the same, most, 17.83, in wbc of 8 bytes", 17.83, both("2P", "TC", -1), 1, at)
	num("2PIO over SPFS in all other cases, most, 8.24", 8.24, second(), 1)
}
# The median rate of a method.
function middle(l, m,   i, j, n, p, x, v2) {
	n = 0
	for (i = 1; i <= ncells; i++) {
		split(cells[i], p, ",")
		x = v[l, p[1], p[2], m]
		for (j = n++; j > 0 && v2[j] > x; j--)
			v2[j + 1] = v2[j]
		v2[j + 1] = x
	}
	return v2[int((n + 1) / 2)]
}
function random_blocks(   a) {
	num("random-blocks: DDIO with presort reads 6.3 MB/s, the slowest pattern", 6.3, extreme("r", "DDs", "", "^r", 1), 0)
	num("random-blocks: DDIO with presort reads 6.3 MB/s, the fastest", 6.3, extreme("r", "DDs", "", "^r", -1), 0)
	num("random-blocks: DDIO with presort writes 7.3 MB/s, the slowest", 7.3, extreme("r", "DDs", "", "^w", 1), 0)
	num("random-blocks: DDIO with presort writes 7.3 MB/s, the fastest", 7.3, extreme("r", "DDs", "", "^w", -1), 0)
	a = extreme("r", "TC", "", ".", -1)
	say(a <= 5, "random-blocks: SPFS is never faster than 5 MB/s", a " (" at ")")
	say(six("r", "TC"), "random-blocks: SPFS is slowest with 8-byte chunks", got)
	a = extreme("r", "TC", "", ".", 1)
	num("random-blocks: SPFS as slow as 0.8 MB/s", 0.8, a, 0, at)
	a = extreme("r", "DDs", "TC", ".", -1)
	num("random-blocks: DDIO with presort up to 8.7 times SPFS", 8.7, a, 1, at)
	a = extreme("r", "DDs", "DD", ".", 1)
	say(a > 1, "random-blocks: presorting helps in every pattern", sprintf("%.2f times at least", a))
	a = count("r", "DD", "TC", 0.98, ".")
	say(a > total / 2, "random-blocks: DDIO without presort beats SPFS or equals it in most patterns", a " of " total)
	a = extreme("r", "DD", "TC", ".", -1)
	num("random-blocks: DDIO without presort at best 5.9 times SPFS", 5.9, a, 1, at)
	num("random-blocks: DDIO without presort at worst as SPFS", 1, extreme("r", "DD", "TC", ".", 1), 1, at)
	a = count("r", "TC", "2P", 1, ",8192$")
	say(a > total / 2, "random-blocks, 8 KB records: 2PIO slightly slower than SPFS in most patterns", a " of " total)
	num("random-blocks, 8 KB records: most of these 2 to 4 %: median", 3, slower("r", "2P", "TC", ",8192$"), 0, "%")
	num("random-blocks: 2PIO's ra 16 % slower than SPFS's", 16, slower("r", "2P", "TC", "^ra,"), 0, "%")
	a = extreme("r", "2P", "TC", "^[rw](c|bc|cc),8$", -1)
	num("random-blocks: 2PIO improves 8-byte chunks, up to 5.1 times", 5.1, a, 1, at)
	a = total_within("r", "2P", "DD", 0.1)
	say(a > total / 2, "random-blocks: 2PIO matches DDIO without presort in most patterns (within 10 %)", a " of " total)
	num("random-blocks: DDIO without presort about 20 % faster than 2PIO in ra", 20, percent(v["r", "ra", 8192, "DD"], v["r", "ra", 8192, "2P"]), 0, "%")
	num("random-blocks: DDIO with presort 41 % faster than 2PIO at least", 41, 100 * extreme("r", "DDs", "2P", ".", 1) - 100, 0, "%")
	num("random-blocks: and 79 % at most", 79, 100 * extreme("r", "DDs", "2P", ".", -1) - 100, 0, "%")
}
function total_within(l, a, b, f,   i, p, n, x) {
	n = total = 0
	for (i = 1; i <= ncells; i++) {
		split(cells[i], p, ",")
		x = v[l, p[1], p[2], a] / v[l, p[1], p[2], b]
		total++
		n += x > 1 - f && x < 1 + f
	}
	return n
}
function contiguous(   a, b, i, p) {
	for (i = 1; i <= ncells; i++) {
		split(cells[i], p, ",")
		b += v["c", p[1], p[2], "DDs"] > 0.9 * 31.4 && v["c", p[1], p[2], "DDs"] < 1.1 * 31.4
	}
	say(b > ncells / 2, "contiguous: DDIO moves about 31.4 MB/s in most patterns (within 10 %)", b " of " ncells)
	num("contiguous: which is 93 % of the disks' 33.8 MB/s", 93, 100 * middle("c", "DDs") / 33.8, 0, "%, median")
	say(six("c", "DDs"), "contiguous: the exceptions are the patterns with 8-byte chunks", got)
	a = extreme("c", "DDs", "DD", ".", 1); b = extreme("c", "DDs", "DD", ".", -1)
	say(a > 0.97 && b < 1.03, "contiguous: presorting changes nothing", sprintf("%.3f to %.3f times", a, b))
	say(six("c", "TC"), "contiguous: SPFS has most trouble with 8-byte chunks", got)
	a = count("c", "TC", "DDs", 0.98, ".")
	say(a > 0, "contiguous: SPFS matches DDIO in some patterns", a " of " total)
	a = extreme("c", "DDs", "TC", ".", -1)
	num("contiguous: DDIO as much as 18.1 times faster than SPFS", 18.1, a, 1, at)
	a = v["c", "rb", 8192, "TC"] / v["c", "rn", 8192, "TC"]
	say(a > 0.8, "contiguous: with four requests a disk SPFS's rb avoids most of the loss of locality", sprintf("%.2f of rn", a))
	a = extreme("c", "TC", "", "^r(bb|bc|cc),8192$", -1)
	say(a < 0.9 * v["c", "rn", 8192, "TC"], "contiguous, 8 KB records: SPFS reads medium chunks (rbb, rbc, rcc) slowly", a " at most, rn " v["c", "rn", 8192, "TC"])
	a = extreme("c", "TC", "", "^w(bb|bc|cc),8192$", 1); b = extreme("c", "TC", "", "^r(bb|bc|cc),8192$", -1)
	say(a > b, "contiguous, 8 KB records: the same patterns are written faster than read", a " at least, " b " at most")
	a = count("c", "DDs", "2P", 1, ".")
	say(a > total / 2, "contiguous: 2PIO's permutation keeps it below DDIO in most patterns", a " of " total)
	a = 100 - 100 * v["c", "rbc", 8, "DDs"] / v["c", "rbc", 8, "2P"]
	num("contiguous, rbc of 8 bytes: DDIO 8 % slower than 2PIO", 8, a, 0, "%")
	a = extreme("c", "2P", "TC", ".", 1)
	num("2PIO is sometimes much slower than SPFS: 0.44", 0.44, a, 1, at)
}
function last(f) { return val[f, nval[f]] }
function sensitivity(   a, b, i, ok) {
	if (nval["cps"]) {
		a = S("cps", 1, "c", "rc", "TC"); b = S("cps", last("cps"), "c", "rc", "TC")
		say(a < b / 2, "CPs: SPFS's rc is poor with few CPs", a " with 1, " b " with " last("cps"))
		a = S("cps", 1, "c", "rb", "DDs"); b = S("cps", last("cps"), "c", "rb", "DDs")
		say(a / b > 0.9 && a / b < 1.1, "CPs: DDIO's rb is unaffected", a " with 1, " b " with " last("cps"))
		ok = 1
		for (i = 3; i <= nval["cps"]; i++)
			ok = ok && S("cps", val["cps", i], "c", "rc", "2P") >= 0.97 * S("cps", val["cps", i - 1], "c", "rc", "2P")
		a = S("cps", 2, "c", "rb", "2P"); b = S("cps", last("cps"), "c", "rb", "2P")
		say(a / b > 0.9 && a / b < 1.1, "CPs: 2PIO's rb is unaffected", a " with 2, " b " with " last("cps"))
		say(ok, "CPs: 2PIO's rc improves steadily from two on", S("cps", 2, "c", "rc", "2P") " with 2, " S("cps", last("cps"), "c", "rc", "2P") " with " last("cps"))
		a = S("cps", 2, "c", "ra", "2P"); b = S("cps", last("cps"), "c", "ra", "2P")
		say(a > b, "CPs: 2PIO's ra, counted once, decreases", a " with 2, " b " with " last("cps"))
	}
	if (nval["iops"]) {
		a = S("iops", 1, "c", "rn", "DDs"); b = S("iops", last("iops"), "c", "rn", "DDs")
		say(a < 10 && b > 3 * a, "IOPs: with one IOP its bus, 10 MB/s, is the bound", a " with 1, " b " with " last("iops"))
		a = S("iops", 4, "c", "rn", "DDs")
		say(a > 0.95 * b, "IOPs: with four to 16 the disks are the bound", a " with 4, " b " with " last("iops"))
		num("IOPs: with two, the buses are: twice 10 MB/s", 19.07, S("iops", 2, "c", "rn", "DDs"), 0)
		num("IOPs: with two, SPFS is 13 % faster than DDIO in rn", 13, percent(S("iops", 2, "c", "rn", "TC"), S("iops", 2, "c", "rn", "DDs")), 0, "%")
		num("IOPs: with two, SPFS is 13 % faster than DDIO in rc", 13, percent(S("iops", 2, "c", "rc", "TC"), S("iops", 2, "c", "rc", "DDs")), 0, "%")
		a = S("iops", 8, "c", "rn", "DDs")
		say(a > 0.9 * b, "IOPs: two disks a bus lose little", a " with 8, " b " with " last("iops"))
	}
	if (nval["disks"]) {
		a = S("disks", last("disks"), "c", "rn", "DDs")
		num("disks on one IOP: throughput nears the bus's 10 MB/s", 9.54, a, 0, "with " last("disks"))
		b = S("disks", 4, "c", "rn", "DDs")
		say(b > 3.8 * S("disks", 1, "c", "rn", "DDs"), "disks on one IOP: up to four the disks are the bound",
			b " with 4, " S("disks", 1, "c", "rn", "DDs") " with 1")
		say(S("disks", 8, "c", "rn", "DDs") > 0.9 * a, "disks on one IOP: from eight on the bus is",
			S("disks", 8, "c", "rn", "DDs") " with 8, " a " with " last("disks"))
		b = S("disks", last("disks"), "c", "ra", "TC")
		say(b < 0.9 * a, "disks on one IOP: SPFS has difficulty with ra", b ", DDIO " a)
		b = S("disks", last("disks"), "c", "rb", "TC")
		say(b < 0.9 * a, "disks on one IOP: SPFS has difficulty with rb", b ", DDIO " a)
	}
	if (nval["size"]) {
		a = S("size", last("size"), "c", "rn", "DDs"); b = S("size", val["size", 1], "c", "rn", "DDs")
		num("file size: the most is 33.5 MB/s, for 100 MB or more", 33.5, a, 0)
		num("file size: which is 99 % of the disks' 33.8 MB/s", 99, 100 * a / 33.8, 0, "%")
	}
	if (nval["chunks"]) {
		a = S("chunks", last("chunks"), "c", "rbb", "TC"); b = S("chunks", last("chunks"), "c", "rbb", "DDs")
		say(a > 0.9 * b, "file size: SPFS's rbb realizes the full bandwidth with 1000 MB", a ", DDIO " b)
		a = S("chunks", val["chunks", 1], "c", "wbb", "TC") / S("chunks", val["chunks", 1], "c", "rbb", "TC")
		b = S("chunks", last("chunks"), "c", "wbb", "TC") / S("chunks", last("chunks"), "c", "rbb", "TC")
		say(a > 1.1 && b < 1.1, "file size: SPFS's gain of wbb over rbb is negligible in a huge file",
			sprintf("%.2f times with 10 MB, %.2f with 1000", a, b))
	}
	if (nval["records"]) {
		ok = 1
		for (i = 2; i <= nval["records"]; i++)
			ok = ok && s["records", val["records", i], "c", "rc", val["records", i], "TC"] >= 0.99 * s["records", val["records", i - 1], "c", "rc", val["records", i - 1], "TC"]
		say(ok, "record size: SPFS's rc gets faster with every doubling", "see records.txt")
	}
}
END {
	print "TOCS 1997, what sections 6 and 6.1 say: does it hold?"
	random_blocks()
	contiguous()
	table3()
	variation()
	sensitivity()
	if (gain_most) {
		num("batches of Memputs and Memgets gain 10 % at least (fitted)", 10, gain_least, 0, "%")
		num("and 24 % at most (fitted)", 24, gain_most, 0, "%")
	}
	sum_up("TOCS 1997")
}
