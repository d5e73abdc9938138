#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How fast a mount is, against others in the same run:
#
#   tests/perf/mount.sh [data|names|all|daily] [more options of ddio bench --mount]
#
# data: against libfuse's own example of a pass-through (passthrough_ll, built from the source that comes with libfuse's
# development files) and against the mount's program over a directory (tests/fuse/passfs), both over tmpfs.
# names: against these and a volume of GlusterFS (glusterd has to be installed and not to run; nothing of its
# configuration is touched but a volume that is made here and removed again), its brick on tmpfs, all in a network of
# its own.
# daily: what a person does (rm -rf, tar, git status, ls -lR, small writes), against passthrough_ll; the pass-through's
# files and the cluster's disks and records lie on the file system of $DIR (/var/tmp; ext4 is meant).  LOADED=1 has two processes
# that do nothing but turn beside it.
# The cluster: $IOPS I/O processors (4) with memory disks of 512 MB, each block cache $CACHE (64M), its records on
# tmpfs as well. Everything but that lies in a directory below /dev/shm; it is removed behind.
# Needs root, /dev/fuse and 8 GB of memory.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-$PWD/build}
what=${1:-all}
[ $# -gt 0 ] && shift
case $what in data | names | all | daily) ;; *) sed -n '3,18s/^# \?//p' "$0"; exit 2 ;; esac
[ "$(id -u)" = 0 ] && [ -e /dev/fuse ] || { echo "needs root and /dev/fuse"; exit 77; }
# GlusterFS does not serve on loopback; it gets an address that nobody else can reach.
if [ -z "${DDIO_OWN_NETWORK:-}" ]; then
	DDIO_OWN_NETWORK=10.64.0.1 exec unshare --net tests/own_network.sh tests/perf/mount.sh "$what" "$@"
fi
below=/dev/shm
[ "$what" = daily ] && below=${DIR:-/var/tmp}
dir=$(mktemp -d "$below/ddio-perf.XXXXXX") || exit 2
. tests/perf/gluster.sh
dirs=()
load=()

finish() {
	trap - EXIT
	local m
	[ ${#load[@]} -gt 0 ] && kill "${load[@]}"
	for m in ddio example pass; do
		mountpoint -q "$dir/$m" && umount "$dir/$m"
	done
	gluster_stop
	[ -e "$dir/c/ddio.conf" ] && "$build/ddio" stop --dir "$dir/c" >/dev/null
	rm -rf --one-file-system "$dir"
}
trap finish EXIT
trap 'exit 143' TERM INT
skip() {
	echo "skipped: $*"
}
# soon COMMAND...: retries until the command succeeds, for at most 20 seconds
soon() {
	local n
	for ((n = 0; n < 200; n++)); do "$@" && return; sleep 0.1; done
	return 1
}

mount_ddio() {
	local disks=(--engine mem --disk-size 512M)
	[ "$what" = daily ] && disks=()
	mkdir "$dir/ddio"
	"$build/ddio" start --dir "$dir/c" "${disks[@]}" --iops "${IOPS:-4}" \
		--cache "${CACHE:-64M}" >/dev/null && "$build/ddiofs" "$dir/c/ddio.conf" "$dir/ddio" || exit 1
	dirs+=("$dir/ddio")
	[ "$what" = daily ] && return
	# The first access to memory costs as much again, so touch all of the disks' memory.
	dd if=/dev/zero of="$dir/ddio/fill" bs=1M 2>/dev/null
	rm "$dir/ddio/fill"
}
mount_example() {
	local source=/usr/share/doc/libfuse3-dev/examples/passthrough_ll.c
	[ -e $source ] || { skip "no $source (libfuse3-dev)"; return; }
	mkdir "$dir/example" "$dir/example.src"
	# shellcheck disable=SC2046
	${CC:-cc} -O2 -o "$dir/passthrough_ll" $source $(pkg-config --cflags --libs fuse3) || exit 1
	"$dir/passthrough_ll" -o source="$dir/example.src" "$dir/example" || exit 1
	soon mountpoint -q "$dir/example" && dirs+=("$dir/example")
}
mount_pass() {
	[ -x "$build/tests/fuse/passfs" ] || { skip "no passfs: make helper-bins"; return; }
	mkdir "$dir/pass" "$dir/pass.src"
	"$build/tests/fuse/passfs" "$dir/pass.src" "$dir/pass" || exit 1
	dirs+=("$dir/pass")
}
mount_gluster() {
	gluster_start && dirs+=("$dir/gluster")
}

mount_ddio
mount_example
[ "$what" = daily ] || mount_pass
case $what in names | all) mount_gluster ;; esac
[ -n "${LOADED:-}" ] && for _ in 1 2; do
	while :; do :; done &
	load+=($!)
done
[ "$what" = all ] && what=data,names
"$build/ddio" bench --mount "$(IFS=,; echo "${dirs[*]}")" -q --works "$what" "$@"
