#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# peers.sh [RANKS] [MBYTES] [ROUNDS] [RECORD...]: the same MPI program (tests/mpiio/speed.c)
#   ddio    with libddio_mpiio, on a cluster with disks in memory
#   mount   with the MPI's own file functions, over a mount of that cluster
#   tmpfs   with the MPI's own, on a file in memory, where no server and no network is
# with MPICH (ROMIO) and Open MPI (OMPIO), one after another in each round.  Prints a table of medians, MB/s, and the ratios
# of ddio to the better MPI in each of the two other places; then the worst and the median of these ratios.
set -u
cd "$(dirname "$0")/../.." || exit 2
ranks=${1:-4} mbytes=${2:-10} rounds=${3:-5}
shift $(($# < 3 ? $# : 3))
records=("$@")
[ ${#records[@]} -gt 0 ] || records=(8 8192)
build=$PWD/build
make --no-print-directory -s all mpiio-tests || exit 2
below=/tmp
[ -w /dev/shm ] && below=/dev/shm
dir=$(mktemp -d "$below/ddio-peers.XXXXXX") || exit 2
trap '"$build/ddio" umount -z "$dir/m" 2>/dev/null; "$build/ddio" stop --dir "$dir/c" >/dev/null 2>&1; rm -rf "$dir"' EXIT
export TMPDIR=$dir OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
"$build/ddio" start --dir "$dir/c" --iops 1 --disks 2 --engine mem --disk-size 1G >/dev/null || exit 2
export DDIO_CONF=$dir/c/ddio.conf
mkdir "$dir/m" "$dir/tmpfs"
"$build/ddio" mount "$dir/m" >/dev/null || exit 2

# measure MPI PLACE FILE RECORD: lines "RECORD PATTERN WAY MPI PLACE RATE"
measure() {
	local preload=
	[ "$2" = ddio ] && preload=$build/libddio_mpiio.so
	LD_PRELOAD=$preload timeout 300 "mpiexec.$1" -n "$ranks" "$build/tests/mpiio/$1/speed" "$3" "$4" \
		$((mbytes * 1000000 / 81920 * 81920)) romio_cb_write=enable romio_cb_read=enable 2>>"$dir/said" |
		sed "s/^\([a-z]*\) \([a-z]*\) \(.*\)$/$4 \1 \2 $1 $2 \3/"
}
for ((round = 0; round < rounds; round++)); do
	for record in "${records[@]}"; do
		for mpi in mpich openmpi; do
			[ -x "$build/tests/mpiio/$mpi/speed" ] || continue
			measure $mpi ddio "$dir/m/ddio.$mpi" "$record"
			measure $mpi mount "$dir/m/mount.$mpi" "$record"
			measure $mpi tmpfs "$dir/tmpfs/$mpi" "$record"
		done
	done
done >"$dir/all"
grep -av '^$\|yaksa' "$dir/said" | head -5 >&2
sort -k1,5 "$dir/all" | awk -v ranks="$ranks" -v mb="$mbytes" '
function median(list, n,   i, j, t, v) {
	n = split(list, v, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
	return n ? v[int((n + 1) / 2)] : 0
}
{ k = $1 " " $2 " " $3; if (!(k in seen)) { seen[k]; order[++n] = k } rate[k, $4, $5] = rate[k, $4, $5] " " $6 }
function best(k, place,   a, b) { a = median(rate[k, "mpich", place]); b = median(rate[k, "openmpi", place]); return a > b ? a : b }
END {
	printf "%d ranks, %d MB\n%-6s %-8s %-6s", ranks, mb, "record", "pattern", ""
	printf "%10s %10s %10s %10s %10s %10s %8s %8s\n", "ddio M", "ddio O", "mount M", "mount O", "tmpfs M", "tmpfs O", "/mount", "/tmpfs"
	for (i = 1; i <= n; i++) {
		k = order[i]; split(k, f, " ")
		printf "%-6s %-8s %-6s", f[1], f[2], f[3]
		for (p = 1; p <= 3; p++)
			for (m = 1; m <= 2; m++)
				printf "%10.0f ", median(rate[k, m == 1 ? "mpich" : "openmpi", p == 1 ? "ddio" : p == 2 ? "mount" : "tmpfs"])
		mount = best(k, "ddio") / (best(k, "mount") + 1e-9); tmpfs = best(k, "ddio") / (best(k, "tmpfs") + 1e-9)
		printf "%8.2f %8.2f\n", mount, tmpfs
		mounts = mounts " " mount; tmpfss = tmpfss " " tmpfs
		if (i == 1 || mount < wm) wm = mount
		if (i == 1 || tmpfs < wt) wt = tmpfs
	}
	printf "ddio to the mount: worst %.2f, median %.2f; to tmpfs: worst %.2f, median %.2f\n", wm, median(mounts), wt, median(tmpfss)
}'
