#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# headers.sh INTO [FROM]: puts the kernel's test harness, two headers, into a folder.
set -eu
into=$1
from=${2:-}
names='kselftest_harness.h kselftest.h'

has() {
	for n in $names; do
		[ -r "$1/$n" ] || return 1
	done
}

take() {
	mkdir -p "$into"
	for n in $names; do
		cp "$1/$n" "$into/"
	done
	# Headers that some versions include besides these two.
	for n in ksft.h kselftest_harness.h; do
		[ ! -r "$1/$n" ] || cp "$1/$n" "$into/"
	done
	exit 0
}

if [ -n "$from" ]; then
	has "$from" && take "$from"
	echo "kselftest: no $names in $from" >&2
	exit 1
fi
rest=tools/testing/selftests
for d in "/lib/modules/$(uname -r)/source" /usr/src/linux-source-* /usr/src/linux; do
	has "$d/$rest" && take "$d/$rest"
done
tar=$(ls /usr/src/linux-source-*.tar.xz 2>/dev/null | sort -V | tail -1)
if [ -z "$tar" ]; then
	echo "kselftest: no kernel source here; install the package linux-source" \
		"or give KSFT_INCLUDE=folder of kselftest_harness.h" >&2
	exit 1
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
echo "  XTRACT  $tar" >&2
tar -xJf "$tar" -C "$tmp" --strip-components=1 --wildcards --occurrence=1 \
	"*/$rest/kselftest_harness.h" "*/$rest/kselftest.h"
has "$tmp/$rest" && { take "$tmp/$rest"; }
echo "kselftest: no harness in $tar" >&2
exit 1
