#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
#
# The units and a line of fstab on a Debian with systemd, booted in a virtual machine: a daemon as its
# own user with the kernel engine, mounts that come after it and go before it, restarts under a mount,
# and an end of the machine that waits for nobody.
set -u
. "$(dirname "$0")/lib.sh"

"$vm_dir/fetch.sh" 6.1 systemd || exit $?
stage=$(mktemp -d)
chmod 755 "$stage"
trap 'rm -rf "$stage" "$top/build/tests/vm/installed.tar"' EXIT
make -s -C "$top" --no-print-directory install PREFIX=/usr DESTDIR="$stage" >&2 || die "make install"
mkdir -p "$top/build/tests/vm"
tar -C "$stage" -cf "$top/build/tests/vm/installed.tar" . || die "no tar of what is installed"
"$vm_dir/run.sh" --kernel 6.1 --mod none --name systemd --switch --timeout 500 \
	--append 'systemd.show_status=yes systemd.log_level=notice' \
	--qemu "-drive if=none,id=root,format=raw,file=$cache/systemd/root.ext4,snapshot=on,cache=unsafe
		-device virtio-blk-pci,drive=root,serial=root" \
	--cmd 'bash tests/vm/systemd-root.sh'
rc=$?
[ $rc -ne 77 ] || exit 77
out=$top/build/log/vm/systemd.out console=$top/build/log/vm/systemd.console
p=$(grep -c '^ok ' "$out") f=$(grep -c '^not ok ' "$out")

# Checks the shutdown of the machine from outside.
host_check() {
	local what=$1
	shift
	if "$@"; then p=$((p + 1)); else f=$((f + 1)); echo "not ok: $what"; fi
}
# line TEXT: where in the console; the last time
line() { sed 's/\x1b\[[0-9;]*m//g' "$console" | grep -anF "$1" | tail -n 1 | cut -d: -f1; }
before() {
	local a b
	a=$(line "$1") b=$(line "$2")
	[ -n "$a" ] && [ -n "$b" ] && [ "$a" -lt "$b" ]
}
host_check "who uses the mount ends before it goes" before 'Stopped writer.service' 'Unmounted mnt-data.mount'
host_check "the mount goes before its daemon" before 'Unmounted mnt-data.mount' 'Stopped ddiod@io0.service'
host_check "nothing is left for the last sweep" eval '! grep -aE "Failed unmounting|Failed to unmount|SIGKILL to remaining" "$console"'
[ $rc -eq 0 ] || [ "$f" -gt 0 ] || f=1
echo "$p passed, $f failed, 0 skipped"
[ "$f" -eq 0 ]
