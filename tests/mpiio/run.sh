#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh mpich|openmpi DIR_OR_PREFIX [PROGRAM...]: runs the programs that make mpiio-tests has built for that
# MPI, on files in the directory or with names that begin with the prefix ("ddio:"), and adds up what they
# count.  Of the environment:
#
#   N=2           ranks; PRELOAD=LIBRARY  for the ranks alone; OPTIONS=--ddio  for the programs
#   BOUND=300     seconds for each program; TYPES=3000  SEED=1  for random_views
#   BUILD=build   where the programs are; VERBOSE=1 prints what passes, too
set -u
here=$(cd "$(dirname "$0")" && pwd)
mpi=${1:?mpich or openmpi} where=${2:?a directory or a prefix}
shift 2
bin=$(cd "${BUILD:-$here/../../build}/tests/mpiio/$mpi" && pwd) || exit 2
case $where in
[!/]*:*) ;;
*) mkdir -p "$where" && where=$where/ || exit 2 ;;
esac
all='functions random_views patterns starved hdf5 pnetcdf netcdf fortran_f08 fortran_large fortran_mpi fortran_h cxx mpi4py_io h5py_io'
[ $# -gt 0 ] || set -- $all
N=${N:-2} passed=0 failed=0 skipped=0

. "$here/launch.sh"

# command_of PROGRAM: sets cmd, or fails if it is not here
command_of() {
	case $1 in
	*_io) cmd=(/usr/bin/python3 "$here/python/$1.py") && python_mpi &&
		/usr/bin/python3 -c "import ${1%_io}" 2>/dev/null ;;
	*) cmd=("$bin/$1") && [ -x "$bin/$1" ] ;;
	esac
}

# shellcheck disable=SC2086
run() {
	local p=$1 args=() out rc count
	if ! command_of "$p"; then
		echo "skip - $mpi/$p: not here"
		skipped=$((skipped + 1))
		return
	fi
	[ "$p" != random_views ] || args=("${TYPES:-3000}" "${SEED:-1}")
	# Fortran's and Python's programs take the last argument for the file's name.
	out=$(launch "${cmd[@]}" ${OPTIONS:-} "$where$p.$mpi" "${args[@]}" 2>&1 </dev/null)
	rc=$?
	count=$(grep -a '^[0-9]* passed, [0-9]* failed, [0-9]* skipped$' <<<"$out" | tail -1)
	if [ -n "${VERBOSE:-}" ]; then
		sed "s|^|$mpi/$p: |" <<<"$out"
	else
		grep -a '^not ok' <<<"$out" | sed "s|^|$mpi/$p: |"
	fi
	if [ -z "$count" ]; then
		echo "not ok - $mpi/$p: ended with $rc and no count"
		tail -5 <<<"$out" | sed 's/^/# /'
		failed=$((failed + 1))
		return
	fi
	read -r a _ b _ c _ <<<"$count"
	passed=$((passed + a)) failed=$((failed + b)) skipped=$((skipped + c))
	[ $rc -eq 0 ] || [ "$b" -gt 0 ] || {
		echo "not ok - $mpi/$p: ended with $rc"
		failed=$((failed + 1))
	}
	# The reason, where it does not apply.
	[ "$((a + b))" -gt 0 ] || grep -a '^skip - ' <<<"$out" | sed "s|^skip - |skip - $mpi/|"
	echo "# $mpi/$p: $count"
}

for p; do run "$p"; done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
