# SPDX-License-Identifier: GPL-2.0-only
# Throughput against CPU left, a point for each pattern, record size and method.
set datafile separator ","
set xlabel "CPU left to the computation, %"
set ylabel "MB/s"
set xrange [0:100]
set yrange [0:*]
set key outside
pick(m, c) = "< awk -F, '/^layout/ { for (i = 1; i <= NF; i++) if ($i == \"".c."\") k = i; next } /^#/ { next } $4 == \"".m."\" { print $k / 1000 \",\" $6 }' ".csv
set terminal pngcairo size 1000,560
set output base.".png"
plot pick("TC", "iop_left") with points pt 4 title "TC", \
	pick("DDs", "iop_left") with points pt 7 title "DDs", \
	pick("TC", "iop_left_barriers") with points pt 2 title "TC, barriers", \
	pick("DDs", "iop_left_barriers") with points pt 6 title "DDs, barriers"
set terminal svg size 1000,560
set output base.".svg"
replot
