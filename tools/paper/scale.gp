# SPDX-License-Identifier: GPL-2.0-only
# Against the number of pairs of compute and I/O processors: throughput of a disk, messages and
# planner work of an I/O processor.
set datafile separator ","
set logscale xy
set xlabel "compute processors x I/O processors"
set key outside
pick(p) = "< grep '^".p.",' ".csv
set title "Growth"
set terminal pngcairo size 1100,600
set output base.".png"
plot for [p in "rb rc"] pick(p) using ($2*$3):($5/$2) with points title p.": MB/s a disk", \
	for [p in "rb rc"] pick(p) using ($2*$3):6 with points title p.": messages an IOP", \
	for [p in "rb rc"] pick(p) using ($2*$3):($7+$8) with points title p.": sorted, runs an IOP"
set terminal svg size 1100,600
set output base.".svg"
replot
