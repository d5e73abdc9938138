#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# peers.sh [OPTIONS]: the same MPI programs (tests/mpiio/speed.c, libraries/speed_hdf5.c) with MPICH (ROMIO) and Open MPI (OMPIO)
#
#   ddio     with libddio_mpiio, on a cluster of one node with two disks in memory
#   mount    with the MPI's own file functions, over a mount of that cluster
#   gluster  with these, over a mount of GlusterFS whose brick is in memory
#   tmpfs    with these, on a file in memory, where no server and no network is
#   individual  there, each process by calls of its own, of which the others need not know (not measured unless asked for)
#   bench    "ddio bench" on that cluster: the library without an MPI
#
# one after another in each round.  Of the MPI's own hints collective buffering is on.  Before each cold read the kernel's pages of
# the file are dropped, in all places; a hot one comes after it.
#
#   -n "4 16"  ranks        -r "8 8192"  records         -t 5         rounds         -w "ddio mount gluster tmpfs bench"
#   -s "10"    megabytes    -p PATTERNS  "rb,wbc", hdf5  -o DIR       where the results go (peers in the folder "build")
#   -m "mpich openmpi"  MPIs; "romio" is Open MPI's other file functions, measured where the MPI's own are
#   -l 5       seconds that the calls of a pattern may take together, and HDF5 ten times as long; what is slower is tried once,
#              and "<" stands before the greatest rate that it may have had
#
# Prints a table for each number of ranks and size: medians, MB/s, and the ratios of ddio with the better MPI to the better MPI
# elsewhere; then the worst and the median of these ratios.  DIR has it as peers.txt, each measurement in peers.csv, least, median and
# greatest in summary.csv, and a picture of the medians for each table.
# Needs root, /dev/fuse, and glusterfs-server for gluster.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=$PWD/build
block=32K # of files that programs make through a mount
all=ra,rn,rb,rc,rnn,rnb,rnc,rbn,rbb,rbc,rcn,rcb,rcc,wn,wb,wc,wnn,wnb,wnc,wbn,wbb,wbc,wcn,wcb,wcc
ranks_list='4 16' sizes=10 records='8 8192' rounds=5 places='ddio mount gluster tmpfs bench' patterns=$all,hdf5 out=$build/peers limit=5 mpis='mpich openmpi'
args=("$@")
while getopts n:s:r:p:t:w:m:o:l: option; do
	case $option in
	n) ranks_list=$OPTARG ;;
	s) sizes=$OPTARG ;;
	r) records=$OPTARG ;;
	p) patterns=$OPTARG ;;
	t) rounds=$OPTARG ;;
	w) places=$OPTARG ;;
	m) mpis=$OPTARG ;;
	o) out=$OPTARG ;;
	l) limit=$OPTARG ;;
	*) sed -n '3,26s/^# \?//p' "$0"; exit 2 ;;
	esac
done
if [ -z "${DDIO_OWN_NETWORK:-}" ]; then
	make --no-print-directory -s all mpiio-tests || exit 2
	DDIO_OWN_NETWORK=10.64.0.1 exec unshare --net tests/own_network.sh tests/perf/peers.sh ${args[@]+"${args[@]}"}
fi
below=/tmp
[ -w /dev/shm ] && below=/dev/shm
dir=$(mktemp -d "$below/ddio-peers.XXXXXX") || exit 2
. tests/perf/gluster.sh
. tests/mpiio/launch.sh
finish() {
	trap - EXIT
	gluster_stop
	"$build/ddio" umount -z "$dir/mount" 2>/dev/null
	"$build/ddio" stop --dir "$dir/c" >/dev/null 2>&1
	rm -rf --one-file-system "$dir"
}
trap finish EXIT
trap 'exit 143' TERM INT
export TMPDIR=$dir
mkdir -p "$out" "$dir/mount" "$dir/tmpfs"
out=$(cd "$out" && pwd)
"$build/ddio" start --dir "$dir/c" --iops 1 --disks 2 --engine mem --disk-size 2G >/dev/null || exit 2
export DDIO_CONF=$dir/c/ddio.conf
"$build/ddio" mount "$dir/mount" >/dev/null || exit 2
case " $places " in *" gluster "*) gluster_start || places=${places/gluster/} ;; esac
hdf5=
case ,$patterns, in *,hdf5,*) hdf5=1 patterns=${patterns/hdf5/} ;; esac
patterns=$(tr -s , <<<"$patterns" | sed 's/^,//; s/,$//')

