#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
# Programs as people use them: fio that verifies, tar, git, SQLite, a build of a source tree.
. "$(dirname "$0")/lib_mount.sh"
check "start" start_cluster c --iops 3 --engine mem --disk-size 1G --block-size 64K --cache 64M
check "mount" mount_at m
m=$dir/m

fio_run() {
	local name=$1
	shift
	check "fio: $name" in_time 200 fio --name="$name" --directory="$m" --output="$dir/fio.out" \
		--verify=crc32c --verify_fatal=1 --do_verify=1 --verify_state_save=0 --ioengine=psync \
		--size=24m --randrepeat=1 --fsync_on_close=1 "$@" || tail -20 "$dir/fio.out"
	rm -f "$m/$name".*
}
fio_run sequential --rw=write --bs=1m
fio_run small --rw=write --bs=4k --size=8m
fio_run random --rw=randwrite --bs=4k --size=8m
fio_run mixed --rw=randrw --bs=16k
fio_run unaligned --rw=randwrite --bsrange=512-70000 --bs_unaligned=1
fio_run synced --rw=randwrite --bs=8k --size=4m --fsync=16
fio_run jobs --rw=randwrite --bs=8k --size=4m --numjobs=4 --group_reporting
fio_run mapped --rw=randwrite --bs=4k --size=4m --ioengine=mmap
fio_run direct --rw=randwrite --bs=64k --direct=1 --ioengine=libaio --iodepth=8
fio_run trimmed --rw=randwrite --bs=64k --fallocate=posix

tar_trip() {
	tar -C "$top" -cf "$m/a.tar" userlib include tests Documentation &&
		mkdir "$m/tree" && tar -C "$m/tree" -xpf "$m/a.tar" &&
		tar -C "$m/tree" -cf "$dir/b.tar" userlib include tests Documentation &&
		diff -r "$top/userlib" "$m/tree/userlib" && diff -r "$top/Documentation" "$m/tree/Documentation" &&
		tar -tvf "$m/a.tar" | sort >"$dir/a.list" && tar -tvf "$dir/b.tar" | sort >"$dir/b.list" &&
		cmp "$dir/a.list" "$dir/b.list"
}
check "tar: there and back" tar_trip

# A repository is made here: a checkout need not be one.
git_trip() (
	local g="git -c user.name=t -c user.email=t@example.org -c init.defaultBranch=main -c gc.auto=0"
	mkdir "$m/repo" && cp -r "$top/userlib" "$top/include" "$m/repo/" && cd "$m/repo" &&
		$g init -q && $g add -A && $g commit -qm one && echo more >>include/ddio/fs.h &&
		$g commit -qam two && $g gc -q && $g fsck --full --strict &&
		$g clone -q --no-local "$m/repo" "$m/clone" && cd "$m/clone" && $g fsck --full --strict &&
		test -z "$($g status --porcelain)" && diff -r "$m/repo/userlib" "$m/clone/userlib" &&
		cd "$top" && rm -rf "$m/repo" "$m/clone"
)
check "git: commit, gc, clone, fsck" git_trip

sqlite_run() {
	local db=$m/$1.db
	sqlite3 "$db" "pragma journal_mode=$1; create table t(i integer primary key, s text);" >/dev/null &&
		(for ((i = 0; i < 40; i++)); do
			echo "begin; insert into t(s) select hex(randomblob(40)) from (values(1),(2),(3),(4),(5)); commit;"
		done; echo "delete from t where i % 3 = 0; create index x on t(s); vacuum;") | sqlite3 "$db" &&
		[ "$(sqlite3 "$db" 'pragma integrity_check')" = ok ] &&
		[ "$(sqlite3 "$db" 'select count(*) from t')" = 134 ]
}
sqlite_writer() {
	local i
	for ((i = 0; i < 25; i++)); do
		sqlite3 -cmd ".timeout 20000" "$m/many.$2.db" "insert into t values($1, $i);" || return 1
	done
}
# Several processes at one database: its locks are the file's, and with wal they share a mapping.
sqlite_many() {
	local i p=() bad=0
	sqlite3 "$m/many.$1.db" "pragma journal_mode=$1; create table t(who int, n int);" >/dev/null || return 1
	for i in 1 2 3; do
		sqlite_writer $i "$1" &
		p+=($!)
	done
	for i in "${p[@]}"; do wait "$i" || bad=1; done
	[ $bad = 0 ] && [ "$(sqlite3 "$m/many.$1.db" 'pragma integrity_check; select count(*) from t')" = "ok
75" ]
}
if command -v sqlite3 >/dev/null; then
	check "SQLite: delete" sqlite_run delete
	check "SQLite: truncate" sqlite_run truncate
	check "SQLite: wal" sqlite_run wal
	check "SQLite: three processes" sqlite_many delete
	check "SQLite: three processes, wal" sqlite_many wal
fi

build_run() {
	mkdir "$m/src" && cp -r Makefile userlib include kmod tools tests fuse "$m/src/"
	make -C "$m/src" -j2 OPT=-O0 build/libddio.a >"$dir/build.out" 2>&1 && test -s "$m/src/build/libddio.a" &&
		touch "$m/src/userlib/map/map.c" && make -C "$m/src" OPT=-O0 build/libddio.a >"$dir/again.out" &&
		grep -q 'map/map.c' "$dir/again.out" && ! grep -q 'proto/' "$dir/again.out" &&
		rm -rf "$m/src"
}
check "a build of a source tree" build_run || tail -5 "$dir/build.out"

copy_run() {
	head -c 20000000 /dev/urandom >"$m/big" && cp --reflink=auto "$m/big" "$m/big2" && cmp "$m/big" "$m/big2" &&
		cp --sparse=always "$m/big" "$m/big3" && cmp "$m/big" "$m/big3" &&
		rsync_like "$m/big" && mv "$m/big" "$m/tree/" && ln "$m/tree/big" "$m/again" && cmp "$m/again" "$m/big2"
}
rsync_like() {
	cp -a "$1" "$1.tmp" && mv -f "$1.tmp" "$1"
}
check "cp, mv, ln" copy_run
check "rm -r" eval 'rm -r "$m"/* && [ -z "$(ls -A "$m")" ]'
check "unmount" unmount m
check "fsck" "$ddio" fsck
