#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Mounting and unmounting in every way, options, errors; one file through the mount and through the library.
. "$(dirname "$0")/lib_mount.sh"
fs=$build/ddiofs
check "start" start_cluster c --iops 2 --engine aio --files --disk-size 256M --cache 32M --timeout-ms 4000
mkdir "$dir/m" "$dir/m2"

# In the background, the mount is ready when the command returns.
check "mount" in_time 20 "$fs" "$DDIO_CONF" "$dir/m"
check "it is there" is_mounted "$dir/m"
check "write" bash -c "echo hello >$dir/m/a && mkdir -p $dir/m/sub/dir && echo below >$dir/m/sub/dir/b"
check "read" grep -q hello "$dir/m/a"
check "umount" in_time 20 umount "$dir/m"
check "it is gone" eval '! is_mounted "$dir/m"'
check "mount again" in_time 20 "$fs" "$DDIO_CONF" "$dir/m"
check "what was written is there" grep -q hello "$dir/m/a"

# The attributes of a removed file that is still open can be read.
mkdir "$dir/m/gone"
exec 9<"$dir/m/gone"
check "a directory that is open is removed" rmdir "$dir/m/gone"
sleep 1.1 # the kernel caches attributes for a second
check "... and has no name" test "$(stat -Lc %h:%F /proc/self/fd/9)" = 0:directory
exec 9<&-

# The same holds for a file: fsck counts it, finds nothing wrong, and leaves it alone.
exec 9<>"$dir/m/nameless"
head -c 100000 /dev/urandom | tee "$dir/nameless" >&9
sync "$dir/m/nameless" && rm "$dir/m/nameless"
check "fsck" "$ddio" fsck >"$dir/said"
check "... counts it" grep -q '^1 files without a name' "$dir/said"
check "... says nothing else of it" eval '! grep -q "cut short\|belongs to no file" "$dir/said"'
check "fsck --repair" "$ddio" fsck --repair >"$dir/said"
check "... leaves it, too" grep -q '^1 files without a name' "$dir/said"
check "it can be read" cmp "$dir/nameless" /proc/self/fd/9
exec 9<&-
none_left() {
	"$ddio" fsck | grep -q ' 0 orphans: consistent'
}
check "closed, it is gone" soon none_left

# Sources.
check "a directory of the cluster" in_time 20 "$fs" -o "conf=$DDIO_CONF" "io0:/sub/dir" "$dir/m2"
check "its files" grep -q below "$dir/m2/b"
check "its parent is outside" test "$(stat -c %i "$dir/m2/..")" = "$(stat -c %i "$dir")"
check "umount" umount "$dir/m2"
fails "a directory that is not there" "No such file" in_time 20 "$fs" -o "conf=$DDIO_CONF" io0:/no "$dir/m2"
fails "a file" "Not a directory" in_time 20 "$fs" -o "conf=$DDIO_CONF" io0:/a "$dir/m2"

# Container engines have an overlay's upper directory on it: what is removed or moved from below leaves a whiteout.
overlay() {
	local o=$1/overlay
	mkdir -p "$o/lower" "$o/upper" "$o/work" "$dir/over"
	echo low >"$o/lower/f" && echo moved >"$o/lower/g"
	mount -t overlay overlay -o "lowerdir=$o/lower,upperdir=$o/upper,workdir=$o/work" "$dir/over" || return
	rm "$dir/over/f" && mkdir "$dir/over/f" && mv "$dir/over/g" "$dir/over/h" && rmdir "$dir/over/f" &&
		[ "$(ls "$dir/over")" = h ] && grep -q moved "$dir/over/h"
	umount "$dir/over" && [ -c "$o/upper/f" ] && [ -c "$o/upper/g" ] && [ "$(stat -c %t:%T "$o/upper/g")" = 0:0 ]
}
if grep -qw overlay /proc/filesystems || modprobe overlay 2>/dev/null; then
	check "an overlay with its upper directory here" overlay "$dir/m"
	check "... goes" rm -r "$dir/m/overlay"
else
	skipped=$((skipped + 1))
fi

# As mount(8) calls it.
ln -s "$fs" "$dir/mount.ddio"
check "mount.ddio" in_time 20 "$dir/mount.ddio" io0:/ "$dir/m2" -n -s -v -o "rw,conf=$DDIO_CONF,_netdev,noauto,user,x-systemd.automount"
check "it is there" is_mounted "$dir/m2"
check "umount" umount "$dir/m2"
check "fake" in_time 20 "$dir/mount.ddio" io0:/ "$dir/m2" -f -o "conf=$DDIO_CONF"
check "mounts nothing" eval '! is_mounted "$dir/m2"'
cat >"$dir/by_fstab" <<-EOF
	mkdir -p $dir/up $dir/wk
	mount -t tmpfs none $dir/up && mkdir $dir/up/u $dir/up/w && ln -s $fs $dir/up/u/mount.ddio &&
	mount -t overlay overlay -o lowerdir=/usr/sbin,upperdir=$dir/up/u,workdir=$dir/up/w /usr/sbin || exit 77
	echo "io0:/ $dir/m2 ddio defaults,_netdev,allow_suid,allow_dev,conf=$DDIO_CONF 0 0" >$dir/fstab
	in_time 20 mount -T $dir/fstab $dir/m2 && grep -q hello $dir/m2/a && findmnt -n -t fuse.ddio $dir/m2 &&
		! findmnt -n -o OPTIONS $dir/m2 | grep -q 'nosuid\|nodev' && in_time 20 umount $dir/m2
