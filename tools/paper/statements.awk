# SPDX-License-Identifier: GPL-2.0-only
#
# What the text of TOCS 1997, sections 6 and 6.1, says about its figures, looked up in ours:
#   awk -f statements.awk tocs.csv [cps.csv iops.csv disks.csv ...]
# A statement that does not hold has its reason beside it.
BEGIN { FS = "," }
FNR == 1 {
	file = FILENAME
	sub(/.*\//, "", file)
	sub(/\.csv$/, "", file)
}
/^#/ || /^layout/ || /^value/ { next }
file == "tocs" {
	r[$1, $2, $3, $4] = $6
	l = $1 == "contiguous" ? "c" : "r"
	v[l, $2, $3, $4] = $6
	cell = $2 "," $3
	if (!(cell in known)) {
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
function say(holds, text, what, why) {
	printf "%-5s %s\n%8s%s\n", holds ? "holds" : "not", text, "ours: ", what
	all++
	if (holds)
		good++
	else
		printf "%8s%s\n", "", why
}
function S(f, value, l, p, m) { return s[f, value, l, p, "8192", m] }
function random_blocks(   a, b) {
	a = extreme("r", "DDs", "", "^r", 1); b = extreme("r", "DDs", "", "^r", -1)
	say(a > 0.95 * 6.3 && b < 1.05 * 6.3, "random-blocks: DDIO with presort consistently reads 6.3 MB/s", a " to " b)
	a = extreme("r", "DDs", "", "^w", 1); b = extreme("r", "DDs", "", "^w", -1)
	say(a > 0.95 * 7.3 && b < 1.05 * 7.3, "random-blocks: DDIO with presort consistently writes 7.3 MB/s", a " to " b)
	a = extreme("r", "TC", "", ".", -1)
	say(a <= 5, "random-blocks: SPFS is never faster than 5 MB/s", a " (" at ")", \
	    "our clients walk each disk's blocks in order with four requests, so a queue holds up to 64 of them and CSCAN sorts as the presort does")
	say(six("r", "TC"), "random-blocks: SPFS is slowest with 8-byte chunks", got)
	a = extreme("r", "TC", "", ".", 1)
	say(a > 0.5 && a < 1.6, "random-blocks: SPFS as slow as 0.8 MB/s", a " (" at ")")
	a = extreme("r", "DDs", "TC", ".", -1)
	say(a > 4 && a < 12, "random-blocks: DDIO with presort up to 8.7 times SPFS", sprintf("%.1f (%s)", a, at))
	a = extreme("r", "DDs", "DD", ".", 1)
	say(a > 1.3, "random-blocks: presorting helps in every pattern", sprintf("%.2f times at least", a))
	a = count("r", "DD", "TC", 0.98, ".")
	say(a > total / 2, "random-blocks: DDIO without presort beats SPFS or equals it in most patterns", a " of " total, \
	    "SPFS's queues are sorted by CSCAN and the list without presort is not: see above")
	a = count("r", "TC", "2P", 1, ",8192$")
	say(a > total / 2, "random-blocks, 8 KB records: 2PIO slightly slower than SPFS in most patterns", a " of " total, \
	    "our permutation costs 2 to 4 % less than what 2PIO's one shape of request gains in the queues")
	a = extreme("r", "2P", "TC", "^[rw](c|bc|cc),8$", 1); b = extreme("r", "2P", "TC", "^[rw](c|bc|cc),8$", -1)
	say(a > 1.5 && b < 8, "random-blocks: 2PIO improves 8-byte chunks, up to 5.1 times", sprintf("%.1f to %.1f times", a, b))
	a = extreme("r", "DDs", "2P", ".", 1); b = extreme("r", "DDs", "2P", ".", -1)
	say(a > 1.3, "random-blocks: DDIO with presort 41 to 79 % faster than 2PIO", sprintf("%.0f to %.0f %%", 100 * a - 100, 100 * b - 100), \
	    "2PIO reads and writes by SPFS, whose queues CSCAN sorts: see above")
}
function contiguous(   a, b) {
	a = count("c", "DDs", "DDs", 1, "."); b = 0
	for (i = 1; i <= ncells; i++) {
		split(cells[i], p, ",")
		b += v["c", p[1], p[2], "DDs"] > 0.93 * 31.4 && v["c", p[1], p[2], "DDs"] < 1.15 * 31.4
	}
	say(b > total / 2, "contiguous: DDIO moves about 31.4 MB/s in most patterns", b " of " total " within 29.2 to 36.1")
	say(six("c", "DDs"), "contiguous: the exceptions are the patterns with 8-byte chunks", got)
	a = extreme("c", "DDs", "DD", ".", 1); b = extreme("c", "DDs", "DD", ".", -1)
	say(a > 0.97 && b < 1.03, "contiguous: presorting changes nothing", sprintf("%.3f to %.3f times", a, b))
	say(six("c", "TC"), "contiguous: SPFS has most trouble with 8-byte chunks", got)
	a = count("c", "TC", "DDs", 0.98, ".")
	say(a > 0, "contiguous: SPFS matches DDIO in some patterns", a " of " total)
	a = extreme("c", "DDs", "TC", ".", -1)
	say(a > 12 && a < 25, "contiguous: DDIO as much as 18.1 times faster than SPFS", sprintf("%.1f (%s)", a, at))
	a = v["c", "rb", 8192, "TC"] / v["c", "rn", 8192, "TC"]
	say(a > 0.9, "contiguous: with four requests a disk SPFS's rb avoids most of the loss of locality", sprintf("%.2f of rn", a))
	a = extreme("c", "TC", "", "^r(bb|bc|cc),8192$", -1)
	say(a < 0.9 * v["c", "rn", 8192, "TC"], "contiguous, 8 KB records: SPFS reads medium chunks (rbb, rbc, rcc) slowly", a " at most, rn " v["c", "rn", 8192, "TC"], \
	    "a client of ours goes on to the next chunk while answers are out, the paper's waited for each call (--calls): queues are full")
	a = extreme("c", "TC", "", "^w(bb|bc|cc),8192$", 1); b = extreme("c", "TC", "", "^r(bb|bc|cc),8192$", -1)
	say(a > b, "contiguous, 8 KB records: the same patterns are written faster than read", a " at least, " b " at most", "both run at the disks' speed: see above")
	a = count("c", "DDs", "2P", 1, ".")
	say(a > total / 2, "contiguous: 2PIO's permutation keeps it below DDIO in most patterns", a " of " total)
	a = v["c", "rbc", 8, "DDs"] / v["c", "rbc", 8, "2P"]
	say(a < 1, "contiguous, rbc of 8 bytes: DDIO slower than 2PIO (by 8 %)", sprintf("by %.0f %%", 100 - 100 * a))
	a = extreme("c", "2P", "TC", ".", 1)
	say(a < 1, "2PIO is sometimes much slower than SPFS (0.44)", sprintf("%.2f (%s)", a, at))
}
function last(f) { return val[f, nval[f]] }
function sensitivity(   a, b, i, ok) {
	if (nval["cps"]) {
		a = S("cps", 1, "c", "rc", "TC"); b = S("cps", last("cps"), "c", "rc", "TC")
		say(a < b / 2, "CPs: SPFS's rc is poor with few CPs", a " with 1, " b " with " last("cps"), \
		    "one client of ours has four requests at each disk; the paper's had one call, of one block, at a time (--calls)")
		a = S("cps", 1, "c", "rb", "DDs"); b = S("cps", last("cps"), "c", "rb", "DDs")
		say(a / b > 0.9 && a / b < 1.1, "CPs: DDIO's rb is unaffected", a " with 1, " b " with " last("cps"))
		ok = 1
		for (i = 3; i <= nval["cps"]; i++)
			ok = ok && S("cps", val["cps", i], "c", "rc", "2P") >= 0.97 * S("cps", val["cps", i - 1], "c", "rc", "2P")
		say(ok, "CPs: 2PIO's rc improves steadily from two on", S("cps", 2, "c", "rc", "2P") " with 2, " S("cps", last("cps"), "c", "rc", "2P") " with " last("cps"), \
		    "at these sizes the disks, not the permutation, are its bound")
		a = S("cps", 2, "c", "ra", "2P"); b = S("cps", last("cps"), "c", "ra", "2P")
		say(a > b, "CPs: 2PIO's ra, counted once, decreases", a " with 2, " b " with " last("cps"), "the messages of our permutation are whole pieces of a block; the links are not its bound here")
	}
	if (nval["iops"]) {
		a = S("iops", 1, "c", "rn", "DDs"); b = S("iops", last("iops"), "c", "rn", "DDs")
		say(a < 10 && b > 3 * a, "IOPs: with one IOP its bus, 10 MB/s, is the bound", a " with 1, " b " with " last("iops"))
		say(S("iops", 2, "c", "rn", "TC") > S("iops", 2, "c", "rn", "DDs") && S("iops", 2, "c", "rc", "TC") > S("iops", 2, "c", "rc", "DDs"),
		    "IOPs: with two, SPFS is faster than DDIO in rn and rc (by 13 %)",
		    sprintf("by %.0f %%", 100 * S("iops", 2, "c", "rn", "TC") / S("iops", 2, "c", "rn", "DDs") - 100))
		a = S("iops", 8, "c", "rn", "DDs")
		say(a > 0.9 * b, "IOPs: two disks a bus lose little", a " with 8, " b " with " last("iops"))
	}
	if (nval["disks"]) {
		a = S("disks", last("disks"), "c", "rn", "DDs")
		say(a > 0.85 * 9.54 && a < 9.6, "disks on one IOP: throughput nears the bus's 10 MB/s", a " with " last("disks"))
		b = S("disks", last("disks"), "c", "ra", "TC")
		say(b < 0.9 * a, "disks on one IOP: SPFS has difficulty with ra", b ", DDIO " a)
		b = S("disks", last("disks"), "c", "rb", "TC")
		say(b < 0.9 * a, "disks on one IOP: SPFS has difficulty with rb", b ", DDIO " a, \
		    "at this number the one bus bounds both before the IOP's CPU does")
	}
	if (nval["size"]) {
		a = S("size", last("size"), "c", "rn", "DDs"); b = S("size", val["size", 1], "c", "rn", "DDs")
		say(a >= b && a > 0.95 * 33.5 && a < 1.05 * 33.5, "file size: the most is 33.5 MB/s, for 100 MB or more", a)
	}
	if (nval["records"]) {
		ok = 1
		for (i = 2; i <= nval["records"]; i++)
			ok = ok && s["records", val["records", i], "c", "rc", val["records", i], "TC"] >= 0.99 * s["records", val["records", i - 1], "c", "rc", val["records", i - 1], "TC"]
		say(ok, "record size: SPFS's rc gets faster with every doubling, up to the disks' speed", "see records.txt", \
		    "beyond 1 KB the disks are the bound")
	}
}
END {
	print "TOCS 1997, what sections 6 and 6.1 say: does it hold?"
	random_blocks()
	contiguous()
	sensitivity()
	printf "%d of %d statements hold\n", good, all
}
