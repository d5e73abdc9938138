# SPDX-License-Identifier: GPL-2.0-only
# Out-of-core LU beside Figure 10 of TR95-251: awk -f lu.awk figure10.csv lu.csv
BEGIN { FS = "," }
FNR == NR {
	if (FNR > 1) {
		k = $1 "," $2 "," $3 "," $4
		traffic[k] = $10
		seconds[k] = $11
	}
	next
}
/^#/ || /^layout/ { next }
{
	l = $1 == "contiguous" ? "contig" : "random"
	fs = $4 == "TC" ? "TC" : "DD"
	c = l "," $2 "," $3
	k = c "," fs
	ours_t[k] = $10
	ours_s[k] = $11
	wrong += $12
	if (!(c in seen)) {
		seen[c] = 1
		cell[++n] = c
	}
}
function off(a, b) { return 100 * (a - b) / b }
function mag(x) { return x < 0 ? -x : x }
function show(c, fs,   k, dt, ds) {
	k = c "," fs
	dt = off(ours_t[k], traffic[k])
	ds = off(ours_s[k], seconds[k])
	split(c, part, ",")
	if (mag(ds) > 25)
		late = late sprintf("  not reproduced: %s %s: %+.1f %% of the seconds, %+.1f %% of the traffic\n", c, fs, ds, dt)
	printf "%-7s %4s %5s %-3s %8.1f %8.1f %+6.1f%% %9.1f %9.1f %+6.1f%%", part[1], part[2], part[3], fs,
		ours_t[k], traffic[k], dt, ours_s[k], seconds[k], ds
	all_s[fs]++
	if (mag(ds) <= 25)
		in_s[fs]++
	if (mag(ds) > worst[fs]) {
		worst[fs] = mag(ds)
		where[fs] = c
	}
	if (fs == "DD") {
		all_t++
		if (mag(dt) <= 2)
			in_t++
	}
}
function ratio(c,   o, p) {
	o = 100 * ours_s[c ",DD"] / ours_s[c ",TC"]
	p = 100 * seconds[c ",DD"] / seconds[c ",TC"]
	printf "   %6.1f%% %6.1f%%", o, p
	all_r++
	if (mag(o - p) <= 15)
		in_r++
	else
		late = late sprintf("  ratio off: %s: %.1f %% (%.1f %%)\n", c, o, p)
	# What is printed as 100.0 % is on neither side.
	if (mag(p - 100) < 0.05 || (o - 100) * (p - 100) >= 0)
		same++
	else
		late = late sprintf("  other side: %s: %.1f %% (%.1f %%)\n", c, o, p)
}
END {
	print "TR95-251, Figure 10: out-of-core LU; ours, published, deviation"
	printf "%-22s %25s %28s   %15s\n", "layout, slab, block", "disk traffic, MB", "seconds", "DD/TC, seconds"
	for (i = 1; i <= n; i++) {
		show(cell[i], "TC")
		print ""
		show(cell[i], "DD")
		ratio(cell[i])
		print ""
	}
	print ""
	printf "%s", late
	print ""
	printf "DD traffic: %d of %d cells within 2 %%\n", in_t, all_t
	printf "TC seconds: %d of %d cells within 25 %%; farthest off: %s, %.1f %%\n", in_s["TC"], all_s["TC"], where["TC"], worst["TC"]
	printf "DD seconds: %d of %d cells within 25 %%; farthest off: %s, %.1f %%\n", in_s["DD"], all_s["DD"], where["DD"], worst["DD"]
	printf "DD/TC: %d of %d within 15 points, %d on the same side of 100 %%; wrong elements: %d\n", in_r, all_r, same, wrong
}
