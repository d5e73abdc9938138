# SPDX-License-Identifier: GPL-2.0-only
# Called by peers.sh with data and picture: medians as bars, the better MPI of each place.
set terminal png size 1800,700
set output picture
set logscale y
set ylabel "MB/s"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8
set grid y
set xtics rotate by -60 scale 0
set key top right horizontal
plot data using 2:xtic(1) title "ddio", '' using 3 title "mount", '' using 4 title "GlusterFS", '' using 5 title "tmpfs", \
	'' using 6 title "ddio bench"
