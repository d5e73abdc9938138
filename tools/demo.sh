#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The main job, on one machine: a local cluster of 16 I/O processors with one
# emulated HP 97560 each; a file, stored striped; 16 compute processes that read
# and write it collectively in every distribution of the papers by all four
# methods; every byte compared with the original.  Everything lies in demo/.
#
#   FILE=path  the file (default: a matrix of doubles, made here)
#   QUICK=1    five of the distributions only
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
	mkdir "$mnt"
	if ! said=$("$ddio" mount "$mnt" 2>&1); then
		rmdir "$mnt"
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
	say "Mounted, it is a file for any program; a copy made there is the same when it is exported."
}
# Says so if more programs have wanted processors than there are: emulated disks, too, then wait for one.
show_busy() {
	awk -v n="$(nproc)" '$1 > 2 * n {
		printf "This machine is busy (load %s, %d processors): the disks, which are emulated in real time, wait for it,\n", $1, n
		print "and the figures tell more of that than of the methods."
	}' /proc/loadavg
}
# arm METHOD: two columns, seconds and cylinder, of one disk while a file whose blocks lie at
# random places is read.
arm() {
	timeout 300 "$ddio" bench --quiet --patterns rc --records 8192 --methods "$1" --layouts random-blocks \
		--no-verify --disk-options "trace=$dir/trace.csv" --output /dev/null || return
	# The first read is of another file, to make the disk's buffer forget; a cylinder has 19 tracks
	# of 72 sectors.
	awk -F, '$1 == "d0" && $3 == "R" && n++ {
		if (n == 2) began = $2
		printf "%.6f %d\n", $2 - began, $4 / 512 / 72 / 19 }' "$dir/trace.csv" >"$dir/arm.$1"
	rm "$dir/trace.csv"
}
# The last picture is no reason to fail: all has been measured and compared by then.
no_arm() {
	say "No picture of the disk's arm is drawn: $1."
	rm -f "$dir/arm.png" "$dir/trace.csv"
}
show_arm() {
	if ! command -v gnuplot >/dev/null; then
		say "No picture of the disk's arm is drawn: there is no gnuplot here."
		return
	fi
	say "The arm of one disk, while a file with its blocks at random places is read: demo/arm.png"
	if ! arm tc || ! arm dds; then
		no_arm "the reads for it have failed"
		return
	fi
	local plot=$PWD/tools/arm.gp
	(cd "$dir" && gnuplot -e "tc='arm.tc'; dds='arm.dds'; png='arm.png'" \
		-e "what='One of 16 disks: 16 processes read 8 KB records in turn, blocks at random places'" \
		"$plot") || {
		no_arm "gnuplot has failed"
		return
	}
	if awk '{ last[FILENAME] = $1 } END { exit !(last[ARGV[2]] >= last[ARGV[1]]) }' "$dir/arm.tc" "$dir/arm.dds"; then
		say "This machine was too busy for it: the picture shows the opposite of what idle processors give."
	fi
}
# mbps METHOD: as measured for the pattern and the record size of the last line
mbps() {
	awk -F, -v p="$pattern" -v r="$record" -v m="$1" '
		/^#/ { next }
		!n++ { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["pattern"] == p && $c["record"] == r && $c["method"] == m { print $c["mbps"]; exit }' "$dir/results.csv"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ -n "$file" ] && [ ! -f "$file" ]; then
	echo "demo: $file is not a file" >&2
	exit 2
fi
say "When many processes want pieces of one file, the disks should decide the order: one collective"
say "request instead of one for each piece.  Published for 8-byte pieces: 19.3 MB/s instead of 2.6."
say ""
# A cluster that an earlier demo could not end.
stop
rm -rf "$dir"
mkdir -p "$dir"

if [ -z "$file" ]; then
	file=$dir/matrix.npy
	"$ddio" matrix --rows 1280 --cols 1024 "$file"
	say "Made $file: 1280 x 1024 doubles."
fi
size=$(stat -L -c %s "$file")
if [ "$size" = 0 ]; then
	echo "demo: $file is empty: there is nothing to store" >&2
	exit 2
fi

records=8,8192 pattern=rc record=8 pieces="8-byte cyclic"
scale=1
if [ "$size" -gt 33554432 ]; then
	records=8192 pattern=rb record=8192 pieces="a sixteenth for each process"
	scale=$(awk -v s="$size" 'BEGIN { printf "%.6f", 10485760 / s }')
	say "A large file: the emulated disks run $(awk -v s="$scale" 'BEGIN { printf "%.0f", 1 / s }')" \
		"times faster than life (results are in the disks' own time), and"
	say "8-byte records are left out: the traditional method makes one request for each."
fi
patterns=all many="24 distributions"
[ -z "${QUICK:-}" ] || patterns=rb,rc,rbb,wb,wbb many="5 distributions"

show_busy
say "Starting 16 I/O processors with one emulated HP 97560 each."
"$ddio" start --dir "$dir/cluster" --iops 16 --disks 1 --engine hp97560 \
	--disk-options "time_scale=$scale" --block-size 8K >/dev/null
export DDIO_CONF=$dir/cluster/ddio.conf

say "Storing $(basename "$file") ($size bytes), striped over the 16 disks in blocks of 8 KB."
"$ddio" import --block-size 8K "$file" demo-file

say "16 compute processes read and write it: $many, 4 methods, every byte checked."
"$ddio" bench --conf "$DDIO_CONF" --file demo-file --reference "$file" --records $records --paper \
	--patterns $patterns --csv-file "$dir/results.csv" --plot "$dir/results.png" --output "$dir/results.txt"
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
show_arm
say ""
say "Table: demo/results.txt   figures: demo/results.csv   pictures: demo/results.png$([ ! -e "$dir/arm.png" ] || echo ", demo/arm.png")"
say "Done in $(($(date +%s) - began)) s; nothing is left running."
dds=$(mbps DDs) tc=$(mbps TC)
if [ -z "$dds" ] || [ -z "$tc" ]; then
	say "One request, ordered by the disks: this file is too small to say how much faster it is."
else
	say "$(awk -v p="$pieces" -v d="$dds" -v t="$tc" 'BEGIN {
		printf "One request, ordered by the disks (%s): disk-directed %.1f MB/s, traditional caching %.1f.", p, d, t
		if (d <= t)
			printf "\nThat is the opposite of what idle processors give: this machine was too busy; try again." }')"
fi
