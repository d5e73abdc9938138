# SPDX-License-Identifier: GPL-2.0-only
# What each fix gains, in per cent.
set datafile separator ","
set style fill solid 0.8 border -1
set boxwidth 0.7
set xtics rotate by -60 font ",8"
set ylabel "gain, %"
set bmargin 12
set key off
set title "What the papers suggest: gain in throughput"
data = "< awk -F, '!/^#/ && !/^fix,/ { print $1 \": \" $2 \",\" 100 * $4 / $3 - 100 }' ".csv
set terminal pngcairo size 1200,640
set output base.".png"
plot data using 0:2:xtic(1) with boxes
set terminal svg size 1200,640
set output base.".svg"
replot
