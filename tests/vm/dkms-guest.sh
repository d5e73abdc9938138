#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dkms.sh's part in the machine: works in the root on the disk with serial "root".
n=0 failed=0
try() {
	n=$((n + 1))
	if "$@"; then echo "ok $n $*"; else echo "not ok $n $*"; failed=1; fi
}
in_root() { chroot $root /usr/bin/env PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }

for s in /sys/block/vd*/serial; do
	[ "$(cat "$s")" = root ] && disk=/dev/$(basename "$(dirname "$s")")
done
[ -n "${disk:-}" ] || { echo "not ok 1 no disk with the root"; exit 1; }
root=/mnt/root
mkdir -p $root
mount "$disk" $root || { echo "not ok 1 $disk does not mount"; exit 1; }
for d in dev proc sys; do mount --bind /$d $root/$d; done
mount -t tmpfs tmpfs $root/run
# A machine has its kernel's own modules; the root has the headers only.
modprobe libcrc32c
cp tests/vm/dkms-io.c $root/root/
version=$(in_root dpkg-deb -f /root/ddio-dkms.deb Version)
kernel=$(uname -r)

is_installed() {
	local status
	status=$(in_root dkms status -m ddio)
	echo "# $status"
	grep -q ", $kernel, .*: installed\$" <<<"$status"
}
both_there() { [ -e "$root/lib/modules/$kernel/updates/dkms/$1.ko" ]; }
loads() { in_root modprobe "$@"; }

# As the rule has it, by udev's daemon; devtmpfs itself gives the device to root alone.
udev_rule() {
	in_root /lib/systemd/systemd-udevd --daemon --resolve-names=early || return 1
	sleep 1
	loads ddio || return 1
	for _ in {1..60}; do
		[ "$(in_root stat -c '%G %a' /dev/ddio)" = "disk 660" ] && return
		sleep 0.5
	done
	in_root stat -c '/dev/ddio is %G %a' /dev/ddio
	return 1
}
# Its control socket is deaf in a changed root.
end_udev() {
	local pid
	pid=$(pidof systemd-udevd) && kill $pid
	while [ -n "$pid" ] && [ -e "/proc/${pid%% *}" ]; do sleep 0.2; done
}

# The examples, copied as they say.
example_options() {
	sed 's/^#options/options/' "$root/usr/share/doc/ddio-dkms/examples/modprobe.d/ddio.conf" \
		>$root/etc/modprobe.d/ddio.conf || return 1
	loads hp97560 || return 1
	rm $root/etc/modprobe.d/ddio.conf
	ls -d /sys/block/hp97560_* | wc -l | grep -qx 16
}

io_works() {
	in_root gcc -Wall -Wextra -Werror -I/usr/src/ddio-$version/include/uapi -o /root/dkms-io /root/dkms-io.c &&
		in_root /root/dkms-io /dev/hp97560_0
}
# In the group by which the rule admits, and not root.
group_suffices() {
	in_root chgrp disk /dev/hp97560_0 && in_root chmod 660 /dev/hp97560_0 &&
		in_root setpriv --reuid=nobody --regid=disk --clear-groups /root/dkms-io /dev/hp97560_0
}
others_refused() {
	! in_root setpriv --reuid=nobody --regid=nogroup --clear-groups sh -c ': <>/dev/ddio'
}
group_admitted() {
	in_root setpriv --reuid=nobody --regid=disk --clear-groups sh -c ': <>/dev/ddio'
}
unloads() { in_root rmmod ddio && in_root rmmod hp97560; }
removes() { in_root dpkg -r ddio-dkms; }
nothing_left() {
	! find $root -xdev -not -path '*/var/log/*' -not -path '*/var/cache/*' -not -path '*/root/*' \
		\( -name '*ddio*' -o -name 'hp97560*' \) | grep .
}

try is_installed
try both_there ddio
try both_there hp97560
try udev_rule
try example_options
try io_works
try group_suffices
try group_admitted
try others_refused
end_udev
try unloads
try removes
try nothing_left
for d in run sys proc dev; do umount $root/$d; done
umount $root
exit $failed
