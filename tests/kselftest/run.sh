#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the tests in this folder and below, in KTAP.
#
#   run.sh [PATTERN ...]     e.g. run.sh 'ddio/*' hp97560/test_model
#
# After each test the kernel's log is searched; a warning there fails the test.
# DDIO_TIMEOUT=seconds for each test (600).  DDIO_SEED and DDIO_ROUNDS and
# their like are the tests' own: see README.
#
# Exits with 0, with 1 if a test failed, with 4 if none ran.
cd "$(dirname "$0")" || exit 1
timeout=${DDIO_TIMEOUT:-600}
tests=
failed=0
passed=0
skipped=0
n=0
log=$(mktemp) || exit 1
codefile=$log.code
trap 'rm -f "$log" "$codefile"' EXIT
trap 'exit 130' INT TERM

complaints='WARNING:|BUG[: ]|Oops|general protection|KASAN|UBSAN|KCSAN|kmemleak|possible recursive'
complaints="$complaints|possible circular|inconsistent lock|suspicious RCU|blocked for more than"
complaints="$complaints|soft lockup|hard LOCKUP|rcu_.*stall|refcount_t|list_(add|del) corruption"
complaints="$complaints|Call Trace|held lock freed|sleeping function|scheduling while atomic"
# Where allocations are made to fail, a failed allocation of kmemleak itself is harmless.
harmless='kmemleak: Cannot allocate a scan area'

wanted() {
	[ $# = 1 ] && return 0
	name=$1
	shift
	for p; do
		# shellcheck disable=SC2254
		case $name in $p) return 0 ;; esac
	done
	return 1
}

for t in */test_* */fuzz_*; do
	[ -x "$t" ] && [ -f "$t" ] && wanted "$t" "$@" && tests="$tests $t"
done

# Prints the kernel's log since a line that we wrote.
mark() {
	echo "ddio-kselftest: $1" >/dev/kmsg 2>/dev/null
}
log_complains() {
	dmesg 2>/dev/null | awk -v m="ddio-kselftest: $1" '
		index($0, m) { on = 1; text = "" } on { text = text $0 "\n" } END { printf "%s", text }' |
		grep -v "$harmless" | grep -E "$complaints" | head -20
}

# Prints the seconds that the machine's processors have worked.
worked() {
	awk '/^cpu / { printf "%d\n", ($2 + $3 + $4 + $7 + $8) / 100 }' /proc/stat
}

one() {
	t=$1
	n=$((n + 1))
	name="selftests: $(echo "$t" | tr / ' ' | sed 's/ /: /')"
	echo "# $name"
	mark "begin $t"
	begin=$(date +%s) busy=$(worked)
	{
		timeout -s TERM "$timeout" "./$t" 2>&1
		echo $? >"$codefile"
	} | tee "$log" | sed 's/^/# /'
	code=$(cat "$codefile")
	took="$(($(date +%s) - begin)) s, $(($(worked) - busy)) cpu"
	bad=$(log_complains "begin $t")
	if [ -n "$bad" ]; then
		echo "$bad" | sed 's/^/#   kernel: /'
		[ "$code" = 0 ] || [ "$code" = 4 ] && code=log
	fi
	# A program may report a failed case and still exit with 0.
	if [ "$code" = 0 ] && grep -q '^not ok' "$log"; then
		code=case
	fi
	inner=$(grep -c '^ok [0-9]* *# SKIP' "$log")
	note=
	[ "$inner" = 0 ] || note=", $inner of its cases skipped"
	case $code in
	0)
		passed=$((passed + 1))
		echo "ok $n $name # $took$note"
		;;
	4)
		skipped=$((skipped + 1))
		echo "ok $n $name # SKIP $(sed -n 's/^1\.\.0 # SKIP //p' "$log" | head -1)"
		;;
	*)
		failed=$((failed + 1))
		case $code in
		124 | 143) why="took longer than $timeout s" ;;
		log) why="the kernel's log has a warning" ;;
		case) why="a case failed" ;;
		*) why="exit=$code" ;;
		esac
		echo "not ok $n $name # $why, $took"
		;;
	esac
}

# shellcheck disable=SC2086
set -- $tests
echo "TAP version 13"
echo "1..$#"
for t; do
	one "$t"
done
echo "# Totals: pass:$passed fail:$failed skip:$skipped"
[ $failed = 0 ] || exit 1
[ $passed != 0 ] || exit 4
exit 0
