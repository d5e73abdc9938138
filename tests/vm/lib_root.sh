# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What tests share that make the disk with serial "root" a machine's root, before systemd runs (systemd-root.sh,
# packages-root.sh).  Sourced.
root=/mnt/root
open_root() {
	local s disk
	for s in /sys/block/vd*/serial; do
		[ "$(cat "$s")" = root ] && disk=/dev/$(basename "$(dirname "$s")")
	done
	mkdir -p $root
	modprobe ext4
	mount "$disk" $root
	mkdir -p $root/lib/modules
	cp -a "/lib/modules/$(uname -r)" $root/lib/modules/
	cp -a /ddio $root/ddio
	ln -s /proc/self/mounts $root/etc/mtab 2>/dev/null || true
	echo ddio-vm >$root/etc/hostname
}
# test_service SCRIPT: the machine runs it when all else has begun, and tells its verdict at the very end
test_service() {
	cat >$root/etc/systemd/system/ddio-test.service <<-UNIT
		[Unit]
		After=multi-user.target
		[Service]
		Type=oneshot
		Environment=DDIO_PATIENCE=$DDIO_PATIENCE
		ExecStart=/bin/bash /ddio/tests/vm/$1
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
	chroot $root systemctl -q enable ddio-test.service
	chroot $root systemctl -q set-default graphical.target
	chroot $root systemctl -q mask getty.target serial-getty@ttyS0.service systemd-timesyncd.service apt-daily.timer \
		apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer e2scrub_all.timer
}
