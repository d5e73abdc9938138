# SPDX-License-Identifier: GPL-2.0-only
# Lines: a parameter across, throughput up, a line for each pattern and method.
set datafile separator ","
set ylabel "MB/s"
set xlabel what
set logscale x 2
set yrange [0:*]
set key outside
lines = system("grep -v '^[#v]' ".csv." | awk -F, '{ print $2 \"/\" $3 \"/\" $5 }' | awk '!s[$0]++'")
pick(l) = "< awk -F, '$2 \"/\" $3 \"/\" $5 == \"".l."\" { sub(/M$/, \"\", $1); print $1 \",\" $7 }' ".csv
set terminal pngcairo size 900,560
set output base.".png"
plot for [l in lines] pick(l) using 1:2 with linespoints title l
set terminal svg size 900,560
set output base.".svg"
replot
