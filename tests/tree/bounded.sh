#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# quick tests/bounded.sh
# timeout: 60
# A test that hangs is ended with all that it began, and says what it waited for.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/bounded.sh
passed=0 failed=0
check() {
	local what=$1
	shift
	if "$@"; then passed=$((passed + 1)); else
		echo "bounded: $what"
		failed=$((failed + 1))
	fi
}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
# status N COMMAND...: the command's status is N
status() {
	local want=$1 rc=0
	shift
	"$@" >"$dir/said" 2>&1 || rc=$?
	[ $rc = "$want" ]
}
gone() { ! kill -0 "$1" 2>/dev/null; }

check "one that ends in time" status 0 bounded 60 true
check "its status" status 3 bounded 60 sh -c 'exit 3'
check "no timer is left" [ -z "$(jobs -p)" ]
# hangs FILE COMMAND...: it is ended after it has made the file, for which a busy machine may need more than a second
hangs() {
	local s
	for s in 1 4 16 64; do
		status 124 bounded $s "${@:2}" || return
		[ ! -s "$1" ] || return 0
	done
	return 1
}
check "one that hangs" hangs "$dir/child" sh -c "sleep 1000 & echo \$! >$dir/child; sleep 2000"
check "it says so" grep -q '^still running after [0-9]* s' "$dir/said"
check "what its processes are" grep -q 'sleep 1000' "$dir/said"
check "where they wait" grep -q 'sleep .*nanosleep' "$dir/said"
check "none of them is left" gone "$(cat "$dir/child")"
bounded_grace=1
check "one that hears no SIGTERM" hangs "$dir/deaf" bash -c "trap '' TERM; echo \$\$ >$dir/deaf; while :; do sleep 1; done"
check "it is gone, too" gone "$(cat "$dir/deaf")"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
