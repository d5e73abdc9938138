#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# systemd.sh's part in the machine, before systemd: makes the disk with serial "root" what an
# administrator has after "make install": modules, configuration, key, units enabled, fstab.
set -eu
root=/mnt/root
for s in /sys/block/vd*/serial; do
	[ "$(cat "$s")" = root ] && disk=/dev/$(basename "$(dirname "$s")")
done
mkdir -p $root
modprobe ext4
mount "$disk" $root
tar -C $root -xf build/tests/vm/installed.tar
mkdir -p $root/lib/modules
cp -a "/lib/modules/$(uname -r)" $root/lib/modules/
cp -a /ddio $root/ddio
cp udev/60-ddio.rules $root/lib/udev/rules.d/
printf 'ddio\nfuse\nhp97560\n' >$root/etc/modules-load.d/ddio.conf
echo 'options hp97560 nr_devices=1 time_scale=0' >$root/etc/modprobe.d/ddio.conf
ln -s /proc/self/mounts $root/etc/mtab 2>/dev/null || true
echo ddio-vm >$root/etc/hostname
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
cat >$root/etc/systemd/system/ddio-test.service <<-UNIT
	[Unit]
	After=multi-user.target
	[Service]
	Type=oneshot
	Environment=DDIO_PATIENCE=$DDIO_PATIENCE
	ExecStart=/bin/bash /ddio/tests/vm/systemd-guest.sh
	TimeoutStartSec=infinity
	[Install]
	WantedBy=graphical.target
UNIT
cat >$root/lib/systemd/system-shutdown/ddio-verdict <<-'END'
	#!/bin/bash
	# The very end: the machine has stopped everything.
	for n in /sys/class/virtio-ports/*; do
		case $(cat "$n/name") in
		ddio.out) out=/dev/${n##*/} ;;
		ddio.verdict) verdict=/dev/${n##*/} ;;
		esac
	done
	read -r now _ </proc/uptime
	read -r asked rc </run/ddio-asked
	took=$(awk -v a="$asked" -v b="$now" 'BEGIN { printf "%d", b - a }')
	# systemd kills a unit that has not stopped after 90 s: below that none had to be killed.
	if [ "$took" -lt 85 ]; then
		echo "ok the machine has stopped, $took s after it was told to" >$out
	else
		echo "not ok the machine took $took s to stop" >$out
		rc=1
	fi
	echo "exit ${rc:-1}" >$verdict
	echo end >$verdict
END
chmod 755 $root/lib/systemd/system-shutdown/ddio-verdict
systemctl() { chroot $root systemctl "$@"; }
systemctl -q enable ddiod@io0.service ddio-test.service
systemctl -q set-default graphical.target
systemctl -q mask getty.target serial-getty@ttyS0.service systemd-timesyncd.service apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer e2scrub_all.timer
