#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
#
# Runs programs that look for mistakes: shellcheck on scripts, cppcheck on the sources, codespell
# on every text.  Each must find nothing; false alarms are listed, with the reason, in
# cppcheck.suppress and codespell.words, or beside the line in a script.
set -u
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0 skipped=0

list() {
	if git rev-parse >/dev/null 2>&1; then git ls-files -co --exclude-standard "$@"; else
		local g
		for g; do find . -path ./build -prune -o -type f -name "${g##*/}" -print | sed 's|^\./||'; done
	fi | while read -r f; do [ ! -f "$f" ] || echo "$f"; done
}

# finds PROGRAM COMMAND ...: passes if the command prints nothing
finds() {
	local p=$1 out
	shift
	if ! command -v "$p" >/dev/null 2>&1; then
		echo "skip: no $p here"
		skipped=$((skipped + 1))
	elif out=$("$@" 2>&1) && [ -z "$out" ]; then
		passed=$((passed + 1))
	else
		echo "lint: $p:"
		echo "${out:-exit with an error}"
		failed=$((failed + 1))
	fi
}

scripts() { list '*.sh' .ci/run | xargs shellcheck -S warning -f gcc; }

sources() {
	mkdir -p build/cppcheck
	cppcheck --quiet --enable=warning,performance,portability --error-exitcode=1 --inline-suppr \
		--suppressions-list=tests/tree/cppcheck.suppress --suppress=missingInclude --std=c11 \
		--cppcheck-build-dir=build/cppcheck -j "$(nproc)" -D__linux__ -U__KERNEL__ \
		-Iinclude -Iuserlib -Ikmod/shared -I. userlib fuse tools kmod/shared
}

texts() {
	list '*' | grep -vE '^tests/(data|fuzz/(seeds|regress))/|^LICENSE' |
		xargs codespell -I tests/tree/codespell.words
}

finds shellcheck scripts
finds cppcheck sources
finds codespell texts
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
