# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the shell tests share: KTAP, a null_blk disk of their own, and the end.
#
# A test sources this, calls plan and then ok or not_ok, and ends with finish.

kt_n=0
kt_failed=0
kt_null=

skip_all() {
	echo "TAP version 13"
	echo "1..0 # SKIP $*"
	exit 4
}

plan() {
	echo "TAP version 13"
	echo "1..$1"
}

ok() {
	kt_n=$((kt_n + 1))
	echo "ok $kt_n $*"
}

not_ok() {
	kt_n=$((kt_n + 1))
	kt_failed=1
	echo "not ok $kt_n $*"
}

# check NAME COMMAND ...: a case that passes if the command succeeds
check() {
	kt_name=$1
	shift
	if "$@"; then ok "$kt_name"; else not_ok "$kt_name"; fi
}

finish() {
	[ $kt_failed = 0 ] && exit 0
	exit 1
}

need_root() {
	[ "$(id -u)" = 0 ] || skip_all "only root may do this"
}

# null_disk MEGABYTES [ATTRIBUTE=VALUE ...]: sets $disk; the caller calls null_gone at the end
null_disk() {
	kt_null=/sys/kernel/config/nullb/ktsh$$
	modprobe -q null_blk nr_devices=0
	[ -d /sys/kernel/config/nullb ] || mount -t configfs configfs /sys/kernel/config 2>/dev/null
	mkdir "$kt_null" 2>/dev/null || return 1
	echo "$1" >"$kt_null/size"
	shift
	for kt_a in memory_backed=1 "$@"; do
		echo "${kt_a#*=}" >"$kt_null/${kt_a%%=*}" || return 1
	done
	echo 1 >"$kt_null/power" || return 1
	disk=/dev/nullb$(cat "$kt_null/index")
	[ -e "/sys/block/ktsh$$" ] && disk=/dev/ktsh$$
	for kt_a in 1 2 3 4 5 6 7 8 9 10; do
		[ -b "$disk" ] && return 0
		sleep 0.1
	done
	return 1
}

null_gone() {
	[ -n "$kt_null" ] || return 0
	echo 0 >"$kt_null/power"
	rmdir "$kt_null"
	kt_null=
}
