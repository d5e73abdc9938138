#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
#
# The package ddio-dkms: what is in it, that the same commit gives the same bytes, and that
# DKMS can build both modules from it, for the kernel whose headers are installed.  Nothing of
# this machine is touched: DKMS works in folders of its own.
set -u
cd "$(dirname "$0")/../.." || exit 2
skip() { echo "SKIP: $*"; exit 77; }
command -v dpkg-deb >/dev/null 2>&1 || skip "no dpkg-deb here"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
version=$(sed -n 's/^VERSION := //p' Makefile)
deb=ddio-dkms_${version}_all.deb
passed=0 failed=0 skipped=0
try() {
	if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "dkms: failed: $*"; fi
}

make_deb() { make --no-print-directory dkms-deb >"$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }; }

# Made again with another mask, another clock's zone and one second later.
same_bytes() {
	(umask 077 && TZ=Asia/Tokyo tools/dkms-deb.sh "$version" "$tmp/again") >/dev/null
	cmp "build/$deb" "$tmp/again/$deb"
}

has() { dpkg-deb -c "build/$deb" | grep " \./$1\$" >/dev/null; }

# Every source of the modules, and nothing that a build left behind.
all_sources() {
	local want have
	want=$(printf "%s\n" kmod/Kbuild kmod/Makefile kmod/*.h kmod/*/Kbuild kmod/*/*.[ch] include/uapi/linux/ddio.h |
		grep -v '\.mod\.c$' | sort)
	have=$(dpkg-deb -c "build/$deb" | grep -v '/$' | sed -n "s|.* \./usr/src/ddio-$version/||p" |
		grep -E '^(kmod|include)/' | sort)
	diff <(echo "$want") <(echo "$have")
}

scripts_parse() {
	local s
	dpkg-deb -e "build/$deb" "$tmp/control" || return 1
	for s in postinst prerm; do
		sh -n "$tmp/control/$s" && [ -x "$tmp/control/$s" ] || return 1
	done
	! grep -r '@[A-Z]*@' "$tmp/control" "$tmp/root/usr/src/ddio-$version/dkms.conf"
}

root_owned() { ! dpkg-deb -c "build/$deb" | grep -v ' root/root '; }

dkms_builds() {
	local kernel=$1 log=$tmp/dkms.log
	mkdir -p "$tmp/tree" "$tmp/install"
	dkms build --dkmstree "$tmp/tree" --sourcetree "$tmp/root/usr/src" --installtree "$tmp/install" \
		-m ddio -v "$version" -k "$kernel" \
		--kernelsourcedir "/usr/src/linux-headers-$kernel" >"$log" 2>&1 || {
		cat "$log" "$tmp"/tree/ddio/*/build/make.log 2>/dev/null | tail -30
		return 1
	}
	[ "$(find "$tmp/tree" -path "*/$kernel/*/module/*" -name '*.ko*' | sed 's|.*/||;s|\.ko.*||' | sort |
		xargs)" = "ddio hp97560" ]
}

# Older than 6.1, and 6.9 and 6.10, which compat.h does not know.
conf_matches() {
	local k=$1 want=$2 have=no
	(
		# shellcheck disable=SC2034
		kernel_source_dir=/nowhere
		# shellcheck disable=SC1090
		. "$tmp/root/usr/src/ddio-$version/dkms.conf"
		[[ $k =~ $BUILD_EXCLUSIVE_KERNEL ]]
	) && have=yes
	[ $have = "$want" ]
}

# By DKMS's own hook, when a kernel is installed.
autoinstalls() (
	# shellcheck disable=SC2034
	kernel_source_dir=/nowhere
	# shellcheck disable=SC1090
	. "$tmp/root/usr/src/ddio-$version/dkms.conf"
	[ "${AUTOINSTALL:-}" = yes ]
)

try make_deb
[ -e "build/$deb" ] || { echo "0 passed, 1 failed"; exit 1; }
dpkg-deb -x "build/$deb" "$tmp/root"
try same_bytes
try root_owned
try all_sources
try autoinstalls
try scripts_parse
for f in "usr/src/ddio-$version/dkms.conf" "usr/src/ddio-$version/LICENSE" lib/udev/rules.d/60-ddio.rules \
	usr/share/doc/ddio-dkms/{copyright,changelog.gz,examples/modprobe.d/ddio.conf,examples/modules-load.d/ddio.conf}; do
	try has "$f"
done
for k in 6.1.0-56-cloud-amd64 6.8.0-31-generic 6.11.2 6.12.95+deb12-cloud-amd64 7.3.4+deb13-amd64 10.0.1; do
	try conf_matches $k yes
done
for k in 5.10.0-30-amd64 6.0.1 6.9.7 6.10.11+bpo-amd64; do
	try conf_matches $k no
done

built=
if command -v dkms >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
	for h in /usr/src/linux-headers-*; do
		[ -e "$h/include/generated/utsrelease.h" ] || continue
		built=1
		try dkms_builds "${h##*/linux-headers-}"
	done
fi
[ -n "$built" ] || { skipped=1; echo "skip: building needs root, dkms and kernel headers"; }
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