# The cell as CSV: ranks, megabytes, record, pattern, what, MPI, place, round, MB/s
cell() {
	sed -n "s/^\([a-z]*\) \(write\|cold\|hot\) \(<\?[0-9.]*\)$/$N,$size,$record,\1,\2,$mpi,$place,$round,\3/p"
}
# What has been too slow, by "N,size,record,mpi,place", as ",rb,wc,".
declare -A slow
# too_slow PATTERN SECONDS: what it has not said within that time, by the calls that were left
too_slow() {
	local what kinds='cold hot' calls=8
	[ "${1#w}" = "$1" ] || kinds=write calls=4
	[ "${1#h}" = "$1" ] || kinds='write cold hot'
	for what in $kinds; do
		grep -q "^$1 $what " "$dir/rates" || awk -v what="$1 $what" -v most=$((calls * bytes)) -v s="$2" \
			'BEGIN { printf "%s <%.1f\n", what, most / s / 1e6 }'
	done | cell
}
# speed PROGRAM FILE HINT...: all patterns but those that have been too slow
speed() {
	local key=$N,$size,$record,$mpi,$place left=,$patterns, p
	for p in $(tr , ' ' <<<"${slow[$key]:-}"); do left=${left/,$p,/,}; done
	while left=${left#,} && [ -n "$left" ]; do
		SPEED_LIMIT=$limit launch "$1" "$2" "$record" "$bytes" "${left%,}" "${@:3}" >"$dir/rates" 2>>"$dir/said"
		cell <"$dir/rates"
		# One call comes before those that are counted, and one makes the file.
		p=$(sed -n 's/^\([a-z]*\) slow .*/\1/p' "$dir/rates")
		[ -n "$p" ] || return
		slow[$key]+=,$p,
		left=,$left left=${left#*,"$p",}
		too_slow "$p" "$limit"
	done
}
# speed_hdf5 PROGRAM FILE HINT...: both datasets, unless they have been too slow
speed_hdf5() {
	local key=$N,$size,hdf5,$mpi,$place BOUND=$((10 * limit)) p
	[ -z "${slow[$key]:-}" ] || return
	launch "$1" "$2" "$bytes" "${@:3}" >"$dir/rates" 2>>"$dir/said"
	[ $? = 124 ] && slow[$key]=hdf5
	cell <"$dir/rates"
	[ -z "${slow[$key]:-}" ] || for p in hbc hnc; do too_slow $p $BOUND; done
}
programs() {
	local hints=(romio_cb_write=enable romio_cb_read=enable) bin=$build/tests/mpiio/${mpi/romio/openmpi} file=$dir/$place/file.$mpi
	[ "$place" = ddio ] && file=$dir/mount/ddio.$mpi
	[ "$place" = individual ] && file=$dir/tmpfs/individual.$mpi
	[ "$mpi" != romio ] || local -x OMPI_MCA_io=romio321
	[ "$place" != individual ] || local -x SPEED_INDIVIDUAL=1
	PRELOAD=
	[ "$place" = ddio ] && PRELOAD=$build/libddio_mpiio.so
	[ -z "$patterns" ] || speed "$bin/speed" "$file" "${hints[@]}"
	[ -z "$hdf5" ] || [ "$record" != 8 ] || [ ! -x "$bin/speed_hdf5" ] ||
		speed_hdf5 "$bin/speed_hdf5" "$file.h5" "${hints[@]}"
	rm -f "$file" "$file.h5"
}
# What the library does has neither cold nor hot pages.
bench() {
	local mpi=none
	[ -z "$patterns" ] || "$build/ddio" bench -q --conf "$DDIO_CONF" -n "$N" -p "$patterns" -r "$record" -m dd -s "$bytes" -b "$block" \
		--no-verify --until-last --csv 2>>"$dir/said" | awk -F, '$4 == "DD" { printf "%s %s %.1f\n", $2,
			$2 ~ /^w/ ? "write" : "hot", $8 * 1000 / $9 }' | cell
}
measure() {
	local bytes=$((size * 1048576)) mpi place
	for place in $places; do
		[ "$place" != bench ] || { bench; continue; }
		for mpi in $mpis; do
			[ "$place $mpi" != "ddio romio" ] || continue
			[ ! -x "$build/tests/mpiio/${mpi/romio/openmpi}/speed" ] || programs
		done
	done
}
BOUND=${BOUND:-600}
echo "ranks,megabytes,record,pattern,what,mpi,place,round,mbps" >"$out/peers.csv"
for N in $ranks_list; do
	for size in $sizes; do
		for ((round = 0; round < rounds; round++)); do
			for record in $records; do measure; done
		done
	done
done >>"$out/peers.csv"
grep -av '^$\|yaksa' "$dir/said" | sort | uniq -c | head -5 >&2
awk -v out="$out" -f tests/perf/peers.awk "$out/peers.csv" | tee "$out/peers.txt"
command -v gnuplot >/dev/null || exit 0
for table in "$out"/peers-*.dat; do
	IFS=- read -r _ N size <<<"$(basename "$table" .dat)"
	gnuplot -e "data='$table'; picture='${table%.dat}.png'; what='$N ranks, $size MiB: cold reads and writes'" \
		tests/perf/peers.gnuplot || exit 1
done
