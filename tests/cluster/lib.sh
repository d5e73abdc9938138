# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
# What the cluster tests share.  Sourced; sets -u, changes to the top, makes a
# directory that goes away with every process that was started in it.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
top=$PWD
. tests/patience.sh
# Daemons and tools under AddressSanitizer, unless a test measures and has set plain=1.
if [ -n "${plain:-}" ]; then
	build=${BUILD:-$top/build}
else
	build=${BUILD:-$top/build/asan}
fi
ddio=$build/ddio
helpers=$build/tests/helpers
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:exitcode=99
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
dir=$(mktemp -d "${TMPDIR:-/tmp}/ddio-test.XXXXXX") || exit 2
passed=0 failed=0 skipped=0

finish() {
	local rc=$?
	trap - EXIT
	# lib_mount.sh defines this: mounts in the directory must be unmounted first.
	declare -F mounts_end >/dev/null && mounts_end
	for c in "$dir"/*/ddio.conf; do
		[ -e "$c" ] && "$ddio" stop --dir "$(dirname "$c")" >/dev/null 2>&1
	done
	if grep -aqE 'ERROR: (Address|Leak|Thread)Sanitizer|runtime error:' "$dir"/*/*.log "$dir"/*.log 2>/dev/null; then
		grep -aE -A12 'ERROR: (Address|Leak|Thread)Sanitizer|runtime error:' "$dir"/*/*.log "$dir"/*.log | head -60
		not_ok "a sanitizer reported"
	fi
	[ -n "${KEEP:-}" ] || rm -rf --one-file-system "$dir"
	# 77: the rest cannot be tried here, and counts as skipped.
	[ "$rc" -ne 77 ] || skipped=$((skipped + 1))
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$rc" -ne 77 ] || exit 77
	[ "$rc" -eq 0 ] && [ "$failed" -eq 0 ] && [ "$((passed + skipped))" -gt 0 ]
	# Without a number it would be the status from before the trap.
	exit $?
}
trap finish EXIT
trap 'exit 143' TERM INT

ok() {
	passed=$((passed + 1))
	echo "ok: $*"
}
not_ok() {
	failed=$((failed + 1))
	echo "FAILED: $*"
}
# check "what" command...: passes if the command succeeds
check() {
	local what=$1
	shift
	if "$@"; then ok "$what"; else not_ok "$what: $*"; fi
}
# fails "what" "text expected on stderr" command...: passes if it fails and says so
fails() {
	local what=$1 text=$2 out rc
	shift 2
	out=$("$@" 2>&1)
	rc=$?
	if [ $rc -ne 0 ] && [ $rc -lt 99 ] && grep -qi -- "$text" <<<"$out"; then
		ok "$what"
	else
		not_ok "$what: exit $rc, said: $out"
	fi
}
# watched COMMAND...: runs it; $idle is then how many per cent of that time the processors were idle, or at work of a
# low priority
ticks() { awk '/^cpu / { for (i = 2; i <= 9; i++) all += $i; print $3 + $5 + $6, all }' /proc/stat; }
watched() {
	local idle0 all0 idle1 all1 rc
	read -r idle0 all0 < <(ticks)
	"$@"
	rc=$?
	read -r idle1 all1 < <(ticks)
	idle=$((100 * (idle1 - idle0) / (all1 - all0 + 1)))
	return $rc
}
# too_slow "what": what was watched did not reach its rate.  That is a failure where processors had time left;
# where they had none, it says nothing of the disks.  The disks are slowed down so far that what is watched takes a
# quarter of two processors at most: others took the rest.
too_slow() {
	if [ "$idle" -ge 20 ]; then
		not_ok "$1, with the processors $idle % idle"
	else
		skipped=$((skipped + 1))
		echo "skipped: $1: this machine is too slow, or busy: the processors were $idle % idle"
	fi
}
# soon COMMAND...: tries until it succeeds, as long as in_time 20 waits
soon() {
	local end=$((SECONDS + 20 * DDIO_PATIENCE))
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.1
	done
}
# start_cluster NAME [options of ddio start]: sets DDIO_CONF.  SECURITY=tls: connections are encrypted
start_cluster() {
	local name=$1
	shift
	"$ddio" start --dir "$dir/$name" ${SECURITY:+--security "$SECURITY"} "$@" >/dev/null || return 1
	export DDIO_CONF=$dir/$name/ddio.conf
}
stop_cluster() {
	"$ddio" stop --dir "$dir/$1" >/dev/null
}

# Bytes that processes of a job have read and written, by collectives of any size: small ones are rank 0's requests.  No mount is in it.
moved_by() {
	"$ddio" status --metrics | sed -n "s/^ddio_job_[a-z_]*bytes_total{.*job=\"$1\".*} //p" | awk '{ n += $1 } END { print n + 0 }'
}

# hears PID: it has a handler for SIGINT, and has not ended
hears() {
	local caught
	caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null)
	[ $((0x${caught:-0} & 2)) != 0 ]
}
# interrupt PID: by SIGINT, as soon as it would hear that.  A shell's background commands begin with it ignored, and one that is slow to
# begin would be waited for without end; one that never does is killed.
interrupt() {
	local n
	for ((n = 0; n < 200 * DDIO_PATIENCE; n++)); do
		! hears "$1" || { kill -INT "$1"; return; }
		grep -q '^State:[[:space:]]*[^Z[:space:]]' "/proc/$1/status" 2>/dev/null || return
		sleep 0.1
	done
	kill -KILL "$1"
}
