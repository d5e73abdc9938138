#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What every file of the project must have: a licence line, the house's format,
# and no sign of unfinished work.
set -u
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0
bad() {
	echo "sources: $*"
	failed=$((failed + 1))
}
list() {
	if git rev-parse >/dev/null 2>&1; then git ls-files "$@"; else find . -type f | sed 's|^\./||'; fi
}
for f in $(list '*.c' '*.h' '*.sh' '*.mk' Makefile .ci/run); do
	[ -e "$f" ] || continue
	n=$failed
	head -3 "$f" | grep -q SPDX-License-Identifier || bad "$f: no SPDX line"
	w='TO''DO|FIX''ME|X''XX|not impl''emented|for n''ow'
	if grep -nE "\\b($w)\\b" "$f"; then bad "$f: unfinished"; fi
	case $f in
	*.c | *.h)
		clang-format --dry-run --Werror "$f" >/dev/null 2>&1 || bad "$f: not as clang-format has it (make fmt)"
		;;
	esac
	[ $n -eq $failed ] && passed=$((passed + 1))
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
