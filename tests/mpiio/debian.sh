#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# debian.sh [SUITE]: builds libddio_mpiio for the MPIs of another Debian (trixie, unless said otherwise) in a root that
# debootstrap makes, and runs the tests of MPI-IO there on a cluster, by names that begin with "ddio:".  Needs root and
# 3 GB below TMPDIR; takes minutes.  The mirror is this machine's; DDIO_MIRROR=URL names another.
set -u
cd "$(dirname "$0")/../.." || exit 2
suite=${1:-trixie}
# shellcheck disable=SC2016 # apt replaces it
mirror=${DDIO_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)}
dir=$(mktemp -d "${TMPDIR:-/tmp}/ddio-debian.XXXXXX") || exit 2
root=$dir/root
clean() {
	umount "$root/dev/shm" "$root/dev" "$root/proc" 2>/dev/null
	rm -rf --one-file-system "$dir"
}
trap clean EXIT
die() {
	echo "debian.sh: $*" >&2
	exit 1
}
inside() { chroot "$root" env -u TMPDIR -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C "$@"; }

debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$dir/log" 2>&1 || die "debootstrap: $(tail -n 1 "$dir/log")"
mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" && mount -t tmpfs tmpfs "$root/dev/shm" || die "cannot mount"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null
apt-config dump | grep '^Acquire::' >"$root/etc/apt/apt.conf.d/90machine"
mkdir "$root/ddio"
git archive HEAD | tar -x -C "$root/ddio"
packages='mpich libmpich-dev openmpi-bin libopenmpi-dev gfortran git iproute2'
inside sh -c "apt-get update -qq && cd /ddio && apt-get install -y -qq --no-install-recommends make $packages &&
	tools/install-deps.sh build" >"$dir/log" 2>&1 || die "packages: $(tail -n 3 "$dir/log")"
inside dpkg-query -W -f '${Package} ${Version}\n' libmpich-dev libopenmpi-dev
inside make -C /ddio -j"$(nproc)" all mpiio-tests >"$dir/log" 2>&1 || die "build: $(grep -m 3 -E 'error:|\*\*\*' "$dir/log")"
# In a network of its own, where nothing but lo is.
cat >"$root/run.sh" <<-'RUN'
	ip link set lo up
	cd /ddio || exit 2
	build/ddio start --dir /cluster --iops 2 --disks 2 --engine mem --disk-size 1G >/dev/null || exit 2
	export DDIO_CONF=/cluster/ddio.conf PRELOAD=/ddio/build/libddio_mpiio.so
	rc=0
	for mpi in mpich openmpi; do
		tests/mpiio/exports.sh $PRELOAD $mpi || rc=1
		OPTIONS=--ddio tests/mpiio/run.sh $mpi ddio: functions random_views patterns cxx fortran_f08 fortran_large fortran_mpi fortran_h || rc=1
		# Files that are not ddio's.
		tests/mpiio/run.sh $mpi /plain fortran_large || rc=1
	done
	build/ddio stop --dir /cluster >/dev/null
	exit $rc
RUN
unshare --net chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C bash /run.sh
