#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# packages.sh's part in the machine, as a service of it.
. "$(dirname "$0")/lib_guest.sh"
debs=/ddio/build/tests/vm/debs
export DEBIAN_FRONTEND=noninteractive PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
quietly() { "$@" >/tmp/out 2>&1 || { tail -n 15 /tmp/out | sed 's/^/# /'; return 1; }; }
put() { quietly dpkg -i "$debs/$1"/*.deb; }
version_of() { dpkg-deb -f "$(echo "$debs/$1"/libddio0_*.deb)" Version; }
installed() { [ "$(dpkg-query -W -f '${Version}\n' libddio0 ddio ddio-server ddio-fs | sort -u)" = "$(version_of "$1")" ]; }
pid() { show "ddiod@io$1" MainPID; }
net_of() { stat -Lc %i "/proc/$1/ns/net"; }
all() {
	local i
	for i in 0 1 2; do "$@" $i || return; done
}

# Three networks, and this one, which is the clients'.
net() {
	ip netns add "io$1" && ip link add "p$1" type veth peer name eth0 netns "io$1" && ip link set "p$1" master br0 up &&
		ip -n "io$1" addr add "10.98.0.$(($1 + 1))/24" dev eth0 && ip -n "io$1" link set eth0 up && ip -n "io$1" link set lo up
}
nets() {
	ip link add br0 type bridge && ip addr add 10.98.0.10/24 dev br0 && ip link set br0 up && all net || return
	mkdir -p /etc/systemd/system/ddiod@.service.d
	printf '[Service]\nNetworkNamespacePath=/run/netns/%%i\n' >/etc/systemd/system/ddiod@.service.d/network.conf
	systemctl daemon-reload
}
configure() {
	local i
	mkdir -p /etc/ddio && install -d -o ddio -g ddio /srv/ddio || return
	(umask 077 && head -c 32 /dev/urandom | base64 >/etc/ddio/key) && chown ddio:ddio /etc/ddio/key || return
	{
		printf '[cluster]\nname = packages\nkey_file = /etc/ddio/key\nblock = 64K\n'
		for i in 0 1 2; do
			printf '[node io%d]\naddress = 10.98.0.%d:7400\nmeta = /var/lib/ddio/io%d\ncache = 8M\n' $i $((i + 1)) $i
			printf '[disk d%d]\nnode = io%d\nengine = aio\npath = /srv/ddio/d%d\nsize = 64M\n' $i $i $i
			install -o ddio -g ddio /dev/null /srv/ddio/d$i
		done
	} >/etc/ddio/ddio.conf
}
is_node() { active "ddiod@io$1"; }
own_net() {
	local n
	n=$(net_of "$(pid "$1")") && [ "$n" != "$(net_of 1)" ] && [ "$n" = "$(stat -Lc %i "/run/netns/io$1")" ]
}
ours() { [ "$(stat -c %U "/proc/$(pid "$1")")" = ddio ]; }
start() { systemctl start "ddiod@io$1"; }
stop() { systemctl stop "ddiod@io$1"; }
current() { [ "$(readlink "/proc/$(pid "$1")/exe")" = /usr/sbin/ddiod ]; }
stopped() { [ "$(show "ddiod@io$1" ActiveState)" = inactive ]; }
no_daemon() { ! grep -lx ddiod /proc/[0-9]*/comm 2>/dev/null; }
both() { cmp /tmp/f /mnt/data/f && cmp /tmp/f /mnt/data/g; }

check "this is a machine of systemd" [ "$(cat /proc/1/comm)" = systemd ]
check "install" put old || exit
check "... what is installed is that" installed old
check "nothing was started" no_daemon
check "the daemon's user is there" id ddio
check "three networks" nets || exit
check "configuration, key, disks" configure
check "three nodes start at boot from now on" systemctl -q enable ddiod@io0 ddiod@io1 ddiod@io2
check "... and start" all start || exit
check "... each in a network of its own" all own_net
check "... as the user ddio" all ours
check "status" quietly ddio status
sed 's/^name/security = none\n&/' /etc/ddio/ddio.conf >/tmp/plain.conf
check "connections are those of TLS" eval 'ddio status --conf /tmp/plain.conf 2>&1 | grep -q "speaks TLS only"'
head -c 3000000 /dev/urandom >/tmp/f
check "a file goes in" ddio import /tmp/f f
check "the mount of fstab" systemctl start mnt-data.mount
check "... has it" cmp /tmp/f /mnt/data/f
check "a mount as a service" systemctl start ddiofs@mnt-other
check "... takes another" eval 'cp /tmp/f /mnt/other/g && sync -f /mnt/other'
before=$(all pid | xargs)
check "upgrade, while all runs" put new
check "... what is installed is that" installed new
check "... no daemon was restarted" [ "$(all pid | xargs)" = "$before" ]
check "... and mounts go on" both
for i in 0 1 2; do
	check "... node $i runs what it was started with" eval '! current $i'
	check "node $i restarts" systemctl restart "ddiod@io$i"
	check "... with the new program" current $i
	check "... in its network" own_net $i
	check "... and mounts go on" both
done
check "the mount of fstab again" systemctl restart mnt-data.mount
check "... has both files" both
check "fsck" quietly ddio fsck
check "nothing has failed" [ -z "$(systemctl --failed --plain --no-legend)" ]
check "unmount" systemctl stop mnt-data.mount
check "remove" quietly dpkg -r ddio-fs ddio-server ddio libddio0
check "... mounts as services are gone" eval '! is_mounted /mnt/other'
check "... and the nodes have stopped, in order" all stopped
check "... no program runs or is left" eval 'no_daemon && ! ls /usr/bin/ddio* /usr/sbin/ddio* /usr/sbin/mount.ddio 2>/dev/null | grep .'
check "purge" quietly dpkg -P ddio-fs ddio-server ddio libddio0
check "... no unit waits for the next boot" eval '! ls /etc/systemd/system/*.wants 2>/dev/null | grep ddiod'
check "... nothing has failed" [ -z "$(systemctl --failed --plain --no-legend)" ]
check "configuration and data are left" eval 'test -s /etc/ddio/key && test -s /srv/ddio/d0 && test -d /var/lib/ddio/io0'
check "installed again" put new
check "... three nodes start" all start
check "... the data are there" eval 'ddio export f /tmp/again && cmp /tmp/f /tmp/again'
check "the nodes stop" all stop
