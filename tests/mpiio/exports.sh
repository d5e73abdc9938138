#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# exports.sh LIBRARY MPI: whether libddio_mpiio exports all by which a program comes to files in an MPI (mpich, openmpi) that is
# installed: the functions of files and those that ask for requests, by the names of C, which Fortran's functions call, too; and by the
# names of Fortran those with a count of MPI_COUNT_KIND, which call none of these.
set -u
library=${1:?libddio_mpiio.so} passed=0 missing=()
case ${2:?mpich or openmpi} in
mpich) c=libmpich.so.12 fortran=libmpichfort.so.12 ;;
*) c=libmpi.so.40 fortran=libmpi_usempif08.so.40 ;;
esac
# Conversions and error handlers are the MPI's own: a file of ddio has those of its ticket.
own='P?MPI_File_(c2f|f2c|(call|create|get|set)_errhandler)'
calls='P?MPI_(File_.*|Wait(all|any|some)?|Test(all|any|some)?|Request_(free|get_status.*)|Register_datarep.*)'
large='(mpi|pmpir?|ompi)_file_.*_(c_f08|f08_c)(ts)?_?'

names() { nm -D --defined-only "$1" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u; }
# names_of LIBRARY PATTERN: those of an MPI's library
names_of() { names "$(ldconfig -p | awk -v lib="$1" '$1 == lib { print $NF; exit }')" | grep -xE "$2" | grep -vxE "$own"; }

ours=$(names "$library") || exit 2
for name in $(names_of $c "$calls") $(names_of $fortran "$large"); do
	if grep -qx "$name" <<<"$ours"; then passed=$((passed + 1)); else missing+=("$name"); fi
done
[ ${#missing[@]} -eq 0 ] || echo "exports: ${library##*/} has not, of $2: ${missing[*]}"
echo "$passed passed, ${#missing[@]} failed, 0 skipped"
[ ${#missing[@]} -eq 0 ] && [ $passed -gt 100 ]
