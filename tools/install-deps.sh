#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Installs the Debian packages that ddio needs, as root or by sudo, and says which.
#   install-deps.sh build   what the programs and the demo need
#   install-deps.sh all     the same, and what the tests need
set -eu

build='gcc libc6-dev make pkg-config libaio-dev liblmdb-dev libinih-dev libssl-dev systemtap-sdt-dev gnuplot-nox
	libfuse3-dev fuse3'
check='git libcunit1-dev liblapacke-dev clang clang-format iproute2 curl mandoc g++ procps util-linux
	binutils perl-base shellcheck cppcheck codespell'
# The kernel modules: built, tried in virtual machines (also with a kernel built for it), packed.
check="$check qemu-system-x86 busybox-static kmod xz-utils lz4 debootstrap debian-archive-keyring
	linux-headers-cloud-amd64 linux-source flex bison bc libelf-dev sparse dkms
	munge libmunge-dev fio attr acl sqlite3 dmsetup e2fsprogs xfsprogs parted fdisk strace liburing-dev stress-ng dbench bonnie++ rsync"
# Programs of MPI-IO, for both MPIs and what is built upon them.
check="$check mpich libmpich-dev openmpi-bin libopenmpi-dev gfortran libhdf5-mpich-dev libhdf5-openmpi-dev
	libpnetcdf-dev libnetcdf-mpi-dev python3-mpi4py python3-h5py-mpi"
# The metrics and probes; the Python package and its example.
check="$check rpm rpmlint lintian bpftrace python3-prometheus-client python3-numpy python3-matplotlib python3-setuptools python3-wheel mypy"

want=$build
[ "${1:-build}" = all ] && want="$build $check"

missing=
for p in $want; do
	s=$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || true)
	[ "$s" = installed ] || missing="$missing $p"
done

# The sanitizers' and the fuzzer's run-time library is named after clang's version.
clang_rt() {
	v=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
	[ -n "$v" ] || return 0
	p=libclang-rt-$v-dev
	s=$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || true)
	[ "$s" = installed ] || echo "$p"
}

install() {
	if [ "$(id -u)" = 0 ]; then
		sudo=
	elif command -v sudo >/dev/null 2>&1; then
		sudo=sudo
	else
		echo "ddio: these packages are missing:$1" >&2
		echo "ddio: install them as root: apt-get install --no-install-recommends$1" >&2
		exit 1
	fi
	echo "ddio: installing$1"
	export DEBIAN_FRONTEND=noninteractive
	$sudo apt-get update -qq
	# shellcheck disable=SC2086
	$sudo apt-get install -y -qq --no-install-recommends $1 >/dev/null
}

if [ -n "$missing" ]; then
	command -v apt-get >/dev/null 2>&1 || {
		echo "ddio: no apt-get here; needed, by their Debian names:$missing" >&2
		exit 1
	}
	install "$missing"
fi
if [ "${1:-build}" = all ]; then
	rt=$(clang_rt)
	[ -z "$rt" ] || install " $rt"
fi
