#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Tries every mount option: what it does, and the error for an invalid value.
. "$(dirname "$0")/lib_mount.sh"
fs=$build/ddiofs
check "start" start_cluster c --iops 2 --engine mem --files --disk-size 128M --timeout-ms 4000
tried=

# option NAME ...: notes that these options are tried below
option() { tried="$tried $*"; }
# with LIST: mounts the cluster on m with these options, in the background
with() { in_time 30 "$fs" -o "$1" "$DDIO_CONF" "$dir/m"; }
off() { in_time 30 umount "$dir/m"; }
kernel_has() { grep -qE " $dir/m fuse.ddio ([^ ]*,)?$1[, ]" /proc/self/mounts; }
nobody() { setpriv --reuid=10001 --regid=10001 --clear-groups "$@"; }
mkdir "$dir/m"
check "mount" mount_at base
echo hello >"$dir/base/f"
chmod 600 "$dir/base/f"

option conf
check "conf" in_time 30 "$fs" -o "conf=$DDIO_CONF" io0:/ "$dir/m"
check "... is the cluster" grep -q hello "$dir/m/f"
off
fails "conf of nothing" "no/such" in_time 30 "$fs" -o conf=/no/such io0:/ "$dir/m"

option ro rw
check "ro" with ro
check "... the kernel knows" kernel_has ro
fails "... and refuses" "Read-only" touch "$dir/m/f"
off
check "ro,rw: the last one holds" with ro,rw
check "... and writes" touch "$dir/m/f"
off

# Sets the access time back; with relatime the next read changes it.
option noatime atime
check "noatime" with noatime
touch -a -d '2 days ago' "$dir/m/f"
was=$(stat -c %X "$dir/m/f")
cat "$dir/m/f" >/dev/null
sleep 1.1
check "... reading leaves it" test "$(stat -c %X "$dir/m/f")" = "$was"
off
check "atime" with noatime,atime
cat "$dir/m/f" >/dev/null
sleep 1.1
check "... reading changes it" test "$(stat -c %X "$dir/m/f")" -gt "$was"
off

option uid gid
check "uid, gid" with uid=10001,gid=10002
check "... are shown" test "$(stat -c %u:%g "$dir/m/f")" = 10001:10002
check "... the user shown as the owner may read" nobody cat "$dir/m/f"
off
check "uid alone" with uid=0
check "... leaves the group" test "$(stat -c %u:%g "$dir/m/f")" = 0:0
off

option default_permissions nodefault_permissions
check "default_permissions" with nodefault_permissions,default_permissions
fails "... others may not read" "denied" nobody cat "$dir/m/f"
off
check "nodefault_permissions" with nodefault_permissions
check "... others may" nobody cat "$dir/m/f"
off

option allow_other noallow_other
check "noallow_other" with noallow_other
fails "... others may not even look" "denied" nobody ls "$dir/m"
check "... the user that mounted may" ls "$dir/m"
off
check "allow_other" with noallow_other,allow_other
check "... others may look" nobody ls "$dir/m"
off

