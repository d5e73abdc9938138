#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Carries out every step of Documentation/recovery.rst as it stands there, on a cluster of two nodes.
. "$(dirname "$0")/lib_mount.sh"
page=$top/Documentation/recovery.rst
m=$dir/m
PATH=$build:$PATH

start_daemon() { # io0
	ddiod --conf "$DDIO_CONF" --node "$1" --pid-file "$dir/$1.pid" --log-file "$dir/$1.log"
}
stop_daemon() {
	local p
	p=$(cat "$dir/$1.pid" 2>/dev/null) || return 0
	kill "$p" 2>/dev/null
	soon_gone "$p"
}
systemctl() { # start ddiod@io0
	local node=${2#ddiod@}
	case $1 in
	start) start_daemon "$node" ;;
	stop) stop_daemon "$node" ;;
	restart) stop_daemon "$node" && start_daemon "$node" ;;
	esac
}
mount() { mount_at m hard; }

# commands NAME: those of a step, with this cluster's places
commands() {
	awk -v step="$1" '
		/^\.\. step: / { on = ($3 == step); next }
		on && /^   / { sub(/^   /, ""); print; some = 1; next }
		on && some && !/^$/ { exit }' "$page" |
		sed "s,/var/lib/ddio/,$dir/records/,g; s,/srv/ddio/,$dir/disks/,g; s,/mnt/data,$m,g
			s,/etc/ddio/ddio.conf,$DDIO_CONF,g; s,/tmp/lost,$dir/lost,g
			s,/backup,$dir/backup,g; s,/elsewhere,$dir/elsewhere,g; s,OLD,$old,; s,NEW,$new,"
}
declare -A tried
# step NAME: $out is what it printed
step() {
	tried[$1]=1
	commands "$1" >"$dir/step"
	check "step $1: there are commands" [ -s "$dir/step" ]
	out=$dir/out.$1
	# The last command counts, and those before it that are not followed by another in a pipe.
	. "$dir/step" >"$out" 2>&1
}
# empty_disk: an empty disk is put in the place of d1
empty_disk() {
	rm -f "$dir/disks/d1" && truncate -s 32M "$dir/disks/d1"
}
files() { (cd "$m" && find . -type f -printf '%P\n' | sort | xargs -rd '\n' sha256sum); }
same_files() { files | cmp - "$dir/sums"; }
fill() {
	mkdir "$m/sub" "$m/a name" && head -c 400000 /dev/urandom >"$m/big" &&
		head -c 300000 /dev/urandom >"$m/sub/two" && echo short >"$m/a name/short one" &&
		setfattr -n user.why -v because "$m/big" && setfacl -m u:1234:r "$m/sub/two" &&
		files >"$dir/sums"
}
attributes() {
	[ "$(getfattr --only-values -n user.why "$m/big" 2>/dev/null)" = because ] &&
		getfacl -c "$m/sub/two" 2>/dev/null | grep -q 'user:1234:r--'
}
# The mount may have read it before.
lost_is_an_error() {
	rm -f "$dir/big"
	fails "$1: what is lost is an error" "may have had data on the disk" "$ddio" export big "$dir/big"
}

mkdir -p "$dir/records" "$dir/disks" "$dir/backup" "$dir/elsewhere"
(umask 077 && head -c 32 /dev/urandom | base64 >"$dir/key")
port() { "$ddio" start --dir "$dir/p" --iops 2 -e mem >/dev/null && sed -n "s/^address = //p" "$dir/p/ddio.conf" &&
	"$ddio" stop --dir "$dir/p" --clean >/dev/null; }
read -rd '' a0 old < <(port)
new=${old%:*}:$((${old##*:} ^ 1))
export DDIO_CONF=$dir/ddio.conf
cat >"$DDIO_CONF" <<END
[cluster]
name = lab
namespace = io0
key_file = $dir/key
timeout = 5s

[node io0]
address = $a0
meta = $dir/records/io0

[node io1]
address = $old
meta = $dir/records/io1

[disk d0]
node = io0
engine = aio
path = $dir/disks/d0
size = 32M

[disk d1]
node = io1
engine = aio
path = $dir/disks/d1
size = 32M
END
mkdir "$dir/records/io0" "$dir/records/io1"
truncate -s 32M "$dir/disks/d0" "$dir/disks/d1"
check "the cluster starts" start_daemon io0 && check "both nodes" start_daemon io1
check "the mount" mount
check "files" fill

check "backup of files" step backup
check "backup of a node" step node-backup
check "... the mount goes on" same_files
check "... the backup has both" [ -s "$dir/backup/d1" -a -d "$dir/backup/io1/d1" ]

kill -9 "$(cat "$dir/io1.pid")"
check "a node is down: started again" step down
check "... ddio status has said which" grep -q '^io1 .*down' "$out"
check "... and then that it serves" [ "$(grep -c '^io1 .*down' "$out")" = 1 ]
check "... all is there" same_files

stop_daemon io1
empty_disk
check "a disk is lost: started without it" step disk-lost
fails "... it is refused by name" "disk d1 of node io1 is not the one.*ddio replace d1" "$ddio" fsck
check "... accepted" step disk-accept
lost_is_an_error "a disk is lost"
check "... a new file" cp "$dir/backup/data.tar" "$m/new"
check "... files are restored" step disk-restore
check "... fsck found them, and then nothing" grep -q ': consistent$' "$out"
rm "$m/new"
check "... all is there" same_files
check "... with their attributes" attributes

stop_daemon io1
empty_disk
check "a node is lost: another is accepted" step node-lost
lost_is_an_error "a node is lost"
check "... files are restored" step disk-restore
check "... fsck found them, and then nothing" grep -q ': consistent$' "$out"
check "... all is there" same_files

check "a younger backup" rm -r "$dir/backup/d1" "$dir/backup/io1"
check "... of the node" step node-backup
check "a file that is younger" cp "$m/big" "$m/younger"
sync "$m/younger"
check "a node is put back" step node-restore
fails "... it is refused by name" "disk d1 of node io1" "$ddio" fsck
step node-restore-accept
check "... fsck has found the younger file, and no other" [ "$(grep -c 'on disk d1 may be lost' "$out")" = 1 ]
check "... which can be removed" rm "$m/younger"
check "... the others are there" same_files
check "... all is consistent" "$ddio" fsck

check "the names are lost: started without them" step names-lost
check "... files are restored" step names-restore
check "... objects without a file were removed" grep -q 'belongs to no file: removed' "$out"
check "... all is there" same_files
check "... with their attributes" attributes

check "a node moves" step move
check "... nothing is left where it was" [ ! -e "$dir/disks/d1" -a ! -e "$dir/records/io1" ]
check "... all is there" same_files

for s in $(sed -n 's/^\.\. step: //p' "$page"); do
	check "the step $s was tried" [ -n "${tried[$s]:-}" ]
done
check "unmount" unmount m
stop_daemon io0
stop_daemon io1
