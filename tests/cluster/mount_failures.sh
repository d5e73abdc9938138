#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
# Nodes that die under a mount, soft and hard; disks that are full.
. "$(dirname "$0")/lib_mount.sh"
check "start" start_cluster c --iops 3 --engine aio --files --disk-size 96M --block-size 32K --cache 8M --timeout-ms 2000
check "mount" mount_at m
m=$dir/m
head -c 4000000 /dev/urandom >"$dir/random"
cp "$dir/random" "$m/f" && sync "$m/f"

# Kills a node that only has blocks, not the name space.
kill_node c io2
fails "soft: reading what lies there" "Input/output error" in_time 30 bash -c "cat $m/f >/dev/null"
check "names are served" in_time 20 bash -c "ls $m >/dev/null && mkdir $m/d && touch $m/d/x && mv $m/d/x $m/x && rm -r $m/d"
check "blocks elsewhere are served" in_time 20 dd if="$m/f" of=/dev/null bs=32768 count=1 status=none iflag=direct
check "the node comes back" start_node c io2
check "the mount goes on" soon cmp -s "$dir/random" "$m/f"
check "writing too" bash -c "cp $dir/random $m/g && sync $m/g && cmp $dir/random $m/g"

# Kills the node with the name space.
kill_node c io0
fails "soft: names" "Input/output error\|timed out" in_time 30 ls "$m/new"
check "it comes back" start_node c io0
check "the mount goes on" soon cmp -s "$dir/random" "$m/g"
check "names too" in_time 20 bash -c "mkdir $m/d2 && rmdir $m/d2"

# This shell opens a file and holds a lock; the programs that it starts must not inherit them.
exec 8<>"$m/f"
flock -x 8
kill_node c io0
start_node c io0 8<&-
check "an open file stays open" soon dd if=/proc/self/fd/8 of=/dev/null bs=1000 count=1 status=none
mount_at other defaults 8<&-
fails "a lock stays" "" in_time 20 flock -n -x "$dir/other/f" true
exec 8<&-
check "... until it is given up" soon flock -n -x "$dir/other/f" true

# A mount that is killed loses its locks and open files after the timeout.
flock --no-fork -x "$dir/other/f" sleep 100 &
holder=$!
sleep 1
kill -9 "${pid[other]}"
kill $holder 2>/dev/null
wait $holder "${pid[other]}" 2>/dev/null
umount -l "$dir/other"
check "a killed mount's locks go" soon flock -n -x "$m/f" true

# written_across HOW: writes and syncs a file while a daemon is ended in this way and started again
written_across() {
	local writer rc
	rm -f "$m/across" "$dir/fifo"
	mkfifo "$dir/fifo"
	dd if="$dir/fifo" of="$m/across" bs=100000 iflag=fullblock oflag=append conv=fsync,notrunc status=none 2>"$dir/said" &
	writer=$!
	exec 9>"$dir/fifo"
	head -c 2000000 "$dir/random" >&9
	soon half_there
	"$1" c io1
	start_node c io1 9>&-
	tail -c +2000001 "$dir/random" >&9
	exec 9>&-
	wait $writer
	rc=$?
	cat "$dir/said"
	return $rc
}
half_there() {
	[ "$(stat -c %s "$m/across" 2>/dev/null || echo 0)" -ge 1900000 ]
}
stop_node() {
	kill -TERM "$(cat "$dir/$1/$2.pid")"
	soon_gone "$(cat "$dir/$1/$2.pid")"
}
check "a daemon that is stopped in order loses nothing, and no sync says so" written_across stop_node
check "it is there" cmp "$dir/random" "$m/across"
fails "one that is killed may have, and the sync says so" "Input/output error" written_across kill_node
rm "$m/across"

# Hard.
check "mount, hard" mount_at hard hard
kill_node c io1
in_time 60 cmp "$dir/random" "$dir/hard/f" &
reader=$!
in_time 60 cp "$dir/random" "$dir/hard/h" &
writer=$!
sleep 5
check "hard: the reader waits" kill -0 $reader
check "it comes back" start_node c io1
check "the reader ends well" wait $reader
check "the writer ends well" wait $writer
check "what it wrote is there" cmp "$dir/random" "$m/h"
check "unmount" unmount hard

# Full disks.
fails "writing until it is full" "No space left" in_time 30 bash -c "dd if=/dev/zero of=$m/full bs=1M count=1000 conv=fsync status=none"
check "what was there is there" cmp "$dir/random" "$m/g"
check "names can be made, or not, and nothing breaks" bash -c "touch $m/t; ls -l $m >/dev/null"
check "removing gives back" rm "$m/full"
enough() {
	cp "$dir/random" "$m/again" && sync "$m/again" && cmp "$dir/random" "$m/again"
}
check "there is space again" soon enough
check "unmount" unmount m

check "fsck" "$ddio" fsck