EOF
unshare -m bash "$dir/by_fstab" >"$dir/said" 2>&1
case $? in
0) ok "a line of fstab" ;;
77) skipped=$((skipped + 1)) ;;
*) not_ok "a line of fstab: $(cat "$dir/said")" ;;
esac

# Options.
check "ro" in_time 20 "$fs" -o ro "$DDIO_CONF" "$dir/m2"
fails "... refuses to write" "Read-only" touch "$dir/m2/x"
check "... and reads" grep -q hello "$dir/m2/a"
check "umount" umount "$dir/m2"
check "uid, gid" in_time 20 "$fs" -o uid=10001,gid=10002 "$DDIO_CONF" "$dir/m2"
check "... are shown" test "$(stat -c %u:%g "$dir/m2/a")" = 10001:10002
fails "... and cannot be changed" "not permitted" chown 5 "$dir/m2/a"
check "umount" umount "$dir/m2"
check "nosuid,nodev,noexec" in_time 20 "$fs" -o nosuid,nodev,noexec "$DDIO_CONF" "$dir/m2"
check "... are the kernel's" grep -q "$dir/m2 fuse.ddio [^ ]*nosuid,nodev,noexec" /proc/self/mounts
check "umount" umount "$dir/m2"
fails "unknown option" 'unknown option "foo"' "$fs" -o foo "$DDIO_CONF" "$dir/m2"
fails "option without its value" "needs a value" "$fs" -o timeout "$DDIO_CONF" "$dir/m2"
fails "option with a value it has not" "takes no value" "$fs" -o ro=1 "$DDIO_CONF" "$dir/m2"
fails "wrong value" 'does not take "often"' "$fs" -o cache=often "$DDIO_CONF" "$dir/m2"
fails "wrong number" 'does not take "-1"' "$fs" -o uid=-1 "$DDIO_CONF" "$dir/m2"
fails "no source" "SOURCE and DIR" "$fs" "$dir/m2"
fails "a source that is none" "neither" "$fs" foo "$dir/m2"
fails "no configuration" "no/such" in_time 20 "$fs" "$dir/no/such.conf" "$dir/m2"
fails "no directory" "No such file" "$fs" "$DDIO_CONF" "$dir/no"
fails "a file" "not a directory" "$fs" "$DDIO_CONF" "$DDIO_CONF"

# Reads and writes the same file through the mount and through the library.
head -c 3000001 /dev/urandom >"$dir/random"
check "ddio import" "$ddio" import "$dir/random" imported
check "... is in the mount" cmp "$dir/random" "$dir/m/imported"
check "cp to the mount" cp "$dir/random" "$dir/m/copied"
check "ddio export" "$ddio" export copied "$dir/exported"
check "... is what was copied" cmp "$dir/random" "$dir/exported"
check "in a directory" cp "$dir/random" "$dir/m/sub/dir/c"
check "ddio export of it" "$ddio" export sub/dir/c "$dir/exported2"
check "... is what was copied" cmp "$dir/random" "$dir/exported2"
# Attributes that are settled do not change between two calls.
sync "$dir/m/copied" "$dir/m/sub/dir/c"
check "ddio layout" "$ddio" layout copied
lines=$("$ddio" layout copied)
check "... by a path in the mount" [ "$("$ddio" layout "$dir/m/copied")" = "$lines" ]
check "... by a path from there" [ "$(cd "$dir/m/sub" && DDIO_CONF= "$ddio" layout ../copied)" = "$lines" ]
check "... in a mount of a directory" in_time 20 "$fs" -o "conf=$DDIO_CONF" io0:/sub "$dir/m2"
lines=$("$ddio" layout sub/dir/c)
check "... is that of the name" [ -n "$lines" -a "$("$ddio" layout "$dir/m2/dir/c")" = "$lines" ]
check "umount" umount "$dir/m2"
fails "... of a directory" "directory" "$ddio" layout "$dir/m/sub"
fails "... of what is not there" "No such file" "$ddio" layout "$dir/m/nothing"
check "ddio rm" "$ddio" rm imported
sleep 1.1
fails "... is gone from the mount" "No such file" cat "$dir/m/imported"

