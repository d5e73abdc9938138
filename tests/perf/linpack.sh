#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Table 4 of Kotz and Cai (1995) on this machine: a program of MPI that solves systems of equations, with 16 barriers in
# each, beside a node that serves files: another program reads or writes a file of 400 MB through a mount, 1 KB at a
# time, in order or at random.  Nothing is kept in the client's memory (cache=none); the disks are memory, so that what
# slows the computation is the service alone, and as much of it as the client can ask for.
#
#   tests/perf/linpack.sh [SECONDS [ROUNDS [MB]]]     3 for each measurement, 5 rounds, 400 MB
#
# Needs root, /dev/fuse, fio, MPICH and at least two processors.  Two arrangements: "server": a rank on every processor
# but the last, the daemon on the first, mount and client on the last, which is their machine; "all": a rank on every processor, and
# the others wherever there is room.
#
# Prints, for each, the median over the rounds of the computation's speed in per cent of its speed alone in the same round,
# the least and the greatest, and the median of requests a second.
set -u
cd "$(dirname "$0")/../.." || exit 2
secs=${1:-3} rounds=${2:-5} mb=${3:-400} build=${BUILD:-$PWD/build}
# So long before the computation the client begins.
lead=$(awk -v s="$secs" 'BEGIN { print s < 1 ? s : 1 }')
if [ -z "${DDIO_OWN_NETWORK:-}" ]; then
	DDIO_OWN_NETWORK=10.64.0.1 exec unshare --net tests/own_network.sh tests/perf/linpack.sh "$@"
fi
program=$build/tests/mpiio/mpich/linpack
for needed in "$program" "$build/ddiofs"; do
	[ -x "$needed" ] || { echo "linpack.sh: there is no $needed" >&2; exit 2; }
done
last=$(($(nproc) - 1))
[ "$last" -gt 0 ] || { echo "linpack.sh: one processor is not enough" >&2; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/ddio-linpack.XXXXXX") || exit 2
# shellcheck disable=SC2034
mpi=mpich BOUND=60
. tests/mpiio/launch.sh
down() {
	"$build/ddio" umount -z "$dir/mount" 2>/dev/null
	"$build/ddio" stop --dir "$dir/c" >/dev/null 2>&1
}
finish() {
	trap - EXIT
	down
	rm -rf --one-file-system "$dir"
}
trap finish EXIT
trap 'exit 143' TERM INT
mkdir "$dir/mount"
export DDIO_CONF=$dir/c/ddio.conf


on() { taskset -c "$@"; } # PROCESSORS COMMAND...

# place server|all: which processors each may have, and how many ranks there are
place() {
	ranks=0-$last daemon=0-$last client=0-$last N=$((last + 1))
	[ "$1" = all ] && return
	ranks=0-$((last - 1)) daemon=0 client=$last N=$last
}
up() {
	on "$daemon" "$build/ddio" start --dir "$dir/c" --iops 1 --disks 2 --engine mem --disk-size $((mb + 64))M >/dev/null &&
		on "$client" "$build/ddio" mount -o cache=none "$dir/mount" >/dev/null &&
		dd if=/dev/zero of="$dir/mount/file" bs=1M count="$mb" status=none
}
speed() { launch taskset -c "$ranks" "$program" "$secs" | cut -d' ' -f1; }

# begun PROCESS: it has the file open
begun() { find "/proc/$1/fd" -lname "$dir/mount/file" 2>/dev/null | grep -q .; }

# beside KIND ALONE: "PERCENT REQUESTS" of the computation while a client makes requests of that kind
beside() {
	local with fio n
	taskset -c "$client" fio --name=x --filename="$dir/mount/file" --size="$mb"M --rw="$1" --bs=1k --ioengine=psync \
		--thread --time_based --runtime=600 --output-format=terse --output="$dir/fio" >/dev/null 2>&1 &
	fio=$!
	for ((n = 0; n < 100; n++)); do
		begun "$fio" && break
		sleep 0.1
	done
	sleep "$lead"
	with=$(speed)
	kill -TERM "$fio"
	wait "$fio"
	# The fifth member is an error, the eighth and the 49th are reads and writes a second.
	awk -F\; -v a="${2:-0}" -v b="${with:-0}" '{ r = $8 + $49; err = $5 }
		END { if (err || !r || a <= 0 || b <= 0) exit 1; printf "%.1f %.0f\n", 100 * b / a, r }' "$dir/fio"
}
round() {
	local kind alone
	alone=$(speed)
	for kind in read randread write randwrite; do
		beside $kind "$alone" >>"$dir/$kind" || { echo "linpack.sh: $kind was not measured" >&2; exit 2; }
	done
}
# nth COLUMN PLACE FILE: the PLACE-th smallest
nth() { awk -v c="$1" '{ print $c }' "$3" | sort -n | sed -n "$2p"; }
tell() { # ARRANGEMENT KIND
	local f=$dir/$2 middle=$(((rounds + 1) / 2))
	echo "$1 $2: $(nth 1 $middle "$f") ($(nth 1 1 "$f") to $(nth 1 "$rounds" "$f")), $(nth 2 $middle "$f") a second"
}

echo "# $(uname -r), $((last + 1)) processors; per cent of the computation's speed alone, requests of 1 KB a second"
for how in server all; do
	place $how
	up || { echo "linpack.sh: no cluster, or no mount" >&2; exit 2; }
	for _ in $(seq "$rounds"); do round; done
	for kind in read randread write randwrite; do
		tell $how $kind
		rm "$dir/$kind"
	done
	down
	rm -rf "$dir/c"
done
