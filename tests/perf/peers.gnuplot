# SPDX-License-Identifier: GPL-2.0-only
# Called by peers.sh with data, picture and what: medians of cold reads and writes, the better MPI of each place; a hollow triangle
# stands at a rate that was not reached.
set terminal png size 1100,720
set output picture
set logscale y
set ylabel "MB/s"
set grid
set xtics rotate by -60 scale 0
set key outside top center horizontal
set offsets 0.5, 0.5, 0, 0
set yrange [10:10000]
set style line 1 lc rgb "#0060ad" pt 7 ps 0.8
set style line 2 lc rgb "#dd8800" pt 5 ps 0.6
set style line 3 lc rgb "#888888" pt 13 ps 0.8
set style line 4 lc rgb "#b01030" pt 2 ps 0.7
set style line 5 lc rgb "#408040" pt 1 ps 0.7
names = "ddio mount GlusterFS memory single"
# The first line tells which of them were measured.
shown = system("sed -n '1s/^#//p' ".data)
set multiplot layout 2,1
do for [record in "8 8192"] {
	set title what.", records of ".record." bytes"
	rows = sprintf("<grep '^%s ' %s", record, data)
	plot for [p in shown] rows using 0:(column(2*p+2) > 0 ? NaN : column(2*p+1)):xtic(2) with points ls p title word(names, p+0), \
		for [p in shown] rows using 0:(column(2*p+2) > 0 ? column(2*p+1) : NaN) with points ls p pt 10 notitle
}
