#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# The Python package: its types, its cases against a cluster, groups over MPI, the wheel, the example with its picture.
. "$(dirname "$0")/lib.sh"
python=/usr/bin/python3
if ! $python -c 'import numpy, setuptools, wheel' 2>/dev/null; then
	echo "SKIP: no python3-numpy, python3-setuptools or python3-wheel here"
	exit 77
fi
# Python is not built with a sanitizer: it loads the plain library; the daemons have them.
export DDIO_LIBRARY=$top/build/libddio.so.0 PYTHONDONTWRITEBYTECODE=1

fails "without libddio it says what is missing" "ImportError: ddio needs libddio.*install it.*DDIO_LIBRARY" \
	env DDIO_LIBRARY=libddio-none.so PYTHONPATH=userlib/python $python -c 'import ddio'
fails "what is no libddio, too" "ImportError: libm.so.6 is of another version" \
	env DDIO_LIBRARY=libm.so.6 PYTHONPATH=userlib/python $python -c 'import ddio'

# cases MODULE...: each case counts
cases() {
	local p f
	in_time 120 $python -W error::ResourceWarning tests/python/run.py "$@" >"$dir/said" 2>&1
	read -r p f < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$dir/said")
	if [ -z "${p:-}" ]; then
		not_ok "$*: no result: $(tail -n 3 "$dir/said")"
		return
	fi
	passed=$((passed + p)) failed=$((failed + f))
	grep -A12 '^FAILED' "$dir/said"
	echo "$*: $p passed, $f failed"
}
# what COMMAND: passes if it succeeds, is skipped if the module is not there
with_module() {
	local module=$1 what=$2
	shift 2
	if $python -c "import $module" 2>/dev/null; then check "$what" "$@"; else
		skipped=$((skipped + 1))
		echo "skipped: $what: no $module here"
	fi
}
# All that follows uses what is in the wheel, and nothing else of the tree.
check "make wheel" make -s wheel
check "the wheel is for every Python and machine, and has its types" test "$(cd build && $python -m zipfile -l ddio-*-py3-none-any.whl |
	grep -c '^ddio/\(__init__.py\|_abi.py\|py.typed\) ')" = 3
check "its version is the project's" test -e "build/ddio-$(sed -n 's/^VERSION := //p' Makefile)-py3-none-any.whl"
$python -m zipfile -e build/ddio-*-py3-none-any.whl "$dir/site"
export PYTHONPATH=$dir/site:$top/tests/python
in_venv() (
	# What is unpacked there would be taken for installed.
	unset PYTHONPATH
	wheel=$(echo "$top"/build/ddio-*-py3-none-any.whl)
	$python -m venv --system-site-packages "$dir/venv" && cd "$dir" && venv/bin/python -m pip -q install --no-index --no-deps "$wheel" &&
		venv/bin/python -c 'import ddio, sys; assert ddio.__file__.startswith(sys.prefix); ddio.Array(4)' &&
		venv/bin/python -m pip -q uninstall -y ddio && ! venv/bin/python -c 'import ddio' 2>/dev/null
)
with_module ensurepip "pip installs it into a virtual environment, and takes it away" in_venv
with_module mypy "the types are consistent" $python -m mypy --strict --cache-dir "$dir/mypy" "$dir/site/ddio"

check "start" start_cluster c --iops 3 --engine mem --disk-size 64M
cases test_abi test_distribution test_cluster test_query
over_mpi() {
	in_time 60 mpiexec.openmpi --allow-run-as-root --oversubscribe -n 4 $python tests/python/mpi.py >"$dir/mpi.out" 2>&1 &&
		grep -qx '4 of 4 ranks' "$dir/mpi.out"
}
with_module mpi4py "a group over mpi4py" over_mpi
picture() {
	in_time 60 $python tests/examples/matrix_columns.py waves.npy "$dir/waves.png" >"$dir/waves.out" &&
		grep -q '^320 x 480 doubles by 16 processes: 3 requests to 3 I/O processors' "$dir/waves.out" &&
		[ "$(head -c 4 "$dir/waves.png" | tail -c 3)" = PNG ]
}
with_module matplotlib "the example plots what 16 processes have read" picture
check "stop" stop_cluster c
