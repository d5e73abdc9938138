#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 360
# MPI programs of each kind on a cluster whose connections are encrypted and that tells users apart.  What users may is in mount_users.sh.
plain=1
export SECURITY=tls DISK_SIZE=1G
. "$(dirname "$0")/lib_users.sh"
. "$(dirname "$0")/lib_mpiio.sh"
if [ ! -e /dev/fuse ]; then
	echo "skipped: mounts need /dev/fuse"
	exit 77
fi
mkdir "$dir/m"
trap 'umount -l "$dir/m" 2>/dev/null; munge_stop; finish' EXIT
check "it speaks TLS" grep -q '^security = tls$' "$DDIO_CONF"
check "it tells users apart" grep -q '^users = munge$' "$DDIO_CONF"
"$build/ddiofs" -f "$DDIO_CONF" "$dir/m" >"$dir/m.log" 2>&1 &
mount=$!
check "mount" soon grep -q " $dir/m fuse.ddio " /proc/self/mounts

for mpi in mpich openmpi; do
	if ! command -v "mpiexec.$mpi" >/dev/null || [ ! -x "build/tests/mpiio/$mpi/functions" ]; then
		skipped=$((skipped + 1))
		echo "skipped: $mpi is not installed"
		continue
	fi
	export DDIO_JOB=$mpi
	programs "$mpi, mount" TYPES=100 OPTIONS=--ddio tests/mpiio/run.sh $mpi "$dir/m" functions random_views hdf5 pnetcdf netcdf \
		fortran_f08 fortran_h cxx mpi4py_io h5py_io
	programs "$mpi, ddio:, patterns" N=4 tests/mpiio/run.sh $mpi ddio: patterns
	check "$mpi: they are served by ddio" test "$(moved_by $mpi)" -gt 0
done
check "umount" umount "$dir/m"
wait $mount
check "fsck" "$ddio" fsck
