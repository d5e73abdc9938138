#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# quick
# What every file of the project must have: a place (what a program that is tried by hand leaves at the top level has none),
# a licence line, the house's format, and no sign of unfinished work.  make quick looks at what has changed since it last passed ($SINCE), or
# differs from what is committed.
set -u
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0
bad() {
	echo "sources: $*"
	failed=$((failed + 1))
}
list() {
	if ! git rev-parse >/dev/null 2>&1; then
		find . -type f | sed 's|^\./||'
	elif [ -n "${QUICK:-}" ] && [ -z "${SINCE:-}" ]; then
		git diff --name-only --relative HEAD
		git ls-files -o --exclude-standard
	else
		git ls-files -co --exclude-standard
	fi | grep -E '\.(c|h|sh|mk)$|^Makefile$|^\.ci/run$' | while read -r f; do
		[ ! -f "$f" ] || { [ -n "${SINCE:-}" ] && [ "$f" -ot "$SINCE" ]; } || echo "$f"
	done
}
mapfile -t files < <(list)

# faults WHAT: of the files whose names come in
faults() {
	local f
	while read -r f; do bad "$f: $1"; done
}
# not_formatted: names of files that are not as clang-format has it; those come in
not_formatted() {
	grep '\.[ch]$' | xargs -r -n 40 -P "$(nproc)" clang-format --dry-run --Werror 2>&1 |
		sed -n 's/^\([^:]*\):.*-Wclang-format-violations.*/\1/p; s/^\(xargs: .*\|.*rror reading.*\)/\1/p' | sort -u
}

if [ ${#files[@]} -gt 0 ]; then
	w='TO''DO|FIX''ME|X''XX|not impl''emented|for n''ow'
	faults "no SPDX line" < <(awk 'FNR <= 3 && /SPDX-License-Identifier/ { has[FILENAME] }
		END { for (i = 1; i < ARGC; i++) if (!(ARGV[i] in has)) print ARGV[i] }' "${files[@]}")
	faults "unfinished" < <(grep -nE "\\b($w)\\b" /dev/null "${files[@]}")
	faults "not as clang-format has it (make fmt)" < <(printf '%s\n' "${files[@]}" | not_formatted)
	passed=$((${#files[@]} > failed ? ${#files[@]} - failed : 0))
fi
top='\.[^/]*|CHANGES|Documentation|LICENSE|MAINTAINERS|Makefile|README|SECURITY|fuse|include|kmod|tests|tools|userlib'
if git rev-parse >/dev/null 2>&1; then
	before=$failed
	faults "has no place at the top level" < <(git ls-files | grep -vE "^\"?($top)(/|\$)")
	[ "$failed" != "$before" ] || passed=$((passed + 1))
fi
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
