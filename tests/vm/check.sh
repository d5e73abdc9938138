#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 1200
#
# Every test for virtual machines on one kernel, counted as tests/run.sh does.
#
#   tests/vm/check.sh KERNEL [PATTERN ...]
#   tests/vm/check.sh KERNEL modules    the selftests, and end to end by the kernel engine
#   tests/vm/check.sh KERNEL system     what runs on top of the modules, which the kernel matters less to
#
# The selftests' variables (tests/kselftest/README) go through.
set -u
. "$(dirname "$0")/lib.sh"

[ $# -ge 1 ] || die "usage: check.sh KERNEL [PATTERN ...]"
label=$(kernel_label "$1") || exit 1
shift
name=check-$label
bound=1100
case ${1:-} in
# On its kernel the system's tests have the ends, and what is random has all its rounds.  The others take 1 round of
# 3 to 5, half of the fuzzer's calls and of the kills (a tenth of those of test_joint), four of the
# patterns, and not by the engine that does without the module, random blocks of members only by test_scatter, and of the disk's
# tests those of its module, its timing and a file system on it; the module is loaded 10 or 25 times instead of 100: the modules'
# own logic is the same on each kernel, and what differs, the kernel's interfaces, every round meets.  $FULL=1: all of them on each.
modules)
	if [ -z "${FULL:-}" ]; then
		: "${DDIO_LOADS:=$([ "$label" = 6.12 ] && echo 25 || echo 10)}"
		[ "$label" = 6.12 ] || : "${DDIO_ROUNDS:=1}" "${DDIO_KILLS:=10}" "${DDIO_CALLS:=3000}" \
			"${DDIO_PATTERNS:=ra,rcc,wb,wcb}"
	fi
	set -- '*/test_*' '*/fuzz_*' vm/t_cost
	[ "$label" = 6.12 ] || [ -n "${FULL:-}" ] || set -- 'ddio/*' hp97560/test_module.sh hp97560/test_filesystem.sh \
		hp97560/test_twin vm/t_cost
	[ "$label" = 6.12 ] || set -- "$@" vm/t_cluster
	[ "$label" = 6.12 ] || [ -z "${FULL:-}" ] || set -- "$@" vm/t_scatter
	;;
system)
	# Half of the patterns, of each kind some.
	[ -n "${FULL:-}" ] || : "${DDIO_PATTERNS:=ra,rnb,rc,rcc,wn,wb,wcb,wbc}"
	set -- vm/t_engines vm/t_mount vm/t_cluster vm/t_scatter
	name=system
	;;
esac
if [ "$label" = debug ]; then
	bound=1800
	: "${DDIO_CALLS:=100000}"
fi

# Selftests for this machine's C library; they come along as they are.
mkdir -p "$top/build/kselftest"
flock "$top/build/kselftest" make -s -C "$top/tests/kselftest" -j"$(nproc)" OUTPUT="$top/build/kselftest" >&2 || {
	echo "the selftests do not build"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
}

out=$(mktemp)
trap 'rm -f "$out"' EXIT
for v in DDIO_SEED DDIO_ROUNDS DDIO_KILLS DDIO_CALLS DDIO_LOADS DDIO_TIMEOUT DDIO_COST DDIO_POSIX DDIO_PATTERNS; do
	[ -z "${!v:-}" ] || export "DDIO_VMENV_$v=${!v}"
done
"$vm_dir/run.sh" --kernel "$label" --mod "${MODULES:-all}" --name "$name" --timeout "$bound" \
	--cmd "tests/vm/guest.sh ${1+$(printf '%q ' "$@")}" | tee "$out"
rc=${PIPESTATUS[0]}
[ "$rc" -ne 77 ] || exit 77

# A test of several cases counts by its cases, one without by itself.
awk -v rc="$rc" '
	{ sub(/\r$/, "") }
	/^# (ok|not ok) [0-9]/ || /^# (ok|not ok):? / {
		cases++
		if ($2 == "not") { f++; bad++ } else if (/# SKIP/) s++; else p++
		next
	}
	/^(ok|not ok) [0-9]/ {
		if ($1 == "not") { if (!bad) f++ }
		else if (!cases) { if (/# SKIP/) s++; else p++ }
		cases = bad = 0
	}
	END {
		if (rc && !f) f++
		if (!(p + f)) { print "no test ran"; f++ }
		printf "%d passed, %d failed, %d skipped\n", p, f, s
		exit f > 0
	}' "$out"
