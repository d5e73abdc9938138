#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# Jobs on two machines, one of whose processes dies in the first open of a communicator, or before it: each of the others has an error.
# Others of its machine live: MPICH's proxy may end, and say nothing, when the output of the last one there is closed before its
# connection.  The machines are those of tests/machines.sh.  MPICH alone: Open MPI 4.1's launcher tells nobody of a process that has died elsewhere.
. "$(dirname "$0")/lib_machines.sh"
. tests/mpiio/launch.sh
if ! command -v mpiexec.mpich >/dev/null || [ ! -x build/tests/mpiio/mpich/killed_open ]; then
	echo "skipped: MPICH is not installed"
	exit 77
fi

# The node is on the first one.
conf_of() {
	cat <<-CONF
		[cluster]
		name = machines
		timeout = 3s
		key_file = /tmp/key
		[node io0]
		address = 10.99.0.1:7400
		meta = /tmp/io0
		[disk d0]
		node = io0
		engine = mem
		size = 256M
	CONF
}
begin() {
	local m key
	key=$(head -c 32 /dev/urandom | base64)
	for m in m1 m2; do
		conf_of | on $m "mount -t sysfs none /sys && (umask 077; echo $key >/tmp/key) && cat >/tmp/ddio.conf" || return
	done
	on m1 "mkdir /tmp/io0 && $top/build/ddiod --conf /tmp/ddio.conf --node io0 --pid-file /tmp/io0.pid --log-file /tmp/io0.log"
}
# job_of NAME PER_MACHINE RANKS ARGUMENT...: the launcher leaves the others alone when a process is killed, and its signal tells them nothing
job_of() {
	local name=$1 per=$2 n=$3
	shift 3
	on m1 "UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 DDIO_CONF=/tmp/ddio.conf DDIO_MPIIO_TIMEOUT=2 timeout $((20 * DDIO_PATIENCE)) \
		mpiexec.mpich -disable-auto-cleanup -launcher ssh -iface eth0 -hosts m1,m2 -ppn $per -n $n \
		-genv LD_PRELOAD $top/build/libddio_mpiio.so \
		bash -c 'trap \"\" USR1; \"\$@\"; exit 0' killed $top/build/tests/mpiio/mpich/killed_open $*" >"$dir/said.$name" 2>&1 </dev/null
}
# dies NAME PER_MACHINE RANKS RANK STEP: all others are told, and at once when they try again.
dies() {
	job_of "$1" "$2" "$3" "ddio:$1" "$4" "$5"
	[ "$(grep -c '^told: .*\(is lost\|has gone away\)' "$dir/said.$1")" = $(($3 - 1)) ] &&
		[ "$(grep -c '^again: .*gone away (0 s)' "$dir/said.$1")" = $(($3 - 1)) ] || { cat "$dir/said.$1"; return 1; }
}
# It is not of those that open the file.
outside() {
	job_of outside 2 3 ddio:outside 2 outside
	[ "$(grep -c '^opened' "$dir/said.outside")" = 2 ] || { cat "$dir/said.outside"; return 1; }
}

check "two machines" machines_start m1 m2
check "... and a node" begin
check "one is killed that does not open the file" outside
check "one of two on a machine is" dies beside 2 4 3 before
check "rank 0 is, while those of the other machine wait, too" dies root 2 4 0 before
for step in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do
	dies "step$step" 2 4 $((step % 2 * 3)) $step &
	steps="${steps:-} $!:$step"
	# Four at a time.
	[ $((step % 4)) != 2 ] || for s in $steps; do wait "${s%:*}" && echo "${s#*:}" >>"$dir/good"; done
	[ $((step % 4)) != 2 ] || steps=
done
check "one is killed in the first open, whatever it does then" test "$(sort -un "$dir/good" | wc -l)" = 14
