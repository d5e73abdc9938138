# SPDX-License-Identifier: GPL-2.0-only
# Cells of a CSV of ddio sim beside the published ones: TC, DD, DDs.
# Cells beyond the tolerance are listed with their reasons from the file "reasons", table "table".
BEGIN {
	FS = ","
	while ((getline text < reasons) > 0) {
		split(text, f, ",")
		if (f[1] != table)
			continue
		sub(/^[^,]*,[^,]*,[^,]*,/, "", text)
		gsub(/"/, "", text)
		why[f[2], f[3]] = text
	}
}
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
function explain(m, tol,   i, o) {
	for (i = 1; i <= n; i++) {
		if (!((rows[i], m) in off))
			continue
		o = off[rows[i], m]
		if (o <= tol && o >= -tol)
			continue
		printf "off: %-9s %-3s %+6.1f %%: %s\n", rows[i], m, o,
			(rows[i], m) in why ? why[rows[i], m] : "not found"
	}
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
	explain("TC", tol_tc)
	explain("DD", tol_dd)
	explain("DDs", tol_dd)
	count("TC", tol_tc)
	count("DD", tol_dd)
	count("DDs", tol_dd)
}
