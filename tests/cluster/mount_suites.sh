#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Suites that others wrote to test file systems: stress-ng, dbench, bonnie++, fio's other engines; and programs that
# copy everything about a file: rsync, tar, cp.
. "$(dirname "$0")/lib_mount.sh"
check "start" start_cluster c --iops 3 --engine mem --disk-size 1G --block-size 64K --cache 64M
check "mount" mount_at m
m=$dir/m

# ends_well WHAT COMMAND ...: what it says goes to $dir/said, and its end is shown if it fails; exit 124 is the timeout
ends_well() {
	local what=$1 rc
	shift
	in_time 60 "$@" >"$dir/said" 2>&1
	rc=$?
	[ $rc -eq 0 ] && ok "$what" && return
	not_ok "$what: exit $rc"
	tail -n 12 "$dir/said" | sed 's/^/    /'
	return 1
}
# Nothing that it says is a complaint, but for dbench's line about its own semaphore: it touches no file before that.
complains_not() {
	! grep -aiE 'fail|expected' "$dir/said" | grep -av 'barrier semaphore'
}

# Every suite must read back what it wrote, and leave nothing behind.
stress() {
	local t
	mkdir -p "$m/stress"
	for t in "$@"; do
		in_time 60 stress-ng --temp-path "$m/stress" --"$t" 2 --verify -t 1 --hdd-bytes 16m --iomix-bytes 16m \
			--seek-size 16m --fallocate-bytes 8m --aiol-requests 16 --revio-bytes 16m --sync-file-bytes 16m \
			--msync-bytes 8m --mmap-bytes 8m --readahead-bytes 16m >"$dir/said" 2>&1
		if [ $? -ne 0 ] || [ -n "$(ls -A "$m/stress")" ]; then
			not_ok "stress-ng $t: $(grep -aE 'fail|error' "$dir/said" | head -3) $(ls -A "$m/stress")"
			rm -rf "$m/stress"
			mkdir "$m/stress"
		else
			ok "stress-ng $t"
		fi
	done
}
if command -v stress-ng >/dev/null; then
	stress access chown dentry dir fallocate fcntl fpunch getdent handle hdd iomix lockf lockofd mknod msync open \
		rename revio sendfile splice sync-file utime xattr aiol
fi
if command -v dbench >/dev/null; then
	loads=$(ls /usr/share/dbench/client.txt /usr/lib/dbench/client.txt 2>/dev/null | head -1)
	ends_well "dbench" dbench ${loads:+-c "$loads"} -D "$m" -t 2 2 && check "... each operation as it should" complains_not
	rm -rf "$m/clients"
fi
if command -v bonnie++ >/dev/null; then
	ends_well "bonnie++" bonnie++ -f -q -u root -d "$m" -s 64m -r 16m -n 1 -x 1
fi

fio_run() {
	ends_well "fio: $1" fio --name="$1" --directory="$m" --verify=crc32c --verify_fatal=1 \
		--do_verify=1 --verify_state_save=0 --size=6m --randrepeat=1 --bs=16k "${@:2}"
	rm -f "$m/$1".*
}
fio_run libaio --ioengine=libaio --iodepth=16 --direct=1 --rw=randrw
fio_run io_uring --ioengine=io_uring --iodepth=16 --rw=randwrite
fio_run pvsync2 --ioengine=pvsync2 --rw=randwrite --sync=dsync
fio_run mmap --ioengine=mmap --rw=randrw --numjobs=2

# Makes a tree with everything that a file can have.  Its times lie in the past, since rsync skips files of this second.
all_make() {
	mkdir -p "$1/d/e" && echo one >"$1/a" && ln "$1/a" "$1/d/b" && ln -s ../a "$1/d/s" && ln -s nowhere "$1/dangling" &&
		mkfifo "$1/p" && mknod "$1/c" c 1 3 && chmod 4755 "$1/a" && chown 10001:10002 "$1/d/e" && chmod 1777 "$1/d/e" &&
		setfattr -n user.x -v "a value" "$1/a" && setfattr -n user.y -v "" "$1/d" && setfacl -m u:10001:rwx,g:10002:r "$1/d" &&
		setfacl -d -m u:10001:rx "$1/d" && truncate -s 3M "$1/sparse" && echo end >>"$1/sparse" &&
		touch -d 2001-02-03T04:05:06.789 "$1/a" && touch -h -d 1999-01-01 "$1/dangling" && touch "$1/$(printf 'n\nl \303\244 \377')" &&
		touch -h -d 2010-10-10T10:10:10.10 "$1/p" "$1/c" "$1/d/s" "$1/sparse" "$1/d/e" "$1/d"
}
# Prints everything about a tree that a copy of it must preserve.
all_of() (
	cd "$1" && find . -mindepth 1 \( -type d -printf '%P %y %m %U %G %n %T+\0' -o -printf '%P %y %m %U %G %n %s %T+ %l\0' \) |
		tr '\0\n' '\n?' | sort &&
		find . ! -type l -print0 | sort -z | xargs -0 getfattr -d -m user 2>/dev/null
	find . ! -type l -print0 | sort -z | xargs -0 getfacl -p -n && find . -type f -exec cksum {} + | sort && stat -c %t,%T c
)
same_trees() {
	all_of "$1" >"$dir/first" && all_of "$2" >"$dir/second" && diff "$dir/first" "$dir/second"
}
mkdir "$dir/from"
check "a tree of everything" all_make "$dir/from"
check "cp -a" eval 'cp -a --sparse=always --reflink=auto "$dir/from" "$m/cp" && same_trees "$dir/from" "$m/cp"'
check "... holes stay" [ "$(stat -c %b "$m/cp/sparse")" -lt 1000 ]
check "... within the mount" eval 'cp -a "$m/cp" "$m/again" && same_trees "$m/cp" "$m/again"'
check "tar" eval 'tar -C "$m/cp" --xattrs --acls -S -cf "$m/t.tar" . && mkdir "$m/tar" && tar -C "$m/tar" --xattrs --acls -xpf "$m/t.tar" &&
	same_trees "$m/cp" "$m/tar"'
if command -v rsync >/dev/null; then
	check "rsync" eval 'rsync -aHAXS --devices "$dir/from/" "$m/rsync/" && same_trees "$dir/from" "$m/rsync"'
	check "... says that nothing is different" eval '[ -z "$(rsync -aHAXSi "$dir/from/" "$m/rsync/")" ]'
	echo two >>"$dir/from/a"
	check "... brings what is" eval 'rsync -aHAXS --inplace "$dir/from/" "$m/rsync/" && same_trees "$dir/from" "$m/rsync"'
fi

# Lists a directory of many names while they are removed.
listed() {
	while [ -d "$m/many" ]; do find "$m/many" -type f -size +0; done
}
many() {
	mkdir "$m/many" && (cd "$m/many" && seq 1 4000 | xargs touch) && [ "$(ls "$m/many" | wc -l)" = 4000 ] || return 1
	listed >"$dir/said" 2>/dev/null &
	local p=$!
	rm -r "$m/many" && ! [ -e "$m/many" ] || return 1
	wait $p
	! [ -s "$dir/said" ]
}
check "rm -r beside find" many
check "rm -r of all" eval 'rm -r "$m"/* && [ -z "$(ls -A "$m")" ]'
check "unmount" unmount m
check "fsck" "$ddio" fsck
