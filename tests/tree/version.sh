#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# quick Makefile CHANGES kmod/version.h userlib/cp/connect.c userlib/python/pyproject.toml tools/rpm/ddio.spec
#
# The version is the same wherever it stands, and the newest that CHANGES tells of, so that "--version", packages and
# module tell old from new.
set -u
cd "$(dirname "$0")/../.." || exit 2
want=$(sed -n 's/^VERSION := //p' Makefile)
passed=0 failed=0
# has FILE SED-EXPRESSION: what it prints of the file is the version
has() {
	local have
	have=$(sed -nE "$2" "$1" | head -n 1)
	if [ -n "$have" ] && [ "$have" = "$want" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "version: $1 has ${have:-none}, Makefile has ${want:-none}"
	fi
}
has CHANGES 's/^([0-9]+\.[0-9]+\.[0-9]+)( .*)?$/\1/p'
has kmod/version.h 's/^#define DDIO_MODULE_VERSION "(.*)"$/\1/p'
has userlib/cp/connect.c '/^const char \*ddio_version/,/^}/s/.*return "(.*)";$/\1/p'
has userlib/python/pyproject.toml 's/^version = "(.*)"$/\1/p'
has tools/rpm/ddio.spec 's/^Version: +//p'
has tools/rpm/ddio.spec 's/^#.*--prefix=ddio-([0-9.]+)\/ .*/\1/p'
echo "$passed passed, $failed failed"
[ $failed = 0 ]
