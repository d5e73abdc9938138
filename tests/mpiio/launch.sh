# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Sourced: starts programs of either MPI.  $mpi is mpich or openmpi.

# Ranks may be more than processors, be root's, and live where the network is lo alone.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl=self,vader OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_plm_rsh_agent=false
export OMPI_MCA_orte_base_help_aggregate=0 OMPI_MCA_mpi_warn_on_fork=0 FI_PROVIDER=${FI_PROVIDER:-tcp}

# job SECONDS COMMAND...: runs it, and ends it (status 124) when it takes longer.  What is left of it then is killed, wherever
# a launcher has moved it to: by a mark in its environment.  Open MPI's has a folder of its own: launchers that begin and end at
# once would make and remove a common one under each other.
job() {
	local mark=$BASHPID.$SECONDS.$RANDOM rc pids base
	base=$(mktemp -d "${TMPDIR:-/tmp}/ddio-job.XXXXXX") && chmod 1777 "$base" || return 1
	DDIO_TEST_JOB=$mark OMPI_MCA_orte_tmpdir_base=$base timeout -k 5 "$@"
	rc=$?
	pids=$(grep -alsx -z "DDIO_TEST_JOB=$mark" /proc/[0-9]*/environ | sed 's|/proc/||; s|/environ||')
	# shellcheck disable=SC2086 # they are several
	[ -z "$pids" ] || kill -9 $pids 2>/dev/null
	rm -rf "$base"
	return $rc
}

# launch PROGRAM...: on $N ranks, with $PRELOAD and $PATIENT (patient.so, or nothing) for the ranks alone, for at most $BOUND seconds
launch() {
	local env=() preload=${PRELOAD:-}
	preload=${preload:+$preload }${PATIENT:-}
	if [ "$mpi" = mpich ]; then
		[ -z "$preload" ] || env=(-genv LD_PRELOAD "$preload")
		job "${BOUND:-300}" mpiexec.mpich -iface lo -n "$N" "${env[@]}" "$@"
	else
		[ -z "$preload" ] || env=(-x "LD_PRELOAD=$preload")
		job "${BOUND:-300}" mpiexec.openmpi -n "$N" "${env[@]}" "$@"
	fi
}

# Debian builds mpi4py and h5py for Open MPI.
python_mpi() {
	/usr/bin/python3 -c 'import sys, mpi4py.MPI as m; sys.exit(m.get_vendor()[0] != sys.argv[1])' \
		"$([ "$mpi" = mpich ] && echo MPICH || echo 'Open MPI')" 2>/dev/null
}
