#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# The mount over a daemon whose disks go through the kernel engine: two hp97560 and the two scratch
# disks.  mount(8) by a line of fstab; the POSIX cases; a random load with its check; fio; two mounts;
# what a program has written collectively the mount sees at the next open, and the reverse; a daemon
# that is killed and comes back under the mount; fsck; and nothing left in the module.
#
# DDIO_POSIX='GLOB ...' chooses the POSIX cases, '*' is all of them.
. "$(dirname "$0")/t_lib.sh"
bin=$PWD/build/tests/vm
need $ddio $ddiod build/ddiofs
chmod 711 "$dir"
DDIO_CONF=/etc/ddio/ddio.conf
groups=${DDIO_POSIX:-data/* space/* lock/*}

clean_up() {
	local m
	for m in /mnt/x /mnt/y; do
		! is_mounted $m || umount $m || umount -l $m
	done
	stop_daemon
	rm -rf /etc/ddio /sbin/mount.ddio
	rmmod hp97560 2>/dev/null
}

is_mounted() { grep -q " $1 fuse.ddio " /proc/self/mounts; }
# live: prints the module's counts of live objects
live() { awk '/^live_/ && $2 { printf "%s ", $0 }' /sys/kernel/debug/ddio/stats; }
moved() { awk '$1 == "blocks" { print $2 }' /sys/kernel/debug/ddio/stats; }

# Sets up what an administrator would: configuration, mount helper, lines of fstab.
set_up() {
	local i=0 d
	mkdir -p /etc/ddio /mnt/x /mnt/y
	{
		conf_node 'block = 64K' 'timeout = 20s'
		echo 'cache = 16M'
		for d in /dev/hp97560_0 /dev/hp97560_1 /dev/vda /dev/vdb; do
			[ -b $d ] || continue
			dd if=/dev/zero of=$d bs=1M count=1 conv=fsync status=none
			conf_disk $i kmod $d
			i=$((i + 1))
		done
	} >$DDIO_CONF
	ln -sf "$PWD/build/ddiofs" /sbin/mount.ddio
	printf 'io0:/ /mnt/%s ddio defaults,suid,dev,_netdev 0 0\n' x y >/etc/fstab
	[ $i -ge 2 ]
}

kill_daemon() {
	kill -9 $daemon
	wait $daemon 2>/dev/null
	daemon=
}

# The engine is asked for by name: every disk has it, and /dev/ddio is open.
engine_holds() {
	local disks
	disks=$(grep -c '^\[disk' $DDIO_CONF)
	[ "$($ddio status | grep -cw kmod)" = "$disks" ] && [ "$(uses ddio)" -gt 0 ]
}

posix() {
	local g out=$dir/posix
	mkdir -m 777 /mnt/x/posix
	set -f
	for g in $groups; do
		"$bin/posix" /mnt/x/posix --jobs 4 --only "$g" >"$out" 2>&1
		check "POSIX cases $g: $(tail -n 1 "$out")" grep -qE '^[1-9][0-9]* passed, 0 failed' "$out"
		grep -a '^FAILED' "$out" | shows
	done
	set +f
	check "nothing is left of them" rmdir /mnt/x/posix
}

verify() {
	fio --name=v --directory=/mnt/x --size=4M --bs=16k --rw=randwrite --verify=crc32c --verify_fatal=1 \
		--do_verify=1 --end_fsync=1 --ioengine=psync --fallocate=none --numjobs=2 --group_reporting \
		>"$dir/fio" 2>&1 && rm -f /mnt/x/v.*.0 && return
	shows "$dir/fio"
	return 1
}

# crowd FILE ARGUMENTS ...: four processes, collectively; every byte is compared when they read
crowd() {
	local f=$1
	shift
	"$bin/crowd" -n 4 -s 1048576 -r 8 -f "$f" "$@" >"$dir/crowd" 2>&1
	[ "$(grep -c '^rank [0-9]* ok' "$dir/crowd")" = 4 ] && return
	shows "$dir/crowd"
	return 1
}

[ -e /dev/fuse ] || modprobe fuse || skip "no fuse module"
rmmod hp97560 2>/dev/null
modprobe hp97560 nr_devices=2 time_scale=0 || { not_ok "disks"; exit 1; }
check "configuration and fstab" set_up
check "daemon" start_daemon || exit
check "every disk has the kernel engine" engine_holds
before=$(moved)
check "mount, by its line of fstab" mount /mnt/x
check "it is there" is_mounted /mnt/x || exit
check "mount -a mounts the other" mount -a -t ddio
check "it is there" is_mounted /mnt/y

# Between the mounts, and with programs that use the library.
head -c 3000001 /dev/urandom >"$dir/one"
check "a file by one mount" cp "$dir/one" /mnt/x/one
check "... is in the other" cmp "$dir/one" /mnt/y/one
check "four processes write one collectively" crowd both -w
check "the mount sees it" [ "$(stat -c %s /mnt/x/both)" = 1048576 ]
cp /mnt/x/both "$dir/both"
check "... as the library exports it" cmp "$dir/both" <($ddio export both -)
check "a copy by the mount" cp /mnt/x/both /mnt/x/copy
check "... is what four processes read" crowd copy
head -c 1048576 /dev/zero >/mnt/x/both
check "the mount writes it: the library reads that" cmp /mnt/x/both <($ddio export both -)
check "four processes write it again" crowd both -w
check "... which the mount sees at the next open" cmp "$dir/both" /mnt/x/both
check "... and the other" cmp "$dir/both" /mnt/y/both

posix
check "fio with verification" verify
check "a random load" "$bin/fsload" run /mnt/x "$dir/load" "${DDIO_SEED:-1}" 2 "${DDIO_LOADS:-150}"

# After the daemon is killed, fsync'ed data are there and the mounts go on.
exec 9>/mnt/x/open
echo kept >&9
sync /mnt/x/open
kill_daemon
check "killed: daemon again" start_daemon
check "... with the kernel engine" engine_holds
echo more >&9
exec 9>&-
check "a file that was open goes on" cmp /mnt/x/open <(printf 'kept\nmore\n')
check "the load is as it was" "$bin/fsload" check /mnt/x "$dir/load"
check "the module moved $(($(moved) - before)) blocks" [ "$(moved)" -gt "$before" ]

check "umount" umount /mnt/x
check "umount" umount /mnt/y
check "fsck" $ddio fsck
check "mount once more" mount /mnt/x
check "... all is there" cmp "$dir/one" /mnt/x/one
check "umount" umount /mnt/x
stop_daemon
check "nothing is alive in the module: $(live)" [ -z "$(live)" ]
check "the module is not in use" [ "$(uses ddio)" = 0 ]
grep -vE ' (info|debug): ' "$dir/log" | sed 's/^/# log: /'
