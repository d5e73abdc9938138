#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every test that there is for a virtual machine, run in it, in KTAP: the
# kernel selftests, then the scripts tests/vm/t_*.sh.
#
#   guest.sh [PATTERN ...]     selftests by their own patterns, e.g. 'ddio/*';
#                              scripts as 'vm/t_*'
cd /ddio || exit 1
selftests=() scripts=()
for p; do
	case $p in
	vm/*) scripts+=("${p#vm/}") ;;
	*) selftests+=("$p") ;;
	esac
done
failed=0 n=1000
# A kernel that looks at every access takes its time, too.
slow=$DDIO_PATIENCE
[ ! -e /sys/kernel/debug/kmemleak ] || slow=$((4 * DDIO_PATIENCE))
export DDIO_TIMEOUT="${DDIO_TIMEOUT:-$((240 * slow))}"

# Prints the seconds that the machine's processors have worked.
worked() { awk '/^cpu / { printf "%d\n", ($2 + $3 + $4 + $7 + $8) / 100 }' /proc/stat; }

wanted() {
	local p
	[ ${#scripts[@]} -gt 0 ] || [ ${#selftests[@]} -eq 0 ] || return 1
	[ ${#scripts[@]} -gt 0 ] || return 0
	for p in "${scripts[@]}"; do
		# shellcheck disable=SC2254
		case $1 in $p) return 0 ;; esac
	done
	return 1
}

if [ -x build/kselftest/run.sh ] && { [ $# -eq 0 ] || [ ${#selftests[@]} -gt 0 ]; }; then
	build/kselftest/run.sh "${selftests[@]}" || failed=1
fi
for t in tests/vm/t_*.sh; do
	[ "$t" != tests/vm/t_lib.sh ] || continue
	name=$(basename "$t" .sh)
	wanted "$name" || continue
	n=$((n + 1))
	began=$(date +%s) busy=$(worked)
	echo "# vm: $name"
	echo "ddio-kselftest: begin $name" >/dev/kmsg
	bound=$(sed -n '1,12s/^# timeout: *\([0-9]*\).*/\1/p' "$t")
	timeout -k 10 $((${bound:-300} * slow)) bash "$t" 2>&1 | tee /tmp/t.out | sed -u 's/^/# /'
	rc=${PIPESTATUS[0]}
	took="$(($(date +%s) - began)) s, $(($(worked) - busy)) cpu"
	case $rc in
	0) echo "ok $n vm: $name # $took" ;;
	77) echo "ok $n vm: $name # SKIP $(sed -n 's/^SKIP:* *//p' /tmp/t.out | tail -n 1)" ;;
	*) echo "not ok $n vm: $name # exit=$rc, $took"; failed=1 ;;
	esac
done
exit $failed
