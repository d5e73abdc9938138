#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs every test and counts.  A test is a program or a script; what it prints
# goes to build/log/.  The last line "N passed, N failed[, N skipped]" of its
# output is its count; a test without one counts as one.  Exit 77 is a skip
# whose reason is the last line.  A failed test's log is shown, and what failed
# is repeated at the end, above the count.  "12s 7 cpu" in a test's line: how long it took, and how much
# processor time it and the children that it waited for used.
#
#   tests/run.sh [--only 'GLOB ...'] [--except 'GLOB ...'] [--list]
#
# "# timeout: SECONDS" in a script's head, else 300, is more than an idle machine needs.  $DDIO_PATIENCE times
# as long is waited (tests/patience.sh), so that only what hangs fails; and no test runs on when $DDIO_WHOLE seconds
# have gone since the first began (3200), so that whoever ends the whole after an hour gets to know what hung.
#
# As many tests as there are processors run at a time, and two more where no virtual machine runs beside them,
# the longest first, as the bounds tell.  A cluster
# takes free ports, and what else connects at that moment could meet it: so cluster tests have a network
# namespace each, and where there are none they run one at a time, at the end.
# Virtual machines connect to nothing here: one of them runs beside everything, at a lower
# priority, and as many as there are processors when everything else is done.
#
# Random unit tests take a sixth of their rounds and sweeps every second to sixth case, simulated faults a third of their
# seeds, and machines with other kernels a part of their rounds, so that the whole is done within the hour on a slow machine;
# $FULL=1 has all of them, as make unit and make night do, and keeps no verdict.
#
# A machine's verdict is kept in build/kept/ and counts again, without a run, until an input of
# the machine changes (tests/vm/inputs.sh); the output says which were kept.  KEPT=no runs them all.
set -u
cd "$(dirname "$0")/.." || exit 2
top=$PWD
. tests/patience.sh
. tests/bounded.sh
only='*' but=
list=
while [ $# -gt 0 ]; do
	case $1 in
	--only) only=$2; shift 2 ;;
	--except) but=$2; shift 2 ;;
	--list) list=1; shift ;;
	*) echo "run.sh: unknown argument $1" >&2; exit 2 ;;
	esac
done
log=$top/build/log kept=$top/build/kept
if [ -n "${FULL:-}" ]; then KEPT=no; else export DDIO_UT_SHARE="${DDIO_UT_SHARE:-6}"; fi

unit_sources() {
	find tests/unit -name 'test_*.c' | sort
}

# in_memory SOURCE: what a unit program's command begins with.  Simulated nodes flush their records in each of thousands of
# lives, which takes a disk minutes; only what is about real files has them there.
in_memory() {
	case $1 in tests/unit/env/*) return ;; esac
	[ ! -w /dev/shm ] || echo "env TMPDIR=/dev/shm "
}

# name, then command, a line each
all_tests() {
	local t n
	# The kernel modules, in virtual machines with Debian's kernels: what takes longest begins first.
	echo "vm/system|tests/vm/check.sh 6.12 system"
	for t in 7.x 6.1 6.12; do
		echo "vm/$t|tests/vm/check.sh $t modules"
	done
	echo "vm/packages|tests/vm/packages.sh"
	echo "vm/dkms|tests/vm/dkms.sh"
	echo "vm/systemd|tests/vm/systemd.sh"
	echo "vm/figures|tests/vm/timing.sh 6.1 figures"
	echo "vm/timing|tests/vm/timing.sh 6.1 timing"
	for t in tests/tree/*.sh tests/tree/*.pl; do
		n=$(basename "$t")
		echo "tree/${n%.*}|$t"
	done
	for t in $(unit_sources); do
		n=$(basename "$t" .c)
		echo "unit/${n#test_}|$(in_memory "$t")build/asan/${t%.c}"
	done
	# Programs with threads run under ThreadSanitizer, too.
	for t in $(unit_sources); do
		grep -q '^/\* tsan' "$t" || continue
		n=$(basename "$t" .c)
		echo "tsan/${n#test_}|$(in_memory "$t")build/tsan/${t%.c}"
	done
	for t in tests/fuzz/fuzz_*.c; do
		t=$(basename "$t" .c)
		echo "fuzz/${t#fuzz_}|tests/fuzz/run.sh $t"
	done
	for t in tests/sim/*.sh; do
		echo "sim/$(basename "$t" .sh)|$t"
	done
	for t in tests/cluster/*.sh; do
		case $t in */lib.sh | */lib_*.sh) continue ;; esac
		[ -e "$t" ] && echo "cluster/$(basename "$t" .sh)|$t"
	done
}

