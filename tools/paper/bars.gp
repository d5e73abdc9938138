# SPDX-License-Identifier: GPL-2.0-only
# Bars: a group for each pattern and record size, a bar for each method.
set datafile separator ","
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set xtics rotate by -60 font ",8"
set ylabel "MB/s"
set yrange [0:*]
set key top right
set title what
methods = system("grep -v '^[#l]' ".csv." | cut -d, -f4 | awk '!s[$0]++'")
pick(m) = "< awk -F, '$4 == \"".m."\" { print $2 \" \" $3 \",\" $6 }' ".csv
set terminal pngcairo size 1500,560
set output base.".png"
plot for [m in methods] pick(m) using 2:xtic(1) title m
set terminal svg size 1500,560
set output base.".svg"
replot
