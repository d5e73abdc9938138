#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds kmod/ for one of the test kernels into build/kmod/LABEL/*.ko, in a copy,
# so that the tree stays clean.  Any warning is an error, also one of W=1 and, if it is here, of sparse.
#
#   tests/vm/build.sh KERNEL [MAKE-VARIABLE ...]      e.g. 6.12 W=2
#
# With variables the result goes to build/kmod/LABEL-W2/ and so on.  For 7.x the
# compiler runs in a Debian 13 root (fetch.sh trixie), which needs root and has no sparse.
set -u
. "$(dirname "$0")/lib.sh"

[ $# -ge 1 ] || die "usage: build.sh KERNEL [VARIABLE=VALUE ...]"
label=$(kernel_label "$1")
shift
# make takes a target with "=" in its path for an assignment.
suffix=$(printf -- '-%s' "${@/=/}")
[ $# -gt 0 ] || { suffix=; set -- W=1; [ "$label" = 7.x ] || ! command -v sparse >/dev/null || set -- W=1 C=1; }
out=$top/build/kmod/$label$suffix
src=$out/src

# Copies sources that changed, and removes those that are gone.
copy_sources() {
	mkdir -p "$src/include/uapi/linux"
	cp -au "$top/include/uapi/linux/ddio.h" "$src/include/uapi/linux/" || die "no uapi header"
	(cd "$top" && find kmod \( -name '*.[chS]' -o -name Kbuild -o -name Makefile \) \
		! -name '*.mod.c' -print0 |
		while IFS= read -r -d '' f; do
			mkdir -p "$src/${f%/*}"
			cmp -s "$f" "$src/$f" || cp -a "$f" "$src/$f"
		done)
	(cd "$src" && find kmod \( -name '*.[ch]' -o -name Kbuild \) ! -name '*.mod.c' |
		while IFS= read -r f; do
			[ -e "$top/$f" ] || rm -f "$f"
		done)
}

build_here() {
	local rel h cc
	rel=$(kernel_release "$label")
	case $label in
	debug) h=$cache/debug/obj ;;
	*) h=$cache/kernels/$label/usr/src/linux-headers-$rel ;;
	esac
	cc=
	[ "$label" = debug ] || command -v x86_64-linux-gnu-gcc-12 >/dev/null 2>&1 || cc=CC=gcc
	# shellcheck disable=SC2086
	make -C "$h" M="$src/kmod" KCFLAGS=-Werror -j"$(nproc)" $cc "$@" modules
}

build_in_trixie() {
	local rel root=$cache/trixie
	rel=$(kernel_release 7.x)
	"$vm_dir/fetch.sh" trixie || exit $?
	unshare -m true 2>/dev/null || skip "no mount namespace for the Debian 13 root"
	cache_lock trixie
	if [ "$(cat "$root/headers" 2>/dev/null)" != "$rel" ]; then
		rm -rf "$root"/usr/src/linux-headers-* "$root"/usr/lib/linux-kbuild-*
		cp -a "$cache"/kernels/7.x/usr/src/. "$root/usr/src/" &&
			cp -a "$cache"/kernels/7.x/usr/lib/linux-kbuild-* "$root/usr/lib/" ||
			die "cannot copy the headers to $root"
		echo "$rel" >"$root/headers"
	fi
	# Mounts are made in a namespace of their own and vanish with it.
	unshare -m --propagation private sh -c '
		mount -t proc proc "$1/proc" && mount --bind "$2" "$1/mnt" || exit 77
		root=$1 rel=$3
		shift 3
		exec chroot "$root" /usr/bin/env PATH=/usr/bin:/usr/sbin:/bin:/sbin \
			make -C "/usr/src/linux-headers-$rel" M=/mnt/kmod KCFLAGS=-Werror "$@" modules
	' sh "$root" "$src" "$rel" -j"$(nproc)" "$@"
}

[ -e "$top/kmod/Kbuild" ] || skip "no kmod/Kbuild in this tree"
need make make gcc gcc
if [ "$label" = debug ]; then
	[ -e "$cache/debug/release" ] || "$vm_dir/debug-kernel.sh" || exit $?
else
	"$vm_dir/fetch.sh" "$label" || exit $?
fi
mkdir -p "$out"
exec {build_lock}>"$out/lock"
flock "$build_lock"
copy_sources
if [ "$label" = 7.x ]; then
	build_in_trixie "$@" >"$out/build.log" 2>&1
else
	build_here "$@" >"$out/build.log" 2>&1
fi
rc=$?
# pahole makes type information for vmlinux only, which is not here.
if [ $rc -ne 0 ] ||
	grep -v 'pahole version differs' "$out/build.log" | grep -qE 'warning:|WARNING:'; then
	grep -vE '^  (CC|LD|MODPOST|AR)' "$out/build.log" >&2
	grep -q '^SKIP' "$out/build.log" && exit 77
	rm -rf "$src" # the next time, it warns again
	die "the modules do not build cleanly for $label$suffix (log: ${out#"$top"/}/build.log)"
fi
rm -f "$out"/*.ko
find "$src/kmod" -name '*.ko' -exec cp {} "$out/" \;
ls "$out"/*.ko >/dev/null 2>&1 || die "no module was built for $label"
echo "built for $label$suffix: $(cd "$out" && echo *.ko)"
