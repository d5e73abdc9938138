#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# Jobs on two machines, one of whose processes dies in the first open of a communicator, or before it: each of the others has an error.
# With MPICH others of its machine live: its proxy may end, and say nothing, when the output of the last one there is closed before its
# connection.  With Open MPI others of the launcher's machine do.  The machines are those of tests/machines.sh.
. "$(dirname "$0")/lib_machines.sh"
. tests/mpiio/launch.sh
mpis=
for mpi in mpich openmpi; do
	! command -v mpiexec.$mpi >/dev/null || [ ! -x build/tests/mpiio/$mpi/killed_open ] || mpis="$mpis $mpi"
done
if [ -z "$mpis" ]; then
	echo "skipped: no MPI is installed"
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
# job_mpich PER_MACHINE RANKS PROGRAM...: the launcher leaves the others alone when a process is killed, and its signal tells them nothing
job_mpich() {
	echo "UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 mpiexec.mpich -disable-auto-cleanup -launcher ssh -iface eth0 -hosts m1,m2 \
		-ppn $1 -n $2 -genv LD_PRELOAD $top/build/libddio_mpiio.so bash -c 'trap \"\" USR1; \"\$@\"; exit 0' killed ${*:3}"
}
# job_openmpi PER_MACHINE RANKS PROGRAM...: by UCX, which does not see that a peer has gone, as TCP connections of Open MPI's own do
job_openmpi() {
	echo "UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 OMPI_MCA_pml=ucx OMPI_MCA_opal_common_ucx_tls=any OMPI_MCA_opal_common_ucx_devices=any OMPI_MCA_oob_tcp_if_include=eth0 \
		OMPI_MCA_plm_rsh_agent=/usr/local/bin/ssh mpiexec.openmpi --enable-recovery -H m1:$1,m2:$1 -n $2 \
		-x DDIO_CONF -x DDIO_MPIIO_TIMEOUT -x STAY -x LD_PRELOAD=$top/build/libddio_mpiio.so ${*:3}"
}
# job_of MPI NAME PER_MACHINE RANKS WORD ARGUMENT...: until all but one have said WORD, since Open MPI's launcher does not end then
job_of() {
	local name=$2 n=$4 word=$5 job
	job=$(job_"$1" "$3" "$4" "$top/build/tests/mpiio/$1/killed_open" "${@:6}")
	on m1 "export DDIO_CONF=/tmp/ddio.conf DDIO_MPIIO_TIMEOUT=$DDIO_PATIENCE STAY=$((20 * DDIO_PATIENCE))
		timeout $((20 * DDIO_PATIENCE)) env $job & p=\$!
		until [ \$(grep -c '^$word' /run/machines/said.$name) -ge $((n - 1)) ] || ! kill -0 \$p; do sleep 0.2; done 2>/dev/null
		sleep 0.5; kill \$p; wait \$p" >"$machines/said.$name" 2>&1 </dev/null
}
# dies MPI NAME PER_MACHINE RANKS RANK STEP: all others are told, and at once when they try again.
dies() {
	local name=$2 n=$4
	job_of "$1" "$name" "$3" "$n" again "ddio:$name" "$5" "$6"
	[ "$(grep -c '^told: .*\(is lost\|has gone away\)' "$machines/said.$name")" = $((n - 1)) ] &&
		[ "$(grep -c '^again: .*gone away (0 s)' "$machines/said.$name")" = $((n - 1)) ] || { cat "$machines/said.$name"; return 1; }
}
# outside MPI: it is not of those that open the file.
outside() {
	job_of "$1" "outside.$1" 2 3 opened "ddio:outside.$1" 2 outside
	[ "$(grep -c '^opened' "$machines/said.outside.$1")" = 2 ] || { cat "$machines/said.outside.$1"; return 1; }
}
# late MPI: nobody dies, whatever the shell that has started the launcher runs beside it: as many as the launcher's processes here.
late() {
	job_of "$1" "late.$1" 2 4 opened "ddio:late.$1" 3 late
	[ "$(grep -c '^opened' "$machines/said.late.$1")" -ge 3 ] && ! grep -q '^told' "$machines/said.late.$1" ||
		{ cat "$machines/said.late.$1"; return 1; }
}
# steps MPI STEP...: four at a time
steps() {
	local mpi=$1 step pids=() n=0
	shift
	for step in "$@"; do
		dies "$mpi" "step$step.$mpi" 2 4 $((step % 2 * 3)) "$step" && echo "$step" >>"$dir/good.$mpi" &
		pids+=($!)
		[ $((++n % 4)) != 0 ] || wait "${pids[@]}"
	done
	wait "${pids[@]}"
	[ "$(sort -un "$dir/good.$mpi" | wc -l)" = $# ]
}

check "two machines" machines_start m1 m2
check "... and a node" begin
for mpi in $mpis; do
	check "$mpi: one is killed that does not open the file" outside "$mpi"
	check "$mpi: one is late" late "$mpi"
	check "$mpi: one of two on a machine is" dies "$mpi" "beside.$mpi" 2 4 3 before
	check "$mpi: rank 0 is, while those of the other machine wait, too" dies "$mpi" "root.$mpi" 2 4 0 before
	check "$mpi: rank 0 is, and one of the other machine has not heard that all have come" dies "$mpi" "unheard.$mpi" 2 4 0 unheard
done
case $mpis in *mpich*) check "mpich: one is killed in the first open, whatever it does then" steps mpich 1 2 3 4 5 6 7 8 9 10 11 12 13 14 ;; esac
case $mpis in *openmpi*)
	check "openmpi: the only one on a machine is killed" dies openmpi alone.openmpi 2 3 2 before
	check "openmpi: one is killed in the first open" steps openmpi 2 4 7 9 11
	;;
esac
