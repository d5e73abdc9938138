#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How soon the name server answers one mount while others do to it what they may:
#
#   tests/perf/prompt.sh [SECONDS [FILES]]     3 for each measurement; 20000 files in the name space
#
# One node holds the names and two disks, one of which takes 5 s for each request ("hung").  A mount whose
# attributes and names are valid for no time looks at files 200 times a second, and makes and removes some.  Beside it,
# in turn, five rounds each: nothing; ddio fsck over and over; another mount that takes and gives back 2,000 locks, with
# 32 processes that wait for one; 32 compute processes that form groups and read collectively; ten mounts that are
# stopped while they list a directory; a mount that writes to the hung disk and syncs; all of that.
# Prints the medians over the rounds of the median, the 99th percentile and the maximum in ms.
# Needs root, /dev/fuse and a machine without other work.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-$PWD/build}
secs=${1:-3} files=${2:-20000} rounds=${ROUNDS:-5}
[ "$(id -u)" = 0 ] && [ -e /dev/fuse ] || { echo "needs root and /dev/fuse"; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/ddio-prompt.XXXXXX") || exit 2
bench=$build/tests/perf/bench_prompt
pids=()

finish() {
	trap - EXIT
	beside_nothing
	local m
	for m in "$dir"/m*; do mountpoint -q "$m" && umount -l "$m"; done
	pkill -KILL -f "ddiofs .* $dir/m" 2>/dev/null
	kill -KILL "$(cat "$dir/c/io0.pid")" 2>/dev/null
	rm -rf --one-file-system "$dir"
}
trap finish EXIT
trap 'exit 143' TERM INT

mount_at() {
	mkdir "$dir/$1" && "$build/ddiofs" -o "soft,timeout=60s${2:+,$2}" "$DDIO_CONF" "$dir/$1" || exit 1
}
# beside COMMAND...: in a process group of its own, over and over
beside() {
	setsid bash -c 'while :; do "$@"; done' loop "$@" >>"$dir/beside.log" 2>&1 &
	pids+=($!)
}
beside_nothing() {
	local p
	for p in ${pids[@]+"${pids[@]}"}; do
		kill -CONT -- "-$p" 2>/dev/null
		kill -KILL -- "-$p" 2>/dev/null
		wait "$p" 2>/dev/null
	done
	pids=()
	pkill -CONT -f "ddiofs .* $dir/ms" 2>/dev/null
	return 0
}
check() { beside "$build/ddio" fsck; }
locks() { beside "$bench" locks "$dir/m1" 2000 32; }
groups() { beside "$build/tests/helpers/crowd" -n 32 -s 2097152 -r 8192 -f shared -c 20; }
unread() {
	local i
	for i in 0 1 2 3 4 5 6 7 8 9; do beside ls -l "$dir/ms$i/many"; done
	sleep 0.3
	pkill -STOP -f "ddiofs .* $dir/ms"
}
hung() { beside dd if=/dev/zero of="$dir/m2/slow/file" bs=64K count=64 conv=fsync; }
all() { check; locks; groups; unread; hung; }

mkdir "$dir/c"
"$build/ddio" start --dir "$dir/c" -e mem --iops 1 --disks 2 --disk-size 256M >/dev/null || exit 1
"$build/ddio" stop --dir "$dir/c" >/dev/null
export DDIO_CONF=$dir/c/ddio.conf
sed -i '/^\[disk d1\]/a options = delay_us=5000000' "$DDIO_CONF"
"$build/ddiod" --conf "$DDIO_CONF" --node io0 --pid-file "$dir/c/io0.pid" --log-file "$dir/c/io0.log" || exit 1
mount_at m0 attr_timeout=0,entry_timeout=0
mount_at m1
mount_at m2
for i in 0 1 2 3 4 5 6 7 8 9; do mount_at ms$i; done
mkdir "$dir/m0/slow"
setfattr -n ddio.disks -v 0 "$dir/m0" || exit 1
setfattr -n ddio.disks -v 1 "$dir/m0/slow" || exit 1
mkdir "$dir/m0/many" "$dir/m0/probe"
for ((i = 0; i < files; i++)); do : >"$dir/m0/many/f$i"; done
head -c 2097152 /dev/urandom | "$build/ddio" import -q -d 0 - shared || exit 1

median() { sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'; }
kinds="nothing check locks groups unread hung all"
for ((r = 0; r < rounds; r++)); do
	for k in $kinds; do
		[ $k = nothing ] || $k
		sleep 0.3
		"$bench" probe "$dir/m0/probe" "$secs" >>"$dir/$k.out" || echo "# $k: the probe failed"
		beside_nothing
	done
done
echo "# $(uname -r), $(nproc) processors; $files files; medians of $rounds rounds of $secs s"
printf '%-10s %8s %8s %8s %8s\n' beside answers 'median ms' '99 % ms' 'most ms'
for k in $kinds; do
	printf '%-10s' $k
	for c in 1 2 3 4; do printf ' %8s' "$(cut -d' ' -f$c "$dir/$k.out" | median)"; done
	echo
done