# A write that does not change the file's size is seen at the next open, too.
crowd() { "$helpers/crowd" -n 4 -s 1048576 -r 8 -f both "$@" | grep -c ok | grep -qx 4; }
for method in dds tc; do
	check "written collectively by $method" crowd -w -m $method
	cp "$dir/m/both" "$dir/both"
	head -c 1048576 /dev/zero >"$dir/m/both"
	check "written by the mount: the library reads that" cmp "$dir/m/both" <("$ddio" export both -)
	check "written collectively again" crowd -w -m $method
	check "... is what the mount reads" cmp "$dir/both" "$dir/m/both"
	check "... and all that four processes read" crowd
done
check "setfattr of the stripe" setfattr -n ddio.stripe -v 65536 "$dir/m/sub"
touch "$dir/m/sub/striped"
check "new files have it" grep -qx 65536 <(getfattr -n ddio.stripe --only-values "$dir/m/sub/striped"; echo)
check "... as their block" test "$(stat -c %o "$dir/m/sub/striped")" = 65536
check "umount" umount "$dir/m"

# Signals, busy mounts.
check "mount" mount_at m
exec 9>"$dir/m/busy" 8<"$dir/m"
echo written >&9
fails "umount of a busy mount" "busy" umount "$dir/m"
kill "${pid[m]}"
check "SIGTERM ends it" wait "${pid[m]}"
check "... and frees the directory" eval '! is_mounted "$dir/m"'
exec 9>&- 8<&- 2>/dev/null
check "mount" mount_at m cache=always
exec 9>"$dir/m/busy2"
echo "written late" >&9
kill "${pid[m]}"
check "SIGTERM ends one that caches all" wait "${pid[m]}"
exec 9>&-
check "mount" mount_at m
check "what was written is there" grep -q "written" "$dir/m/busy"
check "what was cached is there" grep -q "written late" "$dir/m/busy2"
kill -9 "${pid[m]}"
wait "${pid[m]}" 2>/dev/null
fails "a mount that was killed" "not connected" ls "$dir/m"
fails "... is told of by the next" "umount it first" "$fs" "$DDIO_CONF" "$dir/m"
check "... and goes" umount "$dir/m"
check "mount" mount_at m
check "all is there" grep -q hello "$dir/m/a"

# Runs ddio mount as root and as an ordinary user.
check "ddio umount" "$ddio" umount "$dir/m"
check "... ends the process" wait "${pid[m]}"
fails "ddio mount on what is not there" "make it first" in_time 20 "$ddio" mount "$dir/new"
check "... makes nothing" [ ! -e "$dir/new" ]
mkdir "$dir/new"
check "ddio mount" in_time 20 "$ddio" mount "$dir/new"
check "... has the files" grep -q hello "$dir/new/a"
check "ddio umount" "$ddio" umount "$dir/new"
fails "ddio umount of what is none" "not a mount of ddio" "$ddio" umount "$dir/new"
# fusermount3 needs a user that has a name.
as="setpriv --reuid=nobody --regid=nogroup --clear-groups"
if [ -u "$(command -v fusermount3)" ] && $as test -x "$fs" 2>/dev/null; then
	mkdir "$dir/user" && chown nobody:nogroup "$dir/user"
	cat >"$dir/by_user" <<-EOF
		cd $dir/user && export DDIO_CONF=$dir/user/u/ddio.conf
		$ddio start --dir u --iops 2 --engine mem --disk-size 64M >/dev/null || exit 1
		in_time 20 $ddio mount && echo mine >ddio-mnt/f && grep -q mine ddio-mnt/f &&
			test "\$(stat -c %U ddio-mnt/f)" = nobody &&
			in_time 20 $ddio mount 2>&1 | grep 'already' &&
			kill -9 \$(pgrep -u nobody -f "^$fs .*u/ddio.conf") && cd . &&
			for i in \$(seq $((100 * DDIO_PATIENCE))); do ls ddio-mnt >/dev/null 2>&1 || break; sleep 0.2; done &&
			in_time 20 $ddio mount 2>&1 | grep 'umount it first' &&
			in_time 20 $ddio umount && in_time 20 $ddio mount && grep mine ddio-mnt/f &&
			in_time 20 $ddio umount && ! in_time 20 $ddio umount && in_time 20 $ddio umount -m &&
			{ grep -q '^user_allow_other' /etc/fuse.conf ||
			in_time 20 $ddio mount -o allow_other 2>&1 | grep "'user_allow_other' is set in /etc/fuse.conf"; }
		rc=\$?
		$ddio stop --dir u >/dev/null
		exit \$rc
	EOF
	# Makes a device that everybody may open, as udev does.
	mknod -m 666 "$dir/fuse" c 10 229
	check "by somebody who is not root" unshare -m bash -c \
		"mount --bind $dir/fuse /dev/fuse && exec $as bash $dir/by_user"
else
	skipped=$((skipped + 1))
fi

# While the mount lasts.
check "mount" mount_at m
check "the nodes stop and start" eval 'stop_cluster c && start_node c io0 && start_node c io1'
check "the mount goes on" in_time 20 ls "$dir/m"
check "unmount" unmount m
check "fsck" "$ddio" fsck
