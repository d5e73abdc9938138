#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
#
# The time of hp97560 disks beside the model, and the papers' figures on them, in a
# machine whose clock counts its instructions: what else this host does does not show.
#
#   tests/vm/timing.sh KERNEL timing      the disks' time
#   tests/vm/timing.sh KERNEL figures     the papers' figures, by a daemon with the kernel engine
set -u
. "$(dirname "$0")/lib.sh"

label=$(kernel_label "$1") || exit 1
case $2 in
timing) cmd='cd build/kselftest && hp97560/test_timing' ;;
figures) cmd=tests/vm/figures.sh ;;
*) die "usage: timing.sh KERNEL timing|figures" ;;
esac
mkdir -p "$top/build/kselftest"
flock "$top/build/kselftest" make -s -C "$top/tests/kselftest" OUTPUT="$top/build/kselftest" \
	"$top/build/kselftest/hp97560/test_timing" >&2 || exit 1
[ -z "${DDIO_FIGURES:-}" ] || export DDIO_VMENV_DDIO_FIGURES="$DDIO_FIGURES"
# One processor: QEMU's emulation of several in this mode does not get them started.
"$vm_dir/run.sh" --icount --smp 1 --kernel "$label" --mod hp97560 --no-disks --timeout 500 \
	--name "$2-$label" --cmd "$cmd"
rc=$?
out=$top/build/log/vm/$2-$label.out
[ $rc -ne 77 ] || exit 77
[ $rc -ne 4 ] || skip "$(sed -n 's/^1\.\.0 # SKIP //p' "$out")"
passed=$(grep -c '^ok ' "$out") failed=$(grep -c '^not ok ' "$out")
[ $rc -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
echo "$passed passed, $failed failed, 0 skipped"
[ $rc -eq 0 ]
