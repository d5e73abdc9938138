#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a small collective, a barrier, and the calls around them cost in messages, system calls and wake-ups:
#
#   tests/perf/counts.sh [CALLS [WAY]]
#
# For 4 and 16 processes, 1 KB and 64 KB: what CALLS (1000) more of each call add on a cluster of $IOPS I/O processors (4)
# with disks in memory ("dds-": by that method, however small it is; "open": ddio_open_all() and ddio_close(); "file": a new small
# file, opened, written and closed; "group": made and freed), as perf counts them (root), divided by CALLS and by
# processes; those of members and of daemons apart.  With WAY tcp all messages go through sockets ("channels = no"), else through
# memory.
# "send" and "receive" are the calls on sockets, "bell" those that wake a reactor that waits for memory, "sleep" those that wait
# for the next event for as long as it takes, "look" those that do not, "yield" what lies between looks, "futex" waking and being
# woken between threads, "woken" how often a thread that slept was woken.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/perf/lib.sh
calls=${1:-1000} way=${2:-memory}
want_numbers "$calls"
alone "$@"

names=(send bell receive sleep look yield futex all woken)
events=syscalls:sys_enter_sendmsg,syscalls:sys_enter_sendto,syscalls:sys_enter_recvmsg,syscalls:sys_enter_epoll_pwait,syscalls:sys_enter_epoll_wait
events+=,syscalls:sys_enter_sched_yield,syscalls:sys_enter_futex,raw_syscalls:sys_enter,sched:sched_wakeup

# counted FILE COMMAND...: how often each event came in the command and what it starts
counted() {
	local out=$1
	shift
	perf stat -x, -o "$out" -e "$events" -- "$@"
}
# once PROCESSES BYTES CALL TIMES: a cluster's whole life, into $dir/all and $dir/members
once() {
	# shellcheck disable=SC2016
	counted "$dir/all" bash -c '
		"$0/ddio" start --dir "$1/c" --engine mem --disk-size 512M --iops "${IOPS:-4}" --cache 64M >/dev/null &&
		{ [ "$3" = memory ] || sed -i "/^\[cluster\]/a channels = no" "$1/c/ddio.conf"; } &&
		perf stat -x, -o "$1/members" -e "$2" -- "$0/tests/perf/bench_calls" --repeat "$1/c/ddio.conf" \
			127.0.0.1:19000 "${@:4}" >/dev/null &&
		"$0/ddio" stop --clean --dir "$1/c" >/dev/null' "$build" "$dir" "$events" "$way" "$@" || exit 1
}
numbers() {
	awk -F, '!/^#/ && NF > 2 { printf "%s ", $1 }' "$1"
}
# row PROCESSES BYTES CALL
row() {
	local few many
	once "$@" 100
	few="$(numbers "$dir/members") $(numbers "$dir/all")"
	once "$@" $((100 + calls))
	many="$(numbers "$dir/members") $(numbers "$dir/all")"
	echo "$few $many" | awk -v head="$*" -v n=$((calls * $1)) -v events=${#names[@]} '{
		for (w = 0; w < 2; w++) {
			printf "%-24s %-8s", head, w ? "daemons" : "members"
			for (e = 1; e <= events; e++) {
				members = $(2 * events + e) - $e
				all = $(3 * events + e) - $(events + e)
				printf " %8.2f", (w ? all - members : members) / n
			}
			print ""
		}
	}'
}

printf '%-24s %-8s' "processes bytes call" ""
printf ' %8s' "${names[@]}"
echo
for procs in 4 16; do
	for bytes in 1024 65536; do
		for call in write dds-write read dds-read; do
			row $procs $bytes $call
		done
	done
	for call in barrier open file group; do
		row $procs 1024 $call
	done
done
