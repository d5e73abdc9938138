#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each of MPI's file functions that the library serves is called by a test in C and by one in Fortran, in both with a large count if it has one.
set -u
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0
c=$(cat tests/mpiio/functions/*.c) f=$(cat tests/mpiio/fortran/checks.f90 tests/mpiio/fortran/fortran_f08.f90)
large=$(cat tests/mpiio/fortran/fortran_large.F90)

# called NAME LANGUAGE TEXT
called() {
	if grep -q "\bMPI_File_$1(" <<<"$3"; then passed=$((passed + 1)); else
		echo "mpiio_calls: no test in $2 calls MPI_File_$1()"
		failed=$((failed + 1))
	fi
}
# listed LETTER: the functions of one list
listed() { sed -n "s/^#\?[ \t]*$1(\([a-z_]*\),.*/\1/p" userlib/mpiio/abi/functions.h; }

plain="open close delete $(listed F | xargs)" data=$(listed D | xargs) ends=$(listed E | xargs)
for name in $plain $data $ends; do
	called "$name" C "$c"
	called "$name" Fortran "$f"
done
for name in $data; do
	called "${name}_c" C "$c"
	called "$name" "Fortran with a large count" "$large"
done
# All of MPI 4.0 but conversions and error handlers, which are the MPI's own.
[ "$(wc -w <<<"$plain $data $ends")" -gt 50 ] || { echo "mpiio_calls: the lists were not found"; failed=$((failed + 1)); }
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
