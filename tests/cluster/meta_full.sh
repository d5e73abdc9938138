#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# The file system of the records is full: nothing can be added, but all can be removed, and the daemon starts;
# afterwards there is room again.
if [ -z "${DDIO_OWN_MOUNTS:-}" ]; then
	for how in -m -Urm; do
		if unshare $how sh -c 'mount -t tmpfs none /mnt' 2>/dev/null; then
			DDIO_OWN_MOUNTS=1 exec unshare $how "$0" "$@"
		fi
	done
	echo "skipped: nothing can be mounted here, not even in a name space of its own"
	exit 77
fi
. "$(dirname "$0")/lib.sh"
meta=$dir/full/io0
mounts_end() {
	[ -e "$dir/full/ddio.conf" ] && "$ddio" stop --dir "$dir/full" >/dev/null 2>&1
	umount -l "$meta" 2>/dev/null
}

long=$(printf 'x%.0s' $(seq 200))
# names FROM TO: long names of directories
names() { seq -f "/d%06g-$long" "$1" "$2"; }
make_dirs() { names "$1" "$2" | xargs "$ddio" mkdir 2>"$dir/said"; }
# Makes directories until there is no room, also after what waited has been committed.
fill() {
	local tries=0
	made=0
	while [ $tries -lt 4 ] && [ $made -lt 40000 ]; do
		if make_dirs $((made + 1)) $((made + 50)); then
			tries=0
		else
			grep -qi "no space left" "$dir/said" || return 1
			tries=$((tries + 1))
			sleep 0.7
		fi
		made=$((made + 50))
	done
	tries=0
	while [ $tries -lt 4 ] && [ $made -lt 40000 ]; do
		made=$((made + 1))
		make_dirs $made $made && tries=0 && continue
		tries=$((tries + 1))
		sleep 0.7
	done
	[ $tries -eq 4 ]
}
entries() { "$ddio" ls / | wc -l; }
# Removes all that is there, without complaint.
empty() {
	"$ddio" ls / >"$dir/list" || return 1
	sed 's,^/*,/,' "$dir/list" | xargs "$ddio" rm 2>"$dir/said" && [ "$(entries)" -eq 0 ]
}
pid() { pgrep -f -- "ddiod.*$dir/full/ddio.conf"; }
again() { "$ddio" start --dir "$dir/full" >/dev/null; }

mkdir -p "$meta" || exit 1
mount -t tmpfs -o size=5m none "$meta" || exit 1
head -c 300000 /dev/urandom >"$dir/in"
check "a cluster whose records have 5 MB" start_cluster full --iops 1 --disks 1 --disk-size 64M
check "a file" "$ddio" import "$dir/in" /file
check "directories are made until there is no room" fill
n=$(entries)
check "there are many" [ "$n" -gt 500 ]
fails "no other one" "No space left" "$ddio" mkdir "/one-more-$long"
# records COLUMN: 3 limit, 4 in use, 6 refusals
records() { "$ddio" status --bounds | awk -v c="$1" '$2 == "records" { print $c }'; }
full() { [ "$(records 3)" -le 5242880 ] && [ "$(records 4)" -gt 1000000 ] && [ "$(records 6)" -ge 1 ]; }
check "the status shows it" full
check "the log says so, once" [ "$(grep -c 'file system is full' "$dir/full/io0.log")" -eq 1 ]

# Somebody else takes the rest.
head -c 5M /dev/zero >"$meta/ballast" 2>/dev/null
check "a directory is removed from a file system without a free byte" "$ddio" rm "/d000001-$long"
kill -9 "$(pid)"
while pid >/dev/null; do sleep 0.05; done
check "a start after a sudden end" again
check "all but one are there" [ "$(entries)" -eq $((n - 1)) ]
check "the file is whole" cmp "$dir/in" <("$ddio" export /file -)
check "all are removed" empty
check "consistent" "$ddio" fsck
rm "$meta/ballast"
check "there is room again" make_dirs 1 100
check "a file again" "$ddio" import "$dir/in" /file
stop_cluster full
check "a start after an orderly end" again
check "the directories are there" [ "$(entries)" -eq 101 ]
check "consistent at the end" "$ddio" fsck
