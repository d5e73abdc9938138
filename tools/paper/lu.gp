# SPDX-License-Identifier: GPL-2.0-only
# Time of DD relative to TC, for each configuration, ours and the published one.
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set xtics rotate by -60 font ",8"
set ylabel "time of DD, % of TC's"
set yrange [0:120]
set title "TR95-251: out-of-core LU, disk-directed against traditional caching"
pick(f) = "< awk 'NF == 12 && $4 == \"DD\" { print $1 \"/\" $2 \"/\" $3, $11, $12 }' ".txt
set terminal pngcairo size 1000,560
set output base.".png"
plot pick(0) using 2:xtic(1) title "ours", pick(0) using 3 title "published"
set terminal svg size 1000,560
set output base.".svg"
replot
