# SPDX-License-Identifier: GPL-2.0-only
# Cells of a CSV of means (mean.awk) beside the published ones: TC, DD, DDs.
BEGIN { FS = "," }
/^#/ || /^layout/ { next }
$7 > 0 {
	row = $2 " " $3
	# These do not depend on the size of a record.
	if (row ~ /^(ra|rn|wn) 8$/)
		next
	if (!(row in seen)) {
		seen[row] = 1
		rows[++n] = row
	}
	ours[row, $4] = $6
	paper[row, $4] = $7
	cv[row, $4] = $8
	off[row, $4] = 100 * ($6 - $7) / $7
}
function mag(x) { return x < 0 ? -x : x }
function cell(row, m) {
	if (!((row, m) in ours))
		return sprintf("%32s", "")
	return sprintf("%9.2f %7.2f %+6.1f%% %6.3f", ours[row, m], paper[row, m], off[row, m], cv[row, m])
}
function list(m, tol,   i) {
	for (i = 1; i <= n; i++)
		if ((rows[i], m) in off && mag(off[rows[i], m]) > tol)
			printf "not reproduced: %-9s %-3s %+6.1f %%\n", rows[i], m, off[rows[i], m]
}
function count(m, tol,   i, in_m, all_m, worst, where) {
	for (i = 1; i <= n; i++) {
		if (!((rows[i], m) in off))
			continue
		all_m++
		in_m += mag(off[rows[i], m]) <= tol
		if (mag(off[rows[i], m]) > worst) {
			worst = mag(off[rows[i], m])
			where = rows[i]
		}
	}
	printf "%-4s %3d of %3d cells within %d %%; farthest off: %s, %.1f %%\n", m, in_m, all_m, tol, where, worst
}
END {
	print title ": mean of five seeds, published, deviation, coefficient of variation; MB/s"
	printf "%-12s %32s %32s %32s\n", "pattern", "TC", "DD", "DDs"
	for (i = 1; i <= n; i++)
		printf "%-12s %s %s %s\n", rows[i], cell(rows[i], "TC"), cell(rows[i], "DD"), cell(rows[i], "DDs")
	print ""
	list("TC", tol_tc)
	list("DD", tol_dd)
	list("DDs", tol_dd)
	count("TC", tol_tc)
	count("DD", tol_dd)
	count("DDs", tol_dd)
}
