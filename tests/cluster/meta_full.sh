#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
# The file system of a node's records fills up: files can be removed, the node starts again, nothing is damaged.
. "$(dirname "$0")/lib_mount.sh"
check "start" start_cluster c --iops 1 --engine aio --files --disk-size 96M --block-size 4K --timeout-ms 20000
meta=$dir/c/io0
m=$dir/m

small_meta() {
	stop_cluster c && mv "$meta" "$dir/saved" && mkdir "$meta" &&
		mount -t tmpfs -o size=10m,mode=700 none "$meta" && cp -a "$dir/saved/." "$meta" &&
		"$ddio" start --dir "$dir/c" >/dev/null
}
check "records on a small file system" small_meta
check "mount" mount_at m

# fill DIR: makes symbolic links until one cannot be made; each takes 4 KB of records
target=$(printf 'x%.0s' {1..4000})
fill() {
	mkdir -p "$1" || return 1
	for ((made = 0; made < 5000; made++)); do
		ln -s "$target" "$1/$made" 2>/dev/null || break
	done
	[ "$made" -gt 10 ] && [ "$made" -lt 5000 ]
}
nothing_made() {
	fails "$1: a file" "No space left" touch "$m/more"
	fails "$1: a directory" "No space left" mkdir "$m/more"
	fails "$1: a link" "No space left" ln "$m/file" "$m/more"
	fails "$1: an attribute" "No space left" setfattr -n user.x -v much "$m/file"
}
remove_half() {
	seq 0 2 $((made - 1)) | sed "s|^|$m/a/|" | xargs rm
}
some_there() {
	[ "$(find "$m/a" -type l | wc -l)" = "$1" ]
}
check "a file" touch "$m/file"

check "files are made until the records are full" fill "$m/a"
nothing_made "full"
check "what is there is listed" some_there "$made"
check "an existing file is opened and its times change" touch "$m/file"
check "the log says so" grep -q "the file system is full" "$dir/c/io0.log"
check "half of the files are removed" remove_half
check "... and gone" some_there $((made / 2))
check "sync" sync -f "$m"
rest=$((made / 2))

check "full again" fill "$m/b"
made_b=$made
kill_node c io0
check "the node starts though its file system is full" start_node c io0
check "everything is there" soon some_there $rest
check "rm -r" rm -r "$m/a" "$m/b"
check "sync" sync -f "$m"
echo "$rest and $made_b files were removed"
check "files are made again" fill "$m/c"
check "rm -r" rm -r "$m/c"
check "unmount" unmount m
check "fsck" "$ddio" fsck
stop_cluster c
umount "$meta"
