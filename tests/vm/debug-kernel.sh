#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds a small kernel that watches itself (tests/vm/debug.config: KASAN, UBSAN,
# lockdep, kmemleak, fault injection ...) from Debian's source package, into the
# cache.  What is there is not built again until the configuration changes.
#
#   tests/vm/debug-kernel.sh [JOBS]
set -u
. "$(dirname "$0")/lib.sh"

dir=$cache/debug
config=$vm_dir/debug.config
key=$(sha256sum <"$config")
[ "$(cat "$dir/key" 2>/dev/null)" = "$key" ] && exit 0

need make make gcc gcc flex flex bison bison bc bc xz xz-utils depmod kmod tar tar lz4 lz4
[ -e /usr/include/gelf.h ] || skip "no gelf.h here (Debian package libelf-dev)"
cache_lock debug
[ "$(cat "$dir/key" 2>/dev/null)" = "$key" ] && exit 0

"$vm_dir/fetch.sh" source || exit $?
src=$dir/src obj=$dir/obj
mkdir -p "$obj"
say "building the debug kernel in $dir (some minutes; once)"
began=$(date +%s)

# build TARGET ...: quiet unless it fails
build() {
	make -C "$src" O="$obj" -j"${jobs}" "$@" >"$dir/build.log" 2>&1 && return
	grep -vE '^ +(CC|AR|LD|HOSTCC|GEN|WRAP|UPD|SYNC) ' "$dir/build.log" | tail -20 >&2
	die "the debug kernel does not build: make $*"
}

jobs=${1:-$(nproc)}
build KCONFIG_ALLCONFIG="$config" allnoconfig
# Otherwise options that kconfig dropped for lack of a dependency would go unnoticed.
lost=$(grep '^CONFIG_' "$config" | grep -vxFf "$obj/.config")
[ -z "$lost" ] || die "not in the configuration:" $lost
build bzImage modules
rel=$(cat "$obj/include/config/kernel.release")
rm -rf "${dir:?}/lib"
build INSTALL_MOD_PATH="$dir" modules_install
cp "$obj/arch/x86/boot/bzImage" "$dir/vmlinuz.part"
mv "$dir/vmlinuz.part" "$dir/vmlinuz"
echo "$rel" >"$dir/release"
echo "$key" >"$dir/key"
say "debug kernel $rel: $(($(date +%s) - began)) s"