# A change by another mount is seen at once, or when the cached state has expired.
option cache attr_timeout entry_timeout negative_timeout
seen() {
	echo "$1" >>"$dir/base/f"
	test "$(stat -c %s "$dir/m/f")" = "$(stat -c %s "$dir/base/f")"
}
check "cache=none" with cache=none
stat "$dir/m/f" >/dev/null
check "... a change is seen at once" seen x
off
check "attr_timeout" with cache=auto,attr_timeout=1000
stat "$dir/m/f" >/dev/null
check "... a change is not seen" eval '! seen x'
check "... but a program that opens the file sees it" cmp "$dir/m/f" "$dir/base/f"
off
check "attr_timeout=0" with attr_timeout=0
stat "$dir/m/f" >/dev/null
check "... a change is seen at once" seen x
off
check "entry_timeout" with entry_timeout=1000,attr_timeout=1000
echo 1 >"$dir/base/e" && stat "$dir/m/e" >/dev/null && rm "$dir/base/e"
check "... a name that was removed is still cached" stat "$dir/m/e"
off
check "entry_timeout=0" with entry_timeout=0
echo 1 >"$dir/base/e" && stat "$dir/m/e" >/dev/null && rm "$dir/base/e"
fails "... is not" "No such file" stat "$dir/m/e"
off
check "negative_timeout" with negative_timeout=1000
fails "... a name that is not there" "No such file" stat "$dir/m/later"
touch "$dir/base/later"
fails "... its failed lookup is cached" "No such file" stat "$dir/m/later"
off
check "negative_timeout=0" with negative_timeout=0
rm "$dir/base/later"
fails "... a name that is not there" "No such file" stat "$dir/m/later"
touch "$dir/base/later"
check "... is found once it exists" stat "$dir/m/later"
off
check "cache=always" with cache=always
stat "$dir/m/f" >/dev/null
check "... a change is not seen" eval '! seen x'
off
cp "$dir/base/f" "$dir/f"

option threads
threads() { ls /proc/"$1"/task | wc -l; }
check "threads" mount_at one threads=1
check "threads" mount_at many threads=6
check "... more of them" test "$(threads "${pid[many]}")" -gt "$(($(threads "${pid[one]}") + 4))"
check "... one thread reads correctly, too" cmp "$dir/f" "$dir/one/f"
unmount one
unmount many

