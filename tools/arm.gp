# SPDX-License-Identifier: GPL-2.0-only
# Where one disk's arm is over time, under traditional caching and under disk-directed I/O.
#   gnuplot -e "tc='FILE'; dds='FILE'; what='...'; png='FILE'" tools/arm.gp
# The files have two columns: seconds, and the cylinder.
set terminal pngcairo size 1200,480 font 'sans,11'
set output png
stats tc using 1:2 nooutput name 'T'
stats dds using 1:2 nooutput name 'D'
# How far the arm travels: cylinders from one request to the next.
last = 0
step(c) = (d = abs(c - last), last = c, d)
stats tc using ($0 > 0 ? step($2) : (last = $2, 0)) nooutput name 'TS'
stats dds using ($0 > 0 ? step($2) : (last = $2, 0)) nooutput name 'DS'
set xrange [0:1.02 * (T_max_x > D_max_x ? T_max_x : D_max_x)]
set yrange [0:1962]
set xlabel 'time (s)'
set grid
set key off
set multiplot layout 1,2 title what
set ylabel 'cylinder under the arm'
set title sprintf('traditional caching: %.2f s, %d cylinders', T_max_x, TS_sum)
plot tc using 1:2 with linespoints lc rgb '#c0392b' pt 7 ps 0.5
unset ylabel
set title sprintf('disk-directed, presorted (DDs): %.2f s, %d cylinders', D_max_x, DS_sum)
plot dds using 1:2 with linespoints lc rgb '#1f4e79' pt 7 ps 0.5
unset multiplot
