# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Machines of tests/machines.sh, which end with the test.  Sourced.
plain=1
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
machines=$dir/machines
tidy() {
	local rc=$?
	"$top/tests/machines.sh" stop "$machines" >/dev/null 2>&1
	(exit $rc)
	finish
}
trap tidy EXIT
# machines_start NAME...: fails if they cannot be made, and ends the test where there cannot be any
machines_start() {
	local rc
	"$top/tests/machines.sh" start "$machines" "$@" >"$dir/said" 2>&1
	rc=$?
	[ $rc != 77 ] || { cat "$dir/said"; exit 77; }
	return $rc
}
# on NAME COMMAND: in the machine's shell
on() { "$top/tests/machines.sh" run "$machines" "$@"; }
