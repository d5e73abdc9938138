#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every header compiles alone; the public ones also as C++ and as strict C99 with POSIX.
set -u
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0 skipped=0
try() {
	if "$@"; then passed=$((passed + 1)); else
		echo "headers: failed: $*"
		failed=$((failed + 1))
	fi
}
inc="-Iinclude -Iuserlib -Ikmod/shared -I."
for h in include/ddio/*.h; do
	try gcc -std=c99 -D_POSIX_C_SOURCE=200809L -pedantic -Wall -Wextra -Werror $inc -fsyntax-only -x c "$h"
	try g++ -Wall -Wextra -Werror $inc -fsyntax-only -x c++ "$h"
done
alone() {
	try gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror $inc "$@" -fsyntax-only -x c "$h"
}
# Those of the back ends, with the headers of an MPI, if one is here.
mpi=$(for m in mpich openmpi; do mpicc.$m -show 2>/dev/null; done | tr ' ' '\n' | sed -n 's/^-I/-isystem /p' | head -n 1)
for h in $(find userlib kmod/shared tools -name '*.h' | sort); do
	case $h in
	userlib/mpiio/abi/* | userlib/mpiio/data/* | userlib/mpiio/team/*)
		if [ -n "$mpi" ]; then
			alone $mpi
		else
			echo "skip: $h: no MPI here"
			skipped=$((skipped + 1))
		fi
		;;
	*) alone ;;
	esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
