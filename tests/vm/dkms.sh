#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 2700
#
# The package ddio-dkms on a machine as an administrator has it: installed in a root
# file system with DKMS and kernel headers, in a virtual machine that runs that kernel.
# DKMS builds both modules there, udev names the device's group, a program made from the
# installed interface reads and writes through it, and removal leaves nothing.
set -u
. "$(dirname "$0")/lib.sh"

"$vm_dir/fetch.sh" 6.1 dkms || exit $?
make -s -C "$top" --no-print-directory dkms-deb >&2 || die "no package"
deb=$(ls -t "$top"/build/ddio-dkms_*_all.deb | head -1)
mkdir -p "$top/build/tests/vm"
# What a machine finds in /ddio/build/tests/vm
cp "$deb" "$top/build/tests/vm/ddio-dkms.deb"
"$vm_dir/run.sh" --kernel 6.1 --mod none --no-build --name dkms --timeout 2400 \
	--qemu "-drive if=none,id=root,format=raw,file=$cache/dkms/root.ext4,snapshot=on,cache=unsafe
		-device virtio-blk-pci,drive=root,serial=root" \
	--cmd 'bash tests/vm/dkms-guest.sh'
rc=$?
[ $rc -ne 77 ] || exit 77
out=$top/build/log/vm/dkms.out
p=$(grep -c '^ok ' "$out") f=$(grep -c '^not ok ' "$out")
[ $rc -eq 0 ] || [ "$f" -gt 0 ] || f=1
echo "$p passed, $f failed, 0 skipped"
[ "$f" -eq 0 ]
