#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
#
# The Debian packages of this tree in fresh Debian systems, where "tests/packages.sh make" has made their roots: installed, used by three
# nodes and a mount, upgraded, removed, purged.
set -u
cd "$(dirname "$0")/../.." || exit 2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0
for suite in bookworm trixie; do
	tests/packages.sh try $suite >"$tmp/$suite" 2>&1
	grep -v ' passed, ' "$tmp/$suite"
	read -r p f s < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p' "$tmp/$suite")
	# No last line: it did not come to its end.
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1})) skipped=$((skipped + ${s:-0}))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $passed -gt 0 ] || [ $failed -gt 0 ] || exit 77
[ $failed -eq 0 ]
