#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# packages.sh's part in the machine, before systemd: the disk with serial "root" becomes a machine that has the packages in a
# folder, and nothing of ddio yet.
set -eu
. "$(dirname "$0")/lib_root.sh"
open_root
mkdir -p $root/mnt/data $root/mnt/other
printf 'fuse\nveth\nbridge\n' >$root/etc/modules-load.d/ddio.conf
cat >$root/etc/fstab <<-FSTAB
	/dev/disk/by-id/virtio-root / ext4 defaults 0 0
	io0:/ /mnt/data ddio noauto,_netdev 0 0
FSTAB
test_service packages-guest.sh
