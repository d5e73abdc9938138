#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What nonblocking transfers of MPI programs cost when many are under way at once (tests/mpiio/requests.c):
#
#   tests/perf/requests.sh [-n RANKS] [-k NUMBER] [-b BYTES] [-t ROUNDS] [BUILD...]
#
# RANKS (2) processes that have NUMBER (2000) of BYTES (8) each under way, on a cluster of two nodes of two disks in memory, with the
# library of each folder BUILD ("build"), ROUNDS (5) times in turns.  Prints us a transfer, median (least to greatest).
# Wants root, /dev/fuse, and "make all mpiio mpiio-tests" in each BUILD.
set -u
cd "$(dirname "$0")/../.." || exit 2
N=2 number=2000 bytes=8 rounds=5
args=("$@")
while getopts n:k:b:t: option; do
	case $option in
	n) N=$OPTARG ;;
	k) number=$OPTARG ;;
	b) bytes=$OPTARG ;;
	t) rounds=$OPTARG ;;
	*) sed -n '4,10s/^# \?//p' "$0"; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
builds=("${@:-$PWD/build}")
if [ -z "${DDIO_OWN_NETWORK:-}" ]; then
	DDIO_OWN_NETWORK=10.64.0.1 exec unshare --net tests/own_network.sh tests/perf/requests.sh ${args[@]+"${args[@]}"}
fi
below=/tmp
[ -w /dev/shm ] && below=/dev/shm
dir=$(mktemp -d "$below/ddio-requests.XXXXXX") || exit 2
. tests/mpiio/launch.sh
leave() {
	"$build/ddio" umount -z "$dir/mount" 2>/dev/null
	"$build/ddio" stop --dir "$dir/c" >/dev/null 2>&1
	rm -rf --one-file-system "$dir/c"
}
finish() {
	trap - EXIT
	leave
	rm -rf --one-file-system "$dir"
}
trap finish EXIT
trap 'exit 143' TERM INT
mkdir -p "$dir/mount"
build=${builds[0]}

# one BUILD MPI: a run of its own cluster
one() {
	build=$1 mpi=$2
	"$build/ddio" start --dir "$dir/c" --iops 2 --disks 4 --engine mem --disk-size 256M >/dev/null || exit 2
	export DDIO_CONF=$dir/c/ddio.conf
	"$build/ddio" mount "$dir/mount" >/dev/null || exit 2
	PRELOAD=$build/libddio_mpiio.so launch "$build/tests/mpiio/$mpi/requests" "$dir/mount/requests" "$number" "$bytes" |
		sed "s|^|$build $mpi |"
	leave
}
for ((i = 0; i < rounds; i++)); do
	for mpi in mpich openmpi; do
		for build in "${builds[@]}"; do
			[ ! -x "$build/tests/mpiio/$mpi/requests" ] || one "$build" "$mpi"
		done
	done
done | sort -t: -k1,1 -k2,2n | awk -F': ' '
	$1 != what { tell(); what = $1; n = 0 }
	{ v[++n] = $2 }
	function tell() { if (n) printf "%s: %.1f (%.1f to %.1f)\n", what, v[int((n + 1) / 2)], v[1], v[n] }
	END { tell() }'
