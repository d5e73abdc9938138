# SPDX-License-Identifier: GPL-2.0-only
# Runs of several seeds, one after the other, as a line for each cell: mean and coefficient of variation.
BEGIN { FS = "," }
/^#/ {
	if (!body)
		head[++lines] = $0
	next
}
/^layout/ {
	body = 1
	for (i = 1; i <= NF; i++)
		col[$i] = i
	next
}
{
	k = $1 "," $2 "," $3 "," $4
	if (!(k in n))
		order[++cells] = k
	n[k]++
	sum[k] += $6
	square[k] += $6 * $6
	paper[k] = $7
	left[k] += $col["iop_left"]
	bars[k] += $col["iop_left_barriers"]
}
END {
	for (i = 1; i <= lines; i++) {
		sub(/seed [0-9]+, 1 trial \(median\)/, "means of " n[order[1]] " seeds", head[i])
		print head[i]
	}
	print "layout,pattern,record,method,seeds,mbps,paper_mbps,cv,iop_left,iop_left_barriers"
	for (i = 1; i <= cells; i++) {
		k = order[i]
		mean = sum[k] / n[k]
		var = n[k] > 1 ? (square[k] - n[k] * mean * mean) / (n[k] - 1) : 0
		printf "%s,%d,%.3f,%.2f,%.3f,%.0f,%.0f\n", k, n[k], mean, paper[k],
			(var > 0 ? sqrt(var) : 0) / mean, left[k] / n[k], bars[k] / n[k]
	}
}
