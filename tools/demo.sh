#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The main job, on one machine: a local cluster of 16 I/O processors with one
# emulated HP 97560 each; a file, stored striped; 16 compute processes that read
# and write it collectively in every distribution of the papers by all four
# methods; every byte compared with the original.  Everything lies in demo/.
#
#   FILE=path  the file (default: a matrix of doubles, made here)
#   QUICK=1    a small matrix
set -eu
cd "$(dirname "$0")/.."
ddio=${BUILD:-build}/ddio
dir=$PWD/demo
file=${FILE:-}
began=$(date +%s)

say() { printf '%s\n' "$*"; }

stop() {
	[ ! -d "$dir/mnt" ] || "$ddio" umount --lazy --missing-ok "$dir/mnt"
	[ ! -e "$dir/cluster/ddio.conf" ] || "$ddio" stop --clean --dir "$dir/cluster" >/dev/null || true
}
# The same file for any program, by a mount: its bytes, a copy, what lies where.
show_mount() {
	local mnt=$dir/mnt said
	if [ ! -c /dev/fuse ] || [ ! -w /dev/fuse ]; then
		say "No mount is shown: there is no /dev/fuse here that can be used."
		return
	fi
	if [ "$(id -u)" != 0 ] && ! command -v fusermount3 >/dev/null; then
		say "No mount is shown: there is no fusermount3 here (package fuse3), and this is not root."
		return
	fi
	say ""
	if ! said=$("$ddio" mount "$mnt" 2>&1); then
		say "No mount is shown: $said"
		return
	fi
	cmp "$file" "$mnt/demo-file"
	mkdir "$mnt/dir"
	cp "$mnt/demo-file" "$mnt/dir/copy"
	(cd "$dir" && ls -l mnt mnt/dir)
	"$ddio" export --force dir/copy "$dir/exported"
	cmp "$file" "$dir/exported"
	rm -f "$dir/exported"
	"$ddio" umount "$mnt"
	rmdir "$mnt"
	say "Mounted, it is a file for any program; a copy made there comes out by the library. Compared."
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ -n "$file" ] && [ ! -f "$file" ]; then
	echo "demo: $file is not a file" >&2
	exit 2
fi
# A cluster that an earlier demo could not end.
stop
rm -rf "$dir"
mkdir -p "$dir"

if [ -z "$file" ]; then
	file=$dir/matrix.npy
	rows=1280
	[ -z "${QUICK:-}" ] || rows=96
	"$ddio" matrix --rows $rows --cols 1024 "$file"
	say "Made $file: $rows x 1024 doubles."
fi
size=$(stat -L -c %s "$file")
if [ "$size" = 0 ]; then
	echo "demo: $file is empty: there is nothing to store" >&2
	exit 2
fi

records=8,8192
scale=1
if [ "$size" -gt 33554432 ]; then
	records=8192
	scale=$(awk -v s="$size" 'BEGIN { printf "%.6f", 10485760 / s }')
	say "A large file: the emulated disks run $(awk -v s="$scale" 'BEGIN { printf "%.0f", 1 / s }')" \
		"times faster than life (results are in the disks' own time), and"
	say "8-byte records are left out: the traditional method makes one request for each."
fi

say "Starting 16 I/O processors with one emulated HP 97560 each."
"$ddio" start --dir "$dir/cluster" --iops 16 --disks 1 --engine hp97560 \
	--disk-options "time_scale=$scale" --block-size 8K >/dev/null
export DDIO_CONF=$dir/cluster/ddio.conf

say "Storing $(basename "$file") ($size bytes), striped over the 16 disks in blocks of 8 KB."
"$ddio" import --block-size 8K "$file" demo-file

say "16 compute processes read and write it: 24 distributions, 4 methods, every byte checked."
"$ddio" bench --conf "$DDIO_CONF" --file demo-file --reference "$file" --records $records --paper \
	--csv-file "$dir/results.csv" --plot "$dir/results.png" --output "$dir/results.txt"
cat "$dir/results.txt"

say ""
"$ddio" status | sed -n '1,3p'
say "..."
"$ddio" export --force demo-file "$dir/exported"
cmp "$file" "$dir/exported"
rm -f "$dir/exported"
say "The file as it comes back is the file that went in: $size bytes compared."
show_mount
stop
say "Table: demo/results.txt   figures: demo/results.csv   picture: demo/results.png"
say "Done in $(($(date +%s) - began)) s; nothing is left running."
