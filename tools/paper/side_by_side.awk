# SPDX-License-Identifier: GPL-2.0-only
# Cells of a CSV of ddio sim beside the published ones: TC, DD, DDs.
BEGIN { FS = "," }
/^#/ || /^layout/ { next }
$7 > 0 {
	row = $2 " " $3
	if (!(row in seen)) {
		seen[row] = 1
		rows[++n] = row
	}
	ours[row, $4] = $6
	paper[row, $4] = $7
	off[row, $4] = 100 * ($6 - $7) / $7
}
function cell(row, m) {
	if (!((row, m) in ours))
		return sprintf("%26s", "")
	return sprintf("%9.2f %7.2f %+6.1f%%", ours[row, m], paper[row, m], off[row, m])
}
function count(m, tol,   i, o) {
	in_m = all_m = 0
	worst = 0
	for (i = 1; i <= n; i++) {
		if (!((rows[i], m) in off))
			continue
		o = off[rows[i], m]
		o = o < 0 ? -o : o
		all_m++
		if (o <= tol)
			in_m++
		if (o > worst) {
			worst = o
			where = rows[i]
		}
	}
	printf "%-4s %3d of %3d cells within %d %%; farthest off: %s, %.1f %%\n", m, in_m, all_m, tol, where, worst
}
END {
	print title ": ours, published, deviation; MB/s"
	printf "%-14s %25s %25s %25s\n", "pattern", "TC", "DD", "DDs"
	for (i = 1; i <= n; i++)
		printf "%-14s%s %s %s\n", rows[i], cell(rows[i], "TC"), cell(rows[i], "DD"), cell(rows[i], "DDs")
	print ""
	count("TC", tol_tc)
	count("DD", tol_dd)
	count("DDs", tol_dd)
}
