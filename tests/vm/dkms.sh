#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
#
# The package ddio-dkms on a machine as an administrator has it: installed in a root file system with DKMS and
# kernel headers, where DKMS builds both modules, and then booted in a virtual machine with that kernel.  udev
# names the device's group, a program made from the installed interface reads and writes through it, and
# removal leaves nothing.  It is installed before the boot, since an emulated processor compiles for ten minutes.
set -u
. "$(dirname "$0")/lib.sh"

"$vm_dir/fetch.sh" 6.1 dkms || exit $?
make -s -C "$top" --no-print-directory dkms-deb >&2 || die "no package"
deb=$(ls -t "$top"/build/ddio-dkms_*_all.deb | head -1)
command -v mke2fs >/dev/null || skip "no mke2fs (Debian package e2fsprogs)"
mkdir -p "$top/build/tests/vm"
root=$(mktemp -d "$top/build/dkms.XXXXXX") || exit 1
trap 'rm -rf --one-file-system "$root" "$root.ext4"' EXIT
tar -C "$root" -xf "$cache/dkms/root.tar" && cp "$deb" "$root/root/ddio-dkms.deb" || die "no root"
unshare -m bash -c "mount -t proc proc $root/proc && exec chroot $root env -u TMPDIR DEBIAN_FRONTEND=noninteractive \
	PATH=/usr/sbin:/usr/bin:/sbin:/bin dpkg -i /root/ddio-dkms.deb" >&2 || {
	cat "$root"/var/lib/dkms/ddio/*/build/make.log
	die "ddio-dkms does not install"
}
mke2fs -q -t ext4 -d "$root" "$root.ext4" 1500M || die "no image of the root"
"$vm_dir/run.sh" --kernel 6.1 --mod none --no-build --name dkms --timeout 500 \
	--qemu "-drive if=none,id=root,format=raw,file=$root.ext4,snapshot=on,cache=unsafe
		-device virtio-blk-pci,drive=root,serial=root" \
	--cmd 'bash tests/vm/dkms-guest.sh'
rc=$?
[ $rc -ne 77 ] || exit 77
out=$top/build/log/vm/dkms.out
p=$(grep -c '^ok ' "$out") f=$(grep -c '^not ok ' "$out")
[ $rc -eq 0 ] || [ "$f" -gt 0 ] || f=1
echo "$p passed, $f failed, 0 skipped"
[ "$f" -eq 0 ]
