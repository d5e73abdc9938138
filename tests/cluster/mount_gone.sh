#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# The file system with the name server's records goes away and comes back, as its disk was, and the machine stays up: what a
# sync said is durable is there, or the next sync of the file or directory fails.
#
#   ROUNDS=200 SEED=17 tests/cluster/mount_gone.sh
if [ -z "${DDIO_OWN_MOUNTS:-}" ]; then
	DDIO_OWN_MOUNTS=1 exec unshare -m "$0" "$@"
fi
. "$(dirname "$0")/lib_mount.sh"
rounds=${ROUNDS:-4} seed=${SEED:-1}
records=$dir/c/io0

# on KIND: the records of the name server get a file system of their own
on() {
	truncate -s 400M "$dir/$1.img" && "mkfs.$1" -q "$dir/$1.img" && mv "$records" "$records.old" &&
		mkdir "$records" && mount -o loop "$dir/$1.img" "$records" && cp -a "$records.old/." "$records"
}
start_names() {
	"$build/ddiod" --conf "$DDIO_CONF" --node io0 --pid-file "$dir/c/io0.pid" --log-file "$dir/c/io0.log"
}
say() {
	echo "$*" >&"${prog[1]}" && read -r answer <&"${prog[0]}"
}
# come_back KIND: the daemon dies, and what its disk has is mounted again
come_back() {
	local p
	p=$(cat "$dir/c/io0.pid")
	say down "$records" && kill -9 "$p" && soon_gone "$p" && soon umount "$records" &&
		mount -o loop "$dir/$1.img" "$records" && start_names
}
try() {
	say work && come_back "$1" && say check
}
kind() {
	local i kept=0 told=0
	command -v "mkfs.$1" >/dev/null || {
		echo "skipped: there is no mkfs.$1"
		skipped=$((skipped + 1))
		return
	}
	start_cluster c --iops 2 --disk-size 64M || return 1
	stop_cluster c
	on "$1" && start_names && "$build/ddiod" --conf "$DDIO_CONF" --node io1 --pid-file "$dir/c/io1.pid" \
		--log-file "$dir/c/io1.log" && mount_at m hard || {
		not_ok "$1: the cluster starts"
		return
	}
	coproc prog { exec tests/helpers/gone.py "$dir/m" "$seed"; }
	for ((i = 0; i < rounds; i++)); do
		answer=
		try "$1"
		case $answer in
		kept) kept=$((kept + 1)) ;;
		told) told=$((told + 1)) ;;
		*)
			not_ok "$1: round $i of seed $seed: ${answer:-no answer}"
			tail -5 "$dir/c/io0.log"
			return
			;;
		esac
	done
	eval "exec ${prog[1]}>&-"
	# shellcheck disable=SC2154 # of the coprocess
	wait "$prog_PID" 2>/dev/null
	check "$1: $rounds rounds, $kept kept, $told told" [ $((kept + told)) = "$rounds" ]
	check "$1: consistent" "$ddio" fsck
	check "$1: unmounted" unmount m
	stop_cluster c
	umount "$records" && rm -rf "${dir:?}/c"
}
[ -e /dev/loop-control ] || {
	echo "skipped: there are no loop devices"
	exit 77
}
kind ext4
kind xfs