option suid nosuid dev nodev exec noexec sync async dirsync
check "no option" with defaults
check "nosuid is the default" kernel_has nosuid
check "nodev is the default" kernel_has nodev
off
check "suid,dev" with suid,dev
check "... are the kernel's" eval '! kernel_has "(nosuid|nodev)"'
off
# maps FILE FLAGS: maps it shared
maps() { python3 -c 'import mmap, os, sys
flags = getattr(os, sys.argv[2])
mmap.mmap(os.open(sys.argv[1], flags), 4096, prot=mmap.PROT_READ | (mmap.PROT_WRITE if flags else 0))' "$@"; }
option shared_maps noshared_maps
head -c 8192 /dev/zero >"$dir/base/map"
check "noshared_maps" with noshared_maps
fails "... refuses a writable one" "No such device" maps "$dir/m/map" O_RDWR
check "... but not one to read" maps "$dir/m/map" O_RDONLY
check "... nor reading and writing" dd if="$dir/base/map" of="$dir/m/map" conv=notrunc bs=4096 status=none
off
check "shared_maps" with noshared_maps,shared_maps
check "... allows it" maps "$dir/m/map" O_RDWR
off
option allow_suid allow_dev strictatime
check "allow_suid,allow_dev, which mount(8) passes on" with rw,allow_suid,allow_dev
check "... are suid and dev" eval '! kernel_has "(nosuid|nodev)"'
off
fails "strictatime" "access times are updated as relatime does" in_time 30 "$fs" -o strictatime "$DDIO_CONF" "$dir/m"
for o in nosuid nodev noexec sync dirsync; do
	check "$o" with $o
	check "... is passed to the kernel" kernel_has $o
	off
done
check "suid,dev,exec,async undo them" with nosuid,suid,nodev,dev,noexec,exec,sync,async
check "... all" eval '! kernel_has "(nosuid|nodev|noexec|sync)"'
off
cp /bin/true "$dir/base/true"
check "noexec" with noexec
runs() { "$dir/m/true" || return 1; }
fails "... a program does not run" "denied" runs
off
check "exec" with exec
check "... it does" runs
off

option debug
"$fs" -f -o debug "$DDIO_CONF" "$dir/m" >"$dir/debug.out" 2>&1 &
check "debug" soon is_mounted "$dir/m"
ls "$dir/m" >/dev/null
mkdir "$dir/m/long" && (cd "$dir/m/long" && touch $(seq 1 100))
ls -l "$dir/m/long" >/dev/null
off
check "... shows requests" grep -q OPENDIR "$dir/debug.out"
# ls(1) asks each file for its ACL; for a label it asks until it hears that there are none.
check "... ls -l asks once for each file" test "$(grep -c GETXATTR "$dir/debug.out")" -lt 125

option defaults auto noauto user nouser users owner group nofail _netdev relatime diratime nodiratime
check "options for other programs are accepted" with "defaults,auto,noauto,user,nouser,users,owner,group,nofail,_netdev,relatime,diratime,nodiratime,comment=a b,x-systemd.automount,X-mount.mkdir"
off

# While a node does not answer, soft fails after the timeout and hard waits.
option soft hard timeout
head -c 4M /dev/urandom >"$dir/base/data"
check "soft with a timeout" mount_at soft soft,timeout=1
check "hard" mount_at hard soft,hard,timeout=1
kill_node c io1
began=$SECONDS
fails "soft: an error" "Input/output error" in_time 60 cat "$dir/soft/data"
check "... after the mount's own timeout, not the cluster's hour" test $((SECONDS - began)) -lt $((30 * DDIO_PATIENCE))
cat "$dir/hard/data" >"$dir/read" &
reader=$!
sleep 3
check "hard: the reader waits" kill -0 $reader
check "the node comes back" start_node c io1
check "hard: has read" wait $reader
unmount soft
unmount hard

# Refuses unknown options and invalid values.
fails "an unknown option" 'unknown option "foo"' "$fs" -o ro,foo "$DDIO_CONF" "$dir/m"
for o in conf timeout cache attr_timeout entry_timeout negative_timeout threads uid gid; do
	fails "$o without a value" "$o needs a value" "$fs" -o $o "$DDIO_CONF" "$dir/m"
done
for o in soft hard ro rw noatime atime debug allow_other nosuid default_permissions; do
	fails "$o with one" "$o takes no value" "$fs" -o $o=1 "$DDIO_CONF" "$dir/m"
done
for o in timeout=soon timeout=-1 timeout=nan timeout=1e99 timeout=5x timeout= attr_timeout=inf entry_timeout=x negative_timeout=-0.1 \
	threads=-1 threads=0x threads=99999999999 uid=root uid=4294967295 uid=+1 gid=1.5 cache=some cache=; do
	fails "$o" "option ${o%%=*} does not take \"${o#*=}\"" "$fs" -o "$o" "$DDIO_CONF" "$dir/m"
done
mkdir "$dir/with,comma" && cp "$DDIO_CONF" "$dir/with,comma/a,ro\\b.conf"
check "a source with a comma" in_time 30 "$fs" "$dir/with,comma/a,ro\\b.conf" "$dir/m"
check "... is not an option" touch "$dir/m/f"
off
check "no mount was made" eval '! is_mounted "$dir/m"'

# Called as mount.ddio, by mount(8) and its users.
option remount
ln -s "$fs" "$dir/mount.ddio"
"$dir/mount.ddio" -h >"$dir/help"
check "mount.ddio -h" grep -q "SOURCE DIR" "$dir/help"
for o in $("$fs" --list-options); do
	# shellcheck disable=SC2194
	case " suid nosuid dev nodev exec noexec sync async dirsync defaults auto noauto user nouser users owner group nofail _netdev relatime diratime nodiratime " in
	*" $o "*) ;;
	*) grep -qE "^  $o(=| )" "$dir/help" || not_ok "mount.ddio -h does not show $o" ;;
	esac
	case " $tried " in *" $o "*) ;; *) not_ok "option $o is not tried here" ;; esac
done
fails "remount" "unmount and mount again" "$dir/mount.ddio" io0:/ "$dir/base" -o "remount,ro,conf=$DDIO_CONF"
fails "remount of nothing" "unmount and mount again" "$dir/mount.ddio" io0:/ "$dir/m" -o "remount,conf=$DDIO_CONF"
check "unmount" unmount base
check "fsck" "$ddio" fsck