own_network() {
	case $1 in
	tests/cluster/*) [ -n "$networks" ] ;;
	*) false ;;
	esac
}
# bound_of COMMAND: seconds, as its script's head says
bound_of() {
	local n
	n=$(sed -n '1,12s/^# timeout: *\([0-9]*\).*/\1/p' "${1%% *}" 2>/dev/null | head -n 1)
	echo "${n:-300}"
}

# matches NAME GLOBS
matches() {
	local g globs
	# Not "for g in $2": the shell would take the patterns for files.
	read -ra globs <<<"$2"
	for g in ${globs[@]+"${globs[@]}"}; do
		# shellcheck disable=SC2254
		case $1 in $g) return 0 ;; esac
	done
	return 1
}
chosen() { matches "${1%%|*}" "$only" && ! matches "${1%%|*}" "$but"; }

# keeps NAME LOG: counts a kept verdict again, and says so; otherwise notes what keep() needs
keeps() {
	local in verdict=$kept/${1//\//-}
	case $1 in vm/*) ;; *) return 1 ;; esac
	in=$(tests/vm/inputs.sh "$1" | xargs)
	[ -n "$in" ] || return 1
	mkdir -p "$kept"
	if [ "${KEPT:-}" != no ] && [ "$(head -n 1 "$verdict" 2>/dev/null)" = "$in" ]; then
		sed -n 2p "$verdict" >"$2.count"
		echo "kept: tested on $(sed -n 3p "$verdict") with the same inputs" >"$2"
		# shellcheck disable=SC2046,SC2183
		printf '%-34s %4d passed %3d failed %3d skipped   kept  tested on %s with the same inputs\n' \
			"$1" $(cat "$2.count") "$(sed -n 3p "$verdict")"
		return 0
	fi
	rm -f "$verdict"
	echo "${in% *}" >"$2.inputs"
	return 1
}

keep() {
	[ -e "$2.inputs" ] || return
	{
		echo "$(cat "$2.inputs") $(tests/vm/inputs.sh "$1" | tail -n 1)"
		cat "$2.count"
		date '+%Y-%m-%d %H:%M'
	} >"$kept/${1//\//-}"
}

# bound_now COMMAND: seconds that it may take if it begins now
bound_now() {
	local own left
	own=$(($(bound_of "$1") * DDIO_PATIENCE))
	left=$((whole_end - $(date +%s)))
	echo $((left < 1 ? 1 : left < own ? left : own))
}

run_one() {
	local name=${1%%|*} cmd=${1#*|} file=$log/${1%%|*}.log bound start rc line
	mkdir -p "$(dirname "$file")"
	bound=$(bound_now "$cmd")
	own_network "$cmd" && cmd="unshare --net --mount tests/own_network.sh $cmd"
	start=$(date +%s)
	local TIMEFORMAT='%U %S'
	# shellcheck disable=SC2086
	{ time bounded "$bound" $cmd >"$file" 2>&1 </dev/null; } 2>"$file.cpu"
	rc=$?
	line=$(grep -aoE '[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$file" | tail -1)
	local p=0 f=0 s=0
	if [ -n "$line" ]; then
		# shellcheck disable=SC2086
		set -- $line
		p=$1 f=$3 s=${5:-0}
		[ $rc -ne 0 ] && [ $rc -ne 77 ] && [ "$f" = 0 ] && f=1
	elif [ $rc -eq 77 ]; then
		s=1
	elif [ $rc -eq 0 ]; then
		p=1
	else
		f=1
	fi
	echo "$p $f $s" >"$file.count"
	[ "$f" != 0 ] || [ "$p" = 0 ] || keep "$name" "$file"
	local state=ok
	[ "$s" != 0 ] && state="ok, skipped: $(grep -a -iE 'skip' "$file" | tail -1)"
	[ "$f" != 0 ] && state="FAILED (exit $rc)"
	[ $rc -eq 124 ] && state="FAILED (still running after $bound s)"
	printf '%-34s %4d passed %3d failed %3d skipped %4ds %4.0f cpu  %s\n' "$name" "$p" "$f" "$s" \
		$(($(date +%s) - start)) "$(awk '{ t = $1 + $2 } END { print t }' "$file.cpu")" "$state"
	if [ "$f" != 0 ]; then
		sed 's/^/    | /' "$file" | tail -40
	fi
}

serial() {
	case $1 in cluster/*) ! own_network "${1#*|}" ;; *) false ;; esac
}

networks=
unshare --net --mount tests/own_network.sh true 2>/dev/null && networks=1
whole_end=$(($(date +%s) + ${DDIO_WHOLE:-3200}))
export -f run_one keep own_network bound_of bound_now bounded what_waits gone_within
export log top networks kept whole_end bounded_grace
par=() ser=() vms=()
while read -r t; do
	chosen "$t" || continue
	if [ "${t#vm/}" != "$t" ]; then
		vms+=("$t")
	elif serial "$t"; then
		ser+=("$t")
	else
		par+=("$t")
	fi
done < <(all_tests)
# expected TEST: how long it takes, beside others: what its script's head says; programs are short
expected() {
	case ${1#*|} in
	build/* | env\ TMPDIR*) echo "0 $1" ;;
	*) echo "$(bound_of "${1#*|}") $1" ;;
	esac
}
# What takes longest begins first.
[ ${#par[@]} -eq 0 ] || mapfile -t par < <(for t in "${par[@]}"; do expected "$t"; done |
	sort -s -k1,1nr | cut -d' ' -f2-)
if [ -n "$list" ]; then
	printf '%s\n' ${vms[@]+"${vms[@]%%|*}"} ${par[@]+"${par[@]%%|*}"} ${ser[@]+"${ser[@]%%|*}"}
	exit 0
fi
rm -rf "$log"
mkdir -p "$log"

# machines: runs the machines that are not running yet, one after the other
machines() {
	local i
	for i in "${!vms[@]}"; do
		mkdir "$log/taken.$i" 2>/dev/null && run_one "${vms[i]}"
	done
}
# Machines whose verdicts are kept do not run.
mkdir -p "$log/vm"
running=()
for t in ${vms[@]+"${vms[@]}"}; do
	keeps "${t%%|*}" "$log/${t%%|*}.log" || running+=("$t")
done
vms=(${running[@]+"${running[@]}"})
# Tests wait, too; a machine beside them has that time, else two tests more.
jobs=$(nproc)
[ ${#vms[@]} -gt 0 ] || jobs=$((jobs + 2))
if [ ${#vms[@]} -gt 0 ]; then
	(renice -n 5 $BASHPID >/dev/null; machines) &
fi
[ ${#par[@]} -eq 0 ] || printf '%s\0' "${par[@]}" |
	xargs -0 -n1 -P"$jobs" bash -c 'run_one "$1"' _
for t in ${ser[@]+"${ser[@]}"}; do
	run_one "$t"
done
for _ in $(seq 2 "$(nproc)"); do
	machines &
done
wait

# said_wrong LOG: prints the few lines that tell why a test failed, with their context
said_wrong() {
	grep -aE -B 6 'FAIL|ended without a verdict|^still running after|not ok|Sanitizer:|runtime error:|^ +[0-9]+\. .*:[0-9]+ ' "$1" |
		grep -avE '^(# )*ok\b' | head -n 12 | cut -c1-300
}
for t in ${vms[@]+"${vms[@]%%|*}"} ${par[@]+"${par[@]%%|*}"} ${ser[@]+"${ser[@]%%|*}"}; do
	[ "$(cut -d' ' -f2 "$log/$t.log.count")" = 0 ] && continue
	echo "$t failed:"
	why=$(said_wrong "$log/$t.log")
	echo "${why:-$(tail -n 4 "$log/$t.log")}" | sed 's/^/    /'
done

passed=0 failed=0 skipped=0
while read -r p f s; do
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done < <(find "$log" -name '*.count' -exec cat {} +)
if [ $((passed + failed)) -eq 0 ]; then
	echo "run.sh: no test ran" >&2
	failed=1
fi
n=$(grep -l '^kept: ' "$log"/vm/*.log 2>/dev/null | sed 's|.*/log/||; s|\.log$||' | xargs)
[ -z "$n" ] || echo "kept, not run again since their inputs are the same: $n"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
