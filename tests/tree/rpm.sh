#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
#
# The RPM packages: rpmbuild makes them, each installed file is in one of them, and they are installed into a root, run there,
# are replaced by themselves, and go without leaving anything.
set -u
cd "$(dirname "$0")/../.." || exit 2
skip() { echo "SKIP: $*"; exit 77; }
for tool in rpmbuild rpm; do
	command -v $tool >/dev/null 2>&1 || skip "no $tool here"
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
version=$(sed -n 's/^VERSION := //p' Makefile)
passed=0 failed=0 skipped=0
try() {
	if "$@" >"$tmp/out" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "rpm: failed: $*"
		tail -n 20 "$tmp/out"
	fi
}
same_version() { [ "$(sed -n 's/^Version: *//p' tools/rpm/ddio.spec)" = "$version" ]; }
try same_version
build() {
	# Two of Debian's scripts are for bash, and its sh is another.
	rpmbuild -bb --build-in-place --nodeps --define "_topdir $tmp/top" --define '_libdir /usr/lib64' \
		--define '__brp_compress /bin/bash /usr/lib/rpm/brp-compress' \
		--define '__brp_strip /bin/bash /usr/lib/rpm/brp-strip /usr/bin/strip' tools/rpm/ddio.spec
}
try build
mapfile -t rpms < <(find "$tmp/top/RPMS" -name '*.rpm')
seven() { [ ${#rpms[@]} = 7 ]; }
try seven
# What it is not asked is in the file, with the reason.
rpmlint_is_content() {
	rpmlint -c tools/rpm/rpmlint.toml --strict tools/rpm/ddio.spec "${rpms[@]}"
}
if command -v rpmlint >/dev/null 2>&1; then
	try rpmlint_is_content
else
	skipped=$((skipped + 1))
	echo "SKIP: no rpmlint here"
fi
# All that "make install" installs, and nothing twice.
listed() {
	rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "${rpms[@]}" 2>/dev/null |
		awk '$1 !~ /^d/ && $2 !~ "^/usr/(share/(doc|licenses)|lib/.build-id)/" { sub(/\.gz$/, "", $2); print $2 }' | sort
}
installed() {
	make -s install DESTDIR="$tmp/all" PREFIX=/usr MOUNT_DIR=/usr/sbin PYTHON_DIR=/usr/lib/python3/site-packages || return 1
	(cd "$tmp/all" && find . ! -type d | sed -E -e 's#^\.##' -e 's#^/usr/lib/(libddio|ddio-mpiio|pkgconfig)#/usr/lib64/\1#' | sort)
}
each_once() { installed >"$tmp/want" && listed >"$tmp/have" && diff "$tmp/want" "$tmp/have"; }
try each_once

if [ "$(id -u)" = 0 ]; then
	at() { rpm --root "$tmp/root" --dbpath /rpmdb "$@"; }
	left() { find "$tmp/root/usr" ! -type d; }
	run() { LD_LIBRARY_PATH=$tmp/root/usr/lib64 "$tmp/root/usr/bin/ddio" status --help; }
	gone() {
		local all
		mapfile -t all < <(at -qa)
		[ ${#all[@]} = 7 ] && at -e --nodeps --noscripts "${all[@]}" && [ -z "$(left)" ]
	}
	mkdir -p "$tmp/root"
	try at -i --nodeps --noscripts "${rpms[@]}"
	try run
	try at -U --force --nodeps --noscripts "${rpms[@]}"
	try run
	needs_library() { rpm -qp --requires "$tmp"/top/RPMS/*/ddio-server-*.rpm | grep -q '^libaio\.so'; }
	try needs_library
	try gone
else
	skipped=$((skipped + 1))
	echo "SKIP: not root: nothing is installed"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
