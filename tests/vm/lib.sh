# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
# What the scripts of this folder share; sourced by bash.  Names and folders:
#
#   $DDIO_CACHE          default ${XDG_CACHE_HOME:-~/.cache}/ddio; outlives the tree
#     apt/ debs/         private apt state, downloaded packages
#     kernels/LABEL/     unpacked packages of one kernel, file "release" says which
#     trixie/            debootstrap root in which the newest kernel's modules are built
#     debug/             source, objects and image of the debug kernel
#   build/kmod/LABEL/    modules built for that kernel
#   build/vm/            initramfs images, scratch disks
#   build/log/vm/        consoles and results of virtual machines

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$vm_dir/../.." && pwd)
. "$top/tests/patience.sh"
cache=${DDIO_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/ddio}
# A kernel that looks at every access takes so many times as long, booting included.
debug_slow=4
kernels_all='6.1 6.12 7.x'
PATH=$PATH:/usr/sbin:/sbin
# Drops the settings of a calling make.
unset MAKEFLAGS MFLAGS MAKELEVEL

say() { echo "vm: $*" >&2; }
die() { say "$*"; exit 1; }

# Skips, with the reason: what this machine cannot run never counts as passed.
skip() { echo "SKIP: $*"; exit 77; }

# need PROGRAM PACKAGE ...: skips when a program is missing
need() {
	while [ $# -gt 1 ]; do
		command -v "$1" >/dev/null 2>&1 || skip "no $1 here (Debian package $2)"
		shift 2
	done
}

# A kernel's label from what the user wrote: 6.1, 6.12, 7.x (or 7.3 ...), debug.
kernel_label() {
	case $1 in
	6.1 | 6.12 | debug) echo "$1" ;;
	7*) echo 7.x ;;
	*) die "unknown kernel $1; one of $kernels_all debug" ;;
	esac
}

kernel_dir() {
	case $1 in
	debug) echo "$cache/debug" ;;
	*) echo "$cache/kernels/$1" ;;
	esac
}

kernel_release() { cat "$(kernel_dir "$1")/release"; }

# Holds the named lock of the cache until the process ends.
declare -A locks_held=()
cache_lock() {
	local fd
	[ -n "${locks_held[$1]:-}" ] && return
	locks_held[$1]=1
	mkdir -p "$cache"
	exec {fd}>"$cache/lock.$1"
	flock -n "$fd" && return
	say "waiting for another process that fills $cache/$1"
	flock -w 1500 "$fd" || die "$cache/lock.$1 is still held after 25 minutes"
}

retry() {
	local i
	for i in 1 2 3 4; do
		"$@" && return 0
		say "try $i failed: $1"
		sleep $((i * 3))
	done
	return 1
}
