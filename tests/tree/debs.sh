#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
#
# The Debian packages: each installed file is in one of them, they unpack into a root, by dpkg where this is root, the
# programs and back ends find their libraries there, and the same tree gives the same bytes.
set -u
cd "$(dirname "$0")/../.." || exit 2
skip() { echo "SKIP: $*"; exit 77; }
for tool in dpkg-deb dpkg-shlibdeps; do
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
		echo "debs: failed: $*"
		tail -n 20 "$tmp/out"
	fi
}
make_debs() { make --no-print-directory mpiio && tools/debs.sh "$version" "$tmp/$1"; }
try make_debs debs
debs=("$tmp"/debs/*.deb)

unpack() {
	local d
	for d in "${debs[@]}"; do dpkg-deb -x "$d" "$tmp/root" || return 1; done
}
try unpack
# All that "make install" installs, and nothing twice.
listed() {
	local d
	for d in "${debs[@]}"; do
		dpkg-deb -c "$d" | awk '$1 !~ /^d/ { print $6 }' | grep -Ev '^\./usr/share/(doc|lintian)/'
	done | sort
}
all_files() {
	make -s install DESTDIR="$tmp/all" PREFIX=/usr MOUNT_DIR=/usr/sbin >/dev/null &&
		diff <(listed) <(cd "$tmp/all" && find . ! -type d | sed 's|\(/man/.*\)|\1.gz|' | sort)
}
try all_files
# What is loaded from the root: nothing is missing, and libddio is the root's.
finds_libraries() {
	local said
	said=$(LD_LIBRARY_PATH=$tmp/root/usr/lib ldd "$1") && ! grep 'not found' <<<"$said" &&
		grep -q "libddio.so.0 => $tmp/root/" <<<"$said"
}
for m in mpich openmpi; do
	command -v "mpicc.$m" >/dev/null || continue
	try test -e "$tmp/root/usr/lib/ddio-mpiio/$m.so"
	try finds_libraries "$tmp/root/usr/lib/ddio-mpiio/$m.so"
	try grep -q "^Depends: .*$([ $m = mpich ] && echo libmpich || echo libopenmpi).*libddio0 (= $version)" \
		<(dpkg-deb -I "$tmp/debs/libddio-mpiio-${m}_${version}_$(dpkg --print-architecture).deb" control | cat)
done
try env LD_LIBRARY_PATH="$tmp/root/usr/lib" "$tmp/root/usr/bin/ddio" --version
control_is_filled() {
	local d
	for d in "${debs[@]}"; do
		dpkg-deb -I "$d" control >"$tmp/control" || return 1
		! grep -E '@[A-Z]+@|^Depends: *(,|$)' "$tmp/control" || return 1
	done
}
try control_is_filled
# Debian's conventions: libraries are no programs, say what depends on them, and lines have at most 80 characters.
modes() { ! for d in "${debs[@]}"; do dpkg-deb -c "$d"; done | grep '^-rwx.*\.so'; }
try modes
try grep -qx "libddio 0 libddio0 (>= $version)" <(dpkg-deb -I "$tmp"/debs/libddio0_*.deb shlibs)
narrow() { ! for d in "${debs[@]}"; do dpkg-deb -I "$d" control | sed -n '/^Description/,$p'; done | grep -E '.{81}'; }
try narrow
# The part for each MPI is one of those that the library recommends, which tells what it is for.
control_of() { dpkg-deb -I "$tmp/debs/$1_${version}_$(dpkg --print-architecture).deb" control; }
try grep -q "^Recommends:.* | libddio-mpiio-backend (= $version)" <(control_of libddio-mpiio)
try grep -q '^Depends: libc6 (>= ' <(control_of libddio-mpiio)
for m in mpich openmpi; do
	command -v "mpicc.$m" >/dev/null || continue
	try grep -q "^Provides: libddio-mpiio-backend (= $version)" <(control_of libddio-mpiio-$m)
	try grep -q "libddio-mpiio-$m" "$tmp/root/usr/share/doc/libddio-mpiio/README.Debian"
done
root_owned() {
	local d
	for d in "${debs[@]}"; do ! dpkg-deb -c "$d" | grep -v ' root/root ' || return 1; done
}
try root_owned
# By dpkg itself, into a root that has nothing else: what the packages depend on is not there.
by_dpkg() {
	local r=$tmp/dpkg
	mkdir -p "$r"/var/lib/dpkg/{updates,info,triggers} && touch "$r/var/lib/dpkg/status" &&
		dpkg --root="$r" --force-depends --force-script-chrootless --unpack "${debs[@]}" &&
		[ "$(dpkg --root="$r" --admindir="$r/var/lib/dpkg" -l | grep -c '^iU')" = ${#debs[@]} ] &&
		(cd "$r" && md5sum -c --quiet var/lib/dpkg/info/*.md5sums)
}
if [ "$(id -u)" = 0 ]; then try by_dpkg; else skipped=$((skipped + 1)); fi
# What was installed from source goes as a whole, and nothing else does.
uninstalled() {
	touch "$tmp/all/usr/bin/other" && make -s uninstall DESTDIR="$tmp/all" PREFIX=/usr MOUNT_DIR=/usr/sbin >/dev/null &&
		[ "$(cd "$tmp/all" && find . ! -type d -o -name '*ddio*')" = ./usr/bin/other ]
}
try uninstalled
same_bytes() {
	(umask 077 && TZ=Asia/Tokyo tools/debs.sh "$version" "$tmp/again") >/dev/null || return 1
	for d in "${debs[@]}"; do cmp "$d" "$tmp/again/${d##*/}" || return 1; done
}
try same_bytes
# What is compiled, and comes from no cache, does not tell in which folder, so another copy of the same commit gives the same, too.
any_folder() {
	local d objects=(build/userlib/base/units.o build/tools/ddio/main.o build/fuse/main.o)
	for d in here there/deeper; do
		mkdir -p "$tmp/$d" && git ls-files -z | xargs -0 cp --parents -t "$tmp/$d" &&
			CCACHE_DISABLE=1 make -s -C "$tmp/$d" "${objects[@]}" || return 1
	done
	for d in "${objects[@]}"; do cmp "$tmp/here/$d" "$tmp/there/deeper/$d" || return 1; done
}
try any_folder
# Debian's own judge.  Who maintains the packages is whoever makes them.
lintian_is_content() {
	lintian --allow-root --fail-on error,warning --suppress-tags root-in-contact,bogus-mail-host,bogus-mail-host-in-debian-changelog \
		"${debs[@]}"
}
if command -v lintian >/dev/null 2>&1; then
	try lintian_is_content
else
	skipped=$((skipped + 1))
	echo "SKIP: no lintian here"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
