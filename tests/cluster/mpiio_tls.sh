#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 360
# MPI programs of each kind on a cluster whose connections are encrypted and that tells users apart.  What users may is in mount_users.sh.
plain=1
export SECURITY=tls DISK_SIZE=1G
. "$(dirname "$0")/lib_users.sh"
. tests/mpiio/launch.sh
if [ ! -e /dev/fuse ]; then
	echo "skipped: mounts need /dev/fuse"
	exit 77
fi
# Open MPI's sockets have short names only.
export TMPDIR=$dir
mkdir "$dir/m"
trap 'umount -l "$dir/m" 2>/dev/null; munge_stop; finish' EXIT
check "it speaks TLS" grep -q '^security = tls$' "$DDIO_CONF"
check "it tells users apart" grep -q '^users = munge$' "$DDIO_CONF"
"$build/ddiofs" -f "$DDIO_CONF" "$dir/m" >"$dir/m.log" 2>&1 &
mount=$!
check "mount" soon grep -q " $dir/m fuse.ddio " /proc/self/mounts

# programs WHAT [VARIABLE=VALUE...] MPI DIR_OR_PREFIX PROGRAM...: each case of each program counts
programs() {
	local what=$1 p f s
	shift
	env PRELOAD="$top/build/libddio_mpiio.so" BOUND=$((60 * DDIO_PATIENCE)) DDIO_JOB="$mpi" "$@" >"$dir/said" 2>&1
	read -r p f s < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$dir/said" | tail -n 1)
	if [ -z "${p:-}" ]; then
		not_ok "$what: no result: $(tail -n 3 "$dir/said")"
		return
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	echo "$what: $p passed, $f failed, $s skipped"
	grep -a 'not ok\|^skip' "$dir/said"
}
for mpi in mpich openmpi; do
	if ! command -v "mpiexec.$mpi" >/dev/null || [ ! -x "build/tests/mpiio/$mpi/functions" ]; then
		skipped=$((skipped + 1))
		echo "skipped: $mpi is not installed"
		continue
	fi
	programs "$mpi, mount" TYPES=100 OPTIONS=--ddio tests/mpiio/run.sh $mpi "$dir/m" functions random_views hdf5 pnetcdf netcdf \
		fortran_f08 fortran_h cxx mpi4py_io h5py_io
	programs "$mpi, ddio:, patterns" N=4 tests/mpiio/run.sh $mpi ddio: patterns
	check "$mpi: they are served by ddio" test "$(moved_by $mpi)" -gt 0
done
check "umount" umount "$dir/m"
wait $mount
check "fsck" "$ddio" fsck
