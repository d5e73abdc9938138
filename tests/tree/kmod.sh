#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
#
# The kernel modules as kernel code: built without a warning of gcc (W=1) and sparse (C=2)
# for every kernel whose headers are installed, checkpatch's style, and an interface that
# compiles alone and is described.  What is missing on a machine is skipped by name.
set -u
cd "$(dirname "$0")/../.." || exit 2
cache=${DDIO_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/ddio}
lint=build/lint scripts=$cache/checkpatch/scripts
uapi=include/uapi/linux/ddio.h
sources=$(printf '%s\n' kmod/*.h kmod/*/*.[ch] | grep -v '\.mod\.c$')
passed=0 failed=0 skipped=0
mkdir -p $lint

# try WHAT COMMAND...: 0 is a pass, 77 a skip, which it returns then; on a failure what it printed is shown
try() {
	local what=$1 out rc
	shift
	out=$("$@" 2>&1)
	rc=$?
	case $rc in
	0) passed=$((passed + 1)) ;;
	77) skipped=$((skipped + 1)); echo "skip: $what: $out"; return 77 ;;
	*) failed=$((failed + 1)); echo "kmod: failed: $what"; sed 's/^/	/' <<<"$out" ;;
	esac
}

no_version_check() {
	! grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION\(|RHEL_' "$1"
}

same_version() {
	local make head
	make=$(sed -n 's/^VERSION := //p' Makefile)
	head=$(sed -n 's/^#define DDIO_MODULE_VERSION "\(.*\)"/\1/p' kmod/version.h)
	[ -n "$make" ] && [ "$make" = "$head" ] && return
	echo "Makefile has $make, kmod/version.h has $head"
	return 1
}

interface_alone() {
	local cc=gcc
	[ "$1" = c++ ] && cc=g++
	shift
	$cc "$@" -Wall -Wextra -Werror -fsyntax-only -Iinclude/uapi $uapi
}

# Every struct of the interface has kernel-doc, which agrees with its members.
kernel_doc() {
	local k
	k=$(ls -d /usr/lib/linux-kbuild-*/scripts/kernel-doc "$cache"/kernels/*/usr/lib/linux-kbuild-*/scripts/kernel-doc \
		2>/dev/null | head -1)
	[ -n "$k" ] || { echo "no scripts/kernel-doc here (Debian package linux-kbuild)"; return 77; }
	perl "$k" -none -Werror "$1"
}

# checkpatch comes with the kernel's source package.
find_checkpatch() {
	local tar d='linux-source-*/scripts'
	[ -e $scripts/checkpatch.pl ] && return
	tar=$(ls /usr/src/linux-source-*.tar.xz 2>/dev/null | sort -V | tail -1)
	[ -n "$tar" ] || return 1
	mkdir -p "${scripts%/*}" && tar -C "${scripts%/*}" --strip-components=1 --wildcards --occurrence=1 -xJf "$tar" \
		"$d/checkpatch.pl" "$d/spelling.txt" "$d/const_structs.checkpatch"
	[ -e $scripts/checkpatch.pl ]
}

# What is left out, and why:
#  LINE_SPACING in the interface: an ioctl's number stands right under its struct, as in iommufd.h;
#  LINUX_VERSION_CODE, CONSTANT_COMPARISON in compat.h: that is what it is for;
#  BIT_MACRO, PREFER_KERNEL_TYPES in shared/: compiled for user space, too;
#  UNCOMMENTED_DEFINITION: kernel-doc says what a lock is for;
#  MACRO_ARG_REUSE, MACRO_ARG_PRECEDENCE, COMPLEX_MACRO, MACRO_WITH_FLOW_CONTROL: tables of
#   attributes, ioctls and trace events are made by macros that name things;
#  PARENTHESIS_ALIGNMENT, OPEN_ENDED_LINE: clang-format breaks the lines.
check_patch() {
	local not=UNCOMMENTED_DEFINITION,MACRO_ARG_REUSE,MACRO_ARG_PRECEDENCE,COMPLEX_MACRO
	not=$not,MACRO_WITH_FLOW_CONTROL,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE
	case $1 in
	kmod/compat.h) not=$not,LINUX_VERSION_CODE,CONSTANT_COMPARISON ;;
	kmod/shared/*) not=$not,BIT_MACRO,PREFER_KERNEL_TYPES ;;
	include/uapi/*) not=$not,LINE_SPACING ;;
	esac
	perl $scripts/checkpatch.pl --no-tree --strict --terse --show-types --no-summary \
		--max-line-length=100 --ignore "$not" -f "$1"
}

# The modules export nothing, and their names do not clash with the kernel's.
module_names() {
	local other
	if nm "$1" | grep -E '__ksymtab|__kstrtab'; then
		echo "exports symbols"
		return 1
	fi
	other=$(nm --defined-only -g "$1" | awk '{ print $3 }' |
		grep -vE '^(ddio|hp97560|hpd)_|^__(tracepoint|traceiter|probestub|(start|stop)_alloc_tags$|SCT__tp_func|SCK__tp_func|SCT__|SCK__|pfx_|cfi_|this_module)|^(init|cleanup)_module$')
	[ -z "$other" ] || { echo "global names without the project's prefix:" $other; return 1; }
}

module_info() {
	local f p
	for f in license description author version; do
		[ -n "$(modinfo -F $f "$1")" ] || { echo "no $f"; return 1; }
	done
	[ "$(modinfo -F version "$1")" = "$(sed -n 's/^VERSION := //p' Makefile)" ] ||
		{ echo "version is $(modinfo -F version "$1")"; return 1; }
	for p in $(modinfo -F parmtype "$1" | cut -d: -f1); do
		modinfo -F parm "$1" | grep -qE "^$p:.{8,}" || { echo "parameter $p is not described"; return 1; }
	done
}

# Options in the example are the module's.
example_parameters() {
	local line m o
	sed -n 's/^#\?options  *//p' kmod/dkms/modprobe.conf | while read -r m line; do
		for o in $line; do
			modinfo -F parmtype "$1/$m.ko" | grep -q "^${o%%=*}:" ||
				{ echo "$m has no parameter ${o%%=*}"; exit 1; }
		done
	done
}

