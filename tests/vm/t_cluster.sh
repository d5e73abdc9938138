#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 420
# End to end: ddiod serves four hp97560 disks, four processes read and write every
# pattern by every method, and every byte is compared.  Once with the engine of
# /dev/ddio, once with libaio: what one has written the other reads.
set -u
cd "$(dirname "$0")/../.." || exit 2
ddio=build/ddio ddiod=build/ddiod
[ -x $ddio ] && [ -x $ddiod ] || { echo "SKIP build/ddio is not there"; exit 77; }
dir=$(mktemp -d)
daemon=
n=0 failed=0

ok() { n=$((n + 1)); echo "ok $n $*"; }
not_ok() { n=$((n + 1)); failed=1; echo "not ok $n $*"; return 1; }
check() {
	local what=$1
	shift
	if "$@"; then ok "$what"; else not_ok "$what"; fi
}

finish() {
	stop_daemon
	rm -rf "$dir"
	exit $failed
}
trap finish EXIT

disks() {
	rmmod hp97560 2>/dev/null
	modprobe hp97560 nr_devices=4 time_scale=0 || { not_ok "four disks"; exit 1; }
	ls /dev/hp97560_[0-3] >/dev/null || { not_ok "four devices"; exit 1; }
}

# configure ENGINE
configure() {
	local i
	{
		printf '[cluster]\nname = vm\nblock = 8K\n'
		printf '[node io0]\naddress = 127.0.0.1:7400\nmeta = %s/meta\n' "$dir"
		for i in 0 1 2 3; do
			printf '[disk d%d]\nnode = io0\nengine = %s\npath = /dev/hp97560_%d\n' $i "$1" $i
		done
	} >"$dir/ddio.conf"
}

start_daemon() {
	$ddiod --conf "$dir/ddio.conf" --node io0 --foreground 2>>"$dir/log" &
	daemon=$!
	local i
	for i in $(seq 100); do
		$ddio ls --conf "$dir/ddio.conf" >/dev/null 2>&1 && return
		kill -0 $daemon 2>/dev/null || break
		sleep 0.2
	done
	sed 's/^/# /' "$dir/log"
	return 1
}

stop_daemon() {
	[ -n "$daemon" ] || return 0
	kill "$daemon" 2>/dev/null
	wait "$daemon"
	daemon=
}

# Rows of the benchmark that did not compare every byte, or asked more than once.
judge() {
	awk -F, '
		/^#/ { next }
		!n++ { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["verified"] != 1 { print "not verified: " $0; bad = 1 }
		$c["method"] ~ /DD/ && $c["requests"] != $c["iops"] { print "requests: " $0; bad = 1 }
		$c["method"] ~ /DD/ && $c["buffers"] > 2 { print "buffers: " $0; bad = 1 }
		{ seen[$c["method"]]++ }
		END { if (length(seen) != 4) { print "methods are missing"; bad = 1 } exit bad }' "$1"
}

bench() {
	$ddio bench --quiet --csv --output "$dir/out.csv" --conf "$dir/ddio.conf" --cps 4 \
		--records "$1" --size "$2" 2>"$dir/err" && return
	sed 's/^/# /' "$dir/err" "$dir/log"
	return 1
}

# modules a daemon uses: the count that lsmod shows
uses() { awk -v m="$1" '$1 == m { print $3 }' /proc/modules; }

engine_holds() {
	case $1 in
	kmod) [ "$(uses ddio)" -gt 0 ] ;;
	*) [ "$(uses ddio 2>/dev/null || echo 0)" -eq 0 ] ;;
	esac
}

modprobe ddio || { echo "SKIP ddio was not built"; exit 77; }
disks
head -c 3000001 /dev/urandom >"$dir/one"
head -c 1999999 /dev/urandom >"$dir/two"
first=
for e in kmod aio; do
	configure $e
	: >"$dir/log"
	check "$e: daemon on four disks" start_daemon || exit
	check "$e: /dev/ddio is open as this engine wants" engine_holds $e
	for r in 8 8192; do
		size=$([ $r = 8 ] && echo 128K || echo 1M)
		if bench $r $size; then
			check "$e: every pattern and method, records of $r: $(grep -vc '^#' "$dir/out.csv") rows" \
				judge "$dir/out.csv"
		else
			not_ok "$e: bench with records of $r"
		fi
	done
	if [ -z "$first" ]; then
		check "$e: import" $ddio import --conf "$dir/ddio.conf" "$dir/one" one
		first=$e
	else
		check "$e reads what $first wrote" \
			cmp "$dir/one" <($ddio export --conf "$dir/ddio.conf" one -)
		check "$e: import" $ddio import --conf "$dir/ddio.conf" "$dir/two" two
	fi
	stop_daemon
done
configure kmod
check "kmod: daemon again" start_daemon
check "kmod reads what aio wrote" cmp "$dir/two" <($ddio export --conf "$dir/ddio.conf" two -)
check "kmod reads what it wrote before" cmp "$dir/one" <($ddio export --conf "$dir/ddio.conf" one -)
check "fsck" $ddio fsck --conf "$dir/ddio.conf"
stop_daemon
check "nobody holds ddio any more" [ "$(uses ddio)" = 0 ]
rmmod hp97560 || not_ok "the disks do not go"
