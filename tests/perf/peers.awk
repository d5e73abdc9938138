# SPDX-License-Identifier: GPL-2.0-only
# Called by peers.sh: a table for each number of ranks and size of what it has measured, and the files of -v out=DIR.
BEGIN { FS = ","; nplaces = split("ddio mount gluster tmpfs individual", place, " "); nmpis = split("mpich openmpi romio", mpi, " "); split("M O R", letter, " ") }
FNR == 1 { next }
{
	group = $1 "," $2
	row = $3 "," $4 "," $5
	if (!(group in rows)) groups[++ngroups] = group
	if (!((group, row) in seen)) { seen[group, row]; order[group, ++rows[group]] = row }
	cell = group SUBSEP row SUBSEP $6 SUBSEP $7
	if (!(cell in count)) cells[++ncells] = cell
	bounded[cell] = sub(/^</, "", $9) ? "<" : ""
	value[cell, ++count[cell]] = $9
	has[$7]; measured[$6, $7]
}
function median(cell,   n, i, j, t) {
	n = count[cell]
	if (!n) return 0
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && value[cell, j - 1] > value[cell, j] + 0; j--) {
			t = value[cell, j - 1]; value[cell, j - 1] = value[cell, j] + 0; value[cell, j] = t + 0
		}
	return value[cell, int((n + 1) / 2)] + 0
}
function shown(m, p,   cell) {
	cell = group SUBSEP row SUBSEP m SUBSEP p
	return bounded[cell] sprintf("%.0f", median(cell))
}
function of(m, p) { return median(group SUBSEP row SUBSEP m SUBSEP p) }
function better(p,   m, best) {
	best = 1
	for (m = 2; m <= nmpis; m++) if (of(mpi[m], p) >= of(mpi[best], p)) best = m
	return mpi[best]
}
# A column for each MPI in each place where it was measured: "M" with MPICH, "O" with Open MPI, "R" with its ROMIO.
function columns(head,   p, m) {
	for (p = 1; p <= nplaces; p++)
		for (m = 1; m <= nmpis; m++)
			if ((mpi[m], place[p]) in measured)
				printf " %9s", head ? short(place[p]) " " letter[m] : shown(mpi[m], place[p])
}
function short(place) { return place == "individual" ? "single" : place }
function best(p) { return of(p == "bench" ? "none" : better(p), p) }
# For the picture: the rate of a place, and 1 if it is only a bound.
function point(m, p) {
	return sprintf(" %s %d", of(m, p) ? sprintf("%.1f", of(m, p)) : "NaN", bounded[group SUBSEP row SUBSEP m SUBSEP p] != "")
}
# Records that the ranks take one by one.
function by_record(pattern) { return pattern ~ /c$/ && pattern != "rcn" }
function note(kind, r,   k) {
	k = kind
	value[k, ++count[k]] = r
}
function told(kind, what) {
	if (count[kind]) printf "ddio to %s: worst %.2f, median %.2f, best %.2f (%d)\n", what, value_at(kind, 1), median(kind), value_at(kind, count[kind]), count[kind]
}
function value_at(kind, i) { median(kind); return value[kind, i] }
function ratio(p,   b, r) {
	b = best(p)
	if (!b || (p == "bench" && f[3] == "cold")) { printf " %8s", "-"; return }
	r = best("ddio") / b
	printf " %8.2f", r
	note(group " " p " all", r)
	if (f[3] != "hot") note(group " " p " cold and writes", r)
	if (f[1] == 8 && by_record(f[2])) note(group " " p " one record", r)
}
END {
	for (g = 1; g <= ngroups; g++) {
		group = groups[g]; split(group, of_group, ",")
		printf "%s%d ranks, %d MiB; MB/s: M with MPICH, O with Open MPI\n", (g > 1 ? "\n" : ""), of_group[1], of_group[2]
		printf "%-6s %-7s %-5s", "record", "pattern", ""
		columns(1)
		printf " %7s", "bench"
		for (p = 2; p <= nplaces; p++) if (place[p] in has) printf " %8s", "/" short(place[p])
		printf " %8s\n", "/bench"
		data = out "/peers-" of_group[1] "-" of_group[2] ".dat"
		printf "#" >data
		for (p = 1; p <= nplaces; p++) if (place[p] in has) printf " %d", p >data
		printf "\n" >data
		for (i = 1; i <= rows[group]; i++) {
			row = order[group, i]; split(row, f, ",")
			printf "%-6s %-7s %-5s", f[1], f[2], f[3]
			if (f[3] != "hot") printf "%s %s", f[1], f[2] (f[2] == "hbc" || f[2] == "hnc" ? "-" f[3] : "") >data
			columns(0)
			if (f[3] != "hot") {
				for (p = 1; p <= nplaces; p++) printf "%s", point(better(place[p]), place[p]) >data
				printf "\n" >data
			}
			printf " %7s", (f[3] == "cold" || !of("none", "bench")) ? "-" : sprintf("%.0f", of("none", "bench"))
			for (p = 2; p <= nplaces; p++) if (place[p] in has) ratio(place[p])
			ratio("bench")
			printf "\n"
		}
		close(data)
		for (p = 2; p <= nplaces + 1; p++) {
			who = (p > nplaces) ? "bench" : place[p]
			told(group " " who " all", who ", all")
			told(group " " who " cold and writes", who ", cold reads and writes")
			told(group " " who " one record", who ", records of 8 bytes by turns")
		}
	}
	print "ranks,megabytes,record,pattern,what,mpi,place,rounds,least,median,greatest" >(out "/summary.csv")
	for (i = 1; i <= ncells; i++) {
		split(cells[i], f, SUBSEP)
		m = median(cells[i])
		printf "%s,%s,%s,%s,%d,%s%.1f,%.1f,%.1f\n", f[1], f[2], f[3], f[4], count[cells[i]], bounded[cells[i]], value[cells[i], 1], m, value[cells[i], count[cells[i]]] >(out "/summary.csv")
	}
}