only_built() {
	local m
	for m in ddio hp97560; do
		[ -e "$1/$m.ko" ] || { echo "no $m.ko was built"; return 1; }
	done
}

check_modules() {
	local m
	try "$1: both modules" only_built "$2"
	for m in "$2"/*.ko; do
		try "$1: names in ${m##*/}" module_names "$m"
		try "$1: what modinfo tells of ${m##*/}" module_info "$m"
	done
	try "$1: parameters of the modprobe.d example" example_parameters "$2"
}

# build_installed HEADERS VARIABLE...: in a tree of links, warnings on its output
build_installed() {
	local h=$1 o rc out
	shift
	o=$lint/${h##*/}
	rm -rf "$o/ko"
	out=$(make -C kmod KDIR="$h" O="$PWD/$o" -j2 "$@" 2>&1)
	rc=$?
	mkdir -p "$o/ko"
	find "$o/kmod" -name '*.ko' -exec mv {} "$o/ko/" \;
	grep -v 'pahole version differs' <<<"$out" | grep -E 'warning:|WARNING:|error:' && return 1
	[ $rc -eq 0 ] || { tail -5 <<<"$out"; return 1; }
}

build_for_vm() {
	tests/vm/build.sh "$@" 2>&1
}

for f in $sources; do
	[ "$f" = kmod/compat.h ] || try "$f asks for no kernel version" no_version_check "$f"
done
try 'one version everywhere' same_version
try 'the interface alone in C90' interface_alone c -std=c90
try 'the interface alone in C11' interface_alone c -std=c11 -pedantic
try 'the interface alone in C++' interface_alone c++ -x c++
try 'the interface is described' kernel_doc $uapi
if find_checkpatch; then
	for f in $sources $uapi; do
		try "checkpatch: $f" check_patch "$f"
	done
else
	skipped=$((skipped + 1))
	echo "skip: no checkpatch.pl here (Debian package linux-source)"
fi

sparse=C=2
command -v sparse >/dev/null 2>&1 || { sparse=; skipped=$((skipped + 1)); echo "skip: no sparse here"; }
built=
for h in /usr/src/linux-headers-*; do
	[ -e "$h/include/generated/utsrelease.h" ] || continue
	# The same as a virtual machine's kernel: below.
	grep -qsxF "${h##*/linux-headers-}" "$cache"/kernels/*/release && continue
	built="$built $(cut -d. -f1-2 <<<"${h##*/linux-headers-}")"
	try "${h##*/}: no warning${sparse:+, nor of sparse}" build_installed "$h" W=1 $sparse
	check_modules "${h##*/}" "$lint/${h##*/}/ko"
done
# Where no kernel's headers are installed that the virtual machines do not have, one of theirs, with sparse; the machines'
# tests build for all of theirs, with the same warnings.
for k in 6.12 6.1 7.x; do
	[ -z "$built" ] && [ -e "$cache/kernels/$k/release" ] || continue
	[ $k = 7.x ] && sparse=
	try "kernel $k: no warning${sparse:+, nor of sparse}" build_for_vm $k
	[ $? -ne 77 ] || continue
	built=$k
	check_modules "kernel $k" "build/kmod/$k"
done
[ -n "$built" ] || { skipped=$((skipped + 1)); echo "skip: no kernel headers here (linux-headers-amd64)"; }
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
