# SPDX-License-Identifier: GPL-2.0-only
# TR95-251, Figures 4 to 9, as ratios of two configurations: awk -f lu_figures.awk figure10.csv lu.csv
# The report draws them from the raw data of its Figure 10, so that its ratios are known to a digit or two.
BEGIN { FS = "," }
FNR == NR {
	if (FNR > 1) {
		k = $1 "," $2 "," $3 "," $4
		theirs["traffic", k] = $10
		theirs["seconds", k] = $11
	}
	next
}
/^#/ || /^layout/ { next }
{
	k = ($1 == "contiguous" ? "contig" : "random") "," $2 "," $3 "," ($4 == "TC" ? "TC" : "DD")
	ours["traffic", k] = $10
	ours["seconds", k] = $11
}
function mag(x) { return x < 0 ? -x : x }
# One bar of a figure: what @of has in per cent of what @by has.
function bar(name, of, by,   m, i, a, b) {
	if (!((("seconds", of) in theirs) && (("seconds", by) in theirs) && (("seconds", of) in ours) && (("seconds", by) in ours)))
		return
	printf "   %-24s", name
	split("traffic seconds", m, " ")
	for (i = 1; i <= 2; i++) {
		a = 100 * ours[m[i], of] / ours[m[i], by]
		b = 100 * theirs[m[i], of] / theirs[m[i], by]
		printf "  %7.1f %% (%7.1f)%s", a, b, (mag(a - b) > 15 && mag(a / b - 1) > 0.15) ? " *" : "  "
		n[m[i]]++
		near[m[i]] += mag(a - b) <= 15 || mag(a / b - 1) <= 0.15
		# What is printed as 100.0 % is on neither side.
		same[m[i]] += mag(b - 100) < 0.05 || (a - 100) * (b - 100) >= 0
	}
	print ""
}
# The figure's bars: two file systems, two blocks, or two slabs.
function figure(number, title, what, x, y,   l, s, f, ls, ss, fs, i, j, h, nb, bs) {
	printf "Figure %d: %s\n", number, title
	split("contig random", ls, " ")
	split("16 32 64 128", ss, " ")
	split("TC DD", fs, " ")
	nb = split("1024 4096 8192", bs, " ")
	for (i = 1; i <= 2; i++) {
		for (j = 1; what != "slab" && j <= 4; j++) {
			l = ls[i] "," ss[j]
			if (what == "fs")
				bar(l, l "," x ",DD", l "," x ",TC")
			for (f = 1; what == "block" && f <= 2; f++)
				bar(l "," fs[f], l "," x "," fs[f], l "," y "," fs[f])
		}
		for (h = 1; what == "slab" && h <= nb; h++)
			for (f = 1; f <= 2; f++)
				bar(ls[i] "," bs[h] "," fs[f], ls[i] "," x "," bs[h] "," fs[f], ls[i] "," y "," bs[h] "," fs[f])
	}
}
END {
	print "TR95-251: per cent, ours (published); traffic of disks, then seconds; * is more than 15 points and 15 % off"
	figure(4, "DD of TC, blocks of 4 KB", "fs", 4096)
	figure(5, "blocks of 8 KB of 4 KB", "block", 8192, 4096)
	figure(6, "DD of TC, blocks of 8 KB", "fs", 8192)
	figure(7, "blocks of 1 KB of 4 KB", "block", 1024, 4096)
	figure(8, "DD of TC, blocks of 1 KB", "fs", 1024)
	figure(9, "32 columns of 16", "slab", 32, 16)
	printf "traffic: %d of %d bars within 15 points or 15 %%, %d on the same side of 100 %%\n", near["traffic"], n["traffic"], same["traffic"]
	printf "seconds: %d of %d bars within 15 points or 15 %%, %d on the same side of 100 %%\n", near["seconds"], n["seconds"], same["seconds"]
}
