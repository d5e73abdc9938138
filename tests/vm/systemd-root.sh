#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# systemd.sh's part in the machine, before systemd: makes the disk with serial "root" what an
# administrator has after "make install": modules, configuration, key, units enabled, fstab.
set -eu
. "$(dirname "$0")/lib_root.sh"
open_root
tar -C $root -xf build/tests/vm/installed.tar
cp udev/60-ddio.rules $root/lib/udev/rules.d/
printf 'ddio\nfuse\nhp97560\n' >$root/etc/modules-load.d/ddio.conf
echo 'options hp97560 nr_devices=1 time_scale=0' >$root/etc/modprobe.d/ddio.conf
chroot $root systemd-sysusers

mkdir -p $root/etc/ddio $root/mnt/data $root/mnt/other $root/mnt/auto
head -c 32 /dev/urandom | base64 >$root/etc/ddio/key
chmod 600 $root/etc/ddio/key
chroot $root chown ddio:ddio /etc/ddio/key
cat >$root/etc/ddio/ddio.conf <<-CONF
	[cluster]
	name = vm
	key_file = /etc/ddio/key
	block = 64K
	timeout = 10s
	[node io0]
	address = 127.0.0.1:7400
	meta = /var/lib/ddio/io0
	cache = 8M
	[disk d0]
	node = io0
	path = /dev/vda
	[disk d1]
	node = io0
	path = /dev/hp97560_0
CONF
cat >$root/etc/fstab <<-FSTAB
	/dev/disk/by-id/virtio-root / ext4 defaults 0 0
	io0:/ /mnt/data ddio defaults,_netdev 0 0
	io0:/ /mnt/auto ddio noauto,_netdev,x-systemd.automount,nofail 0 0
FSTAB

# A service that works on the mount, and the test itself.
cat >$root/etc/systemd/system/writer.service <<-'UNIT'
	[Unit]
	RequiresMountsFor=/mnt/data
	[Service]
	ExecStart=/bin/bash -c 'exec >>/mnt/data/written; while echo "$((++n))"; do sleep 0.1; done'
UNIT
test_service systemd-guest.sh
chroot $root systemctl -q enable ddiod@io0.service
