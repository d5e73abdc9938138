#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# A disk whose file system does not answer: its daemon hangs in the call that submits a write.  Names, other disks and
# programs that only read the configuration go on; when it answers again, nothing is lost.  And a daemon that has no
# descriptors left.
. "$(dirname "$0")/lib_mount.sh"
powerfs=$build/tests/powerfs/powerfs

mkdir "$dir/below" "$dir/slow"
POWERFS_SLOW=1 "$powerfs" "$dir/below" "$dir/slow" 2>"$dir/powerfs.log" &
disk=$!
mounts+=(slow) pid[slow]=$disk
check "a file system that can be stopped" soon grep -q " $dir/slow fuse.powerfs " /proc/self/mounts
# within SECONDS FUNCTION: in_time runs no functions
within() {
	export -f "${2?}"
	export m n
	in_time "$1" bash -c "$2"
}
wake() { kill -CONT "$disk" 2>/dev/null; }
trap 'wake; finish' EXIT

# More reactors than disks: the name server's has none.
check "start" start_cluster c --iops 2 --disks 1 --reactors 2 --engine aio --files --disk-size 16M --block-size 32K \
	--cache 256K --timeout-ms 3000
stop_cluster c
mv "$dir/c/d0.img" "$dir/slow/d0"
sed -i "s,^path = .*/d0.img\$,path = $dir/slow/d0," "$dir/c/ddio.conf"
check "its disk is there" grep -q "^path = $dir/slow/d0" "$dir/c/ddio.conf"
check "start again" "$ddio" start --dir "$dir/c"
check "mount" mount_at m
m=$dir/m
head -c 4000000 /dev/urandom >"$dir/in"
check "a file" in_time 20 cp "$dir/in" "$m/before"
check "... that is durable" in_time 20 sync "$m/before"
check "a file of which all blocks lie on the other disk" in_time 20 "$ddio" import -q -d 1 "$dir/in" /other

kill -STOP "$disk"
# More than the cache holds: some of it must be written.
in_time 60 "$ddio" import -q -d 0 "$dir/in" /during >"$dir/import.log" 2>&1 &
writer=$!
submits() { # the call in which a thread is: io_submit(2)
	grep -qs '^209 ' "/proc/$(cat "$dir/c/io0.pid")/task"/*/syscall
}
[ "$(uname -m)" != x86_64 ] || check "its daemon hangs in the call that submits a write" soon submits
names() {
	local i
	for ((i = 0; i < 50; i++)); do
		mkdir "$m/d$i" && touch "$m/d$i/x" && mv "$m/d$i/x" "$m/d$i/y" && rm "$m/d$i/y" && rmdir "$m/d$i" || return 1
	done
}
check "names go on" within 20 names
[ "$(uname -m)" != x86_64 ] || check "... while the disk hangs" submits
check "so does a listing by a new program, which reads the configuration" in_time 20 "$ddio" ls
check "so does another disk" in_time 20 cmp "$dir/in" <("$ddio" export /other -)
check "writing to it, too" in_time 20 dd if="$dir/in" of="$m/other" bs=32K conv=notrunc,fsync status=none
check "locks go on" in_time 20 flock -x "$m/other" true
fails "a file on the disk that hangs is given up in time" "" in_time 30 cat "$m/before"
wake
wait "$writer"
check "the disk answers again" soon cmp -s "$dir/in" "$m/before"
check "what is written then is there" soon eval '"$ddio" import -q -f -d 0 "$dir/in" /after 2>/dev/null && cmp "$dir/in" <("$ddio" export /after -)'
check "elsewhere all is there" cmp "$dir/in" "$m/other"
check "unmount" unmount m
check "consistent" "$ddio" fsck
stop_cluster c

# A daemon at its limit of descriptors: whoever is connected is served, whoever is not gets in later.
check "start" start_cluster d --iops 1 --engine mem --disk-size 8M --timeout-ms 2000
check "mount" mount_at n
n=$dir/n log=$dir/d/io0.log daemon=$(cat "$dir/d/io0.pid")
echo hello >"$n/hello" && sync "$n/hello"
limit() { prlimit --pid "$daemon" --nofile="$1:$2"; }
old=$(prlimit --pid "$daemon" --nofile --noheadings --output SOFT,HARD | tr -s ' ' :)
# Those that it has stay, also beyond the limit: it may have inherited some with high numbers.
free=$(find "/proc/$daemon/fd" -type l -printf '%f\n' | sort -n | awk '$1 == n + 0 { n++ } END { print n + 0 }')
check "no more descriptors" limit "$free" "${old##*:}"
# More connect than it will ever take, and say nothing.
mkfifo "$dir/hold"
"$helpers/knock" "$(sed -n 's/^address = .*://p' "$dir/d/ddio.conf")" 200 <"$dir/hold" >/dev/null &
exec 7>"$dir/hold"
said_so() { grep -q "cannot accept connections: Too many open files" "$log"; }
check "the daemon says so" soon said_so
works() {
	local i
	for ((i = 0; i < 50; i++)); do
		echo "$i" >"$n/f$i" && sync "$n/f$i" && grep -qx "$i" "$n/f$i" && rm "$n/f$i" || return 1
	done
}
check "who is connected is served" within 30 works
# It tries ten times a second.
sleep 1
said=$(grep -c "cannot accept connections" "$log")
check "... and it did not say so each time that it tried: $said" [ "$said" -le 5 ]
exec 7>&-
check "there are some again" limit "${old%%:*}" "${old##*:}"
check "who comes then gets in" soon eval '"$ddio" ls >"$dir/ls" && grep -q hello "$dir/ls"'
check "unmount" unmount n
check "consistent" "$ddio" fsck
