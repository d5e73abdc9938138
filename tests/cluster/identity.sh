#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Disks and records that come back from the past, that are lost, or that were exchanged: never zeros with status
# 0, but a refusal that says how to go on; and what it says works.
. "$(dirname "$0")/lib.sh"

head -c 300000 /dev/urandom >"$dir/one"
head -c 300000 /dev/urandom >"$dir/two"
head -c 300000 /dev/urandom >"$dir/three"

# node NAME N: starts one daemon
node() {
	"$build/ddiod" --conf "$DDIO_CONF" --node "io$2" --pid-file "$dir/$1/io$2.pid" \
		--log-file "$dir/$1/io$2.log"
}
nodes() {
	node "$1" 0 && node "$1" 1
}
# begin NAME: a cluster of two nodes with a file over both disks; the daemons are down
begin() {
	start_cluster "$1" --iops 2 --disk-size 16M || return 1
	"$ddio" import --block-size 16K "$dir/one" one >/dev/null || return 1
	stop_cluster "$1"
}
# save NAME PART...: takes a backup; back NAME PART...: puts it back
save() {
	local p name=$1
	shift
	for p in "$@"; do
		cp -a --sparse=always "$dir/$name/$p" "$dir/$name.$p" || return 1
	done
}
back() {
	local p name=$1
	shift
	for p in "$@"; do
		rm -rf "${dir:?}/$name/$p" && cp -a --sparse=always "$dir/$name.$p" "$dir/$name/$p" || return 1
	done
}
import() {
	"$ddio" import --block-size 16K "$dir/$1" "$1" >/dev/null
}
same() {
	cmp "$dir/$1" <("$ddio" export "$1" -)
}
# denied WHAT TEXT FILE: the file cannot be read
denied() {
	rm -f "$dir/out"
	fails "$1" "$2" "$ddio" export "$3" "$dir/out"
}
# refused WHAT TEXT: the file cannot be read, nor written, nor checked
refused() {
	denied "$1: a read is refused" "$2" one
	fails "$1: so is a write" "$2" "$ddio" import "$dir/two" other
	fails "$1: so is a check" "$2" "$ddio" fsck
}
end() {
	"$ddio" stop --clean --dir "$dir/$1" >/dev/null
}

# Restarts change nothing.
check "restarts" begin r
for i in 1 2 3; do
	nodes r && same one && stop_cluster r || not_ok "restart $i"
done

# (a) A node's disk and its records are gone.
check "a: start" begin a
save a d1.img io1
rm -rf "$dir/a/io1" && truncate -s 0 "$dir/a/d1.img" && truncate -s 16M "$dir/a/d1.img"
check "a: the daemons start" nodes a
refused "a: disk and records lost" "disk d1 of node io1 is not the one.*ddio replace d1"
stop_cluster a
back a d1.img io1
check "a: given back, the daemons start" nodes a
check "a: ... the file is there" same one
check "a: ... and consistent" "$ddio" fsck
stop_cluster a
rm -rf "$dir/a/io1" && truncate -s 0 "$dir/a/d1.img" && truncate -s 16M "$dir/a/d1.img"
check "a: lost for good" nodes a
fails "a: a disk that does not exist" "no disk d9" "$ddio" replace d9
check "a: ddio replace" "$ddio" replace d1
denied "a: what was lost is an error" "file [0-9]* may have had data on the disk" one
"$ddio" fsck >"$dir/found" && not_ok "a: fsck finds nothing"
check "a: fsck names the file" grep -q '^/one (file [0-9]*): what it had on disk d1 may be lost' "$dir/found"
check "a: a new file" import two
check "a: ... is whole" same two
check "a: the lost one can be removed" "$ddio" rm one
check "a: ... and restored" import one
check "a: ... whole" same one
check "a: consistent" "$ddio" fsck
stop_cluster a
check "a: once more" nodes a
check "a: ... it is known now" same two
end a

# (b) A node's records are put back from a backup, then its disk, then both.
check "b: start" begin b
save b d1.img io1
nodes b && "$ddio" rm one && import two && import three
check "b: work goes on" same three
stop_cluster b
save b d0.img
mkdir "$dir/young" && cp -a --sparse=always "$dir/b/d1.img" "$dir/b/io1" "$dir/young"
back b io1
node b 0
fails "b: old records" "records were put back from a backup.*ddio-replace" node b 1
back b d1.img
rm -rf "$dir/b/io1" && cp -a "$dir/young/io1" "$dir/b/io1"
fails "b: an old disk" "disk was put back from a backup" node b 1
back b d1.img io1
check "b: both of one backup" node b 1
denied "b: ... are refused by the name space" "d1 of node io1 and its records were put back.*ddio replace d1" two
kill "$(cat "$dir/b/io1.pid")" && sleep 0.5
rm -rf "$dir/b/io1" "$dir/b/d1.img" && cp -a --sparse=always "$dir/young/d1.img" "$dir/young/io1" "$dir/b"
check "b: the younger ones" node b 1
check "b: ... are good" same two
check "b: ... consistent" "$ddio" fsck
stop_cluster b
back b d1.img io1
nodes b
check "b: ddio replace" "$ddio" replace d1
denied "b: what was written since is an error" "may have had data" two
check "b: --repair deletes nothing" grep -q "kept as it is, since nothing tells over which disks" <("$ddio" fsck --repair)
end b

# (c) The name space's node is restored whole from a backup.
check "c: start" begin c
save c d0.img io0
nodes c && import two
stop_cluster c
mkdir "$dir/names" && cp -a --sparse=always "$dir/c/d0.img" "$dir/c/io0" "$dir/names"
back c d0.img io0
check "c: the daemons start" nodes c
check "c: ddio status says why" grep -q "down: .*the name space is older than" <("$ddio" status)
check "c: ... and of its bounds, too" grep -q "no answer: .*the name space is older than" <("$ddio" status --bounds)
refused "c: an old name space" "name space is older than what disk d1 of node io1 has seen.*ddio replace --names"
stop_cluster c
rm -rf "$dir/c/io0" "$dir/c/d0.img" && cp -a --sparse=always "$dir/names/d0.img" "$dir/names/io0" "$dir/c"
check "c: the younger one" nodes c
check "c: ... is good" same two
stop_cluster c
back c d0.img io0
nodes c
check "c: ddio replace --names" "$ddio" replace --names
check "c: the older file is there" same one
check "c: a new file" import three
check "c: ... shows no other file's bytes" same three
check "c: fsck keeps what it cannot place" grep -q "kept as it is, since .*(.--repair --drop. removes it)" <("$ddio" fsck --repair)
check "c: ... still" grep -q " 1 orphans" <("$ddio" fsck)
fails "c: --drop alone" "needs --repair" "$ddio" fsck --drop
check "c: ... removes nothing" grep -q " 1 orphans" <("$ddio" fsck)
check "c: --drop removes it" "$ddio" fsck --repair --drop
check "c: ... and nothing else" grep -q " 0 orphans" <("$ddio" fsck)
check "c: both files are there" same one
check "c: ... whole" same three
end c

# (c2) The same, from a backup of before another node's disk was replaced: one word is enough for both.
check "c2: start" begin c2
save c2 d0.img io0
rm -rf "$dir/c2/io1" && truncate -s 0 "$dir/c2/d1.img" && truncate -s 16M "$dir/c2/d1.img"
nodes c2
check "c2: a disk is replaced" "$ddio" replace d1
check "c2: work goes on" import two
stop_cluster c2
back c2 d0.img io0
check "c2: the daemons start" nodes c2
refused "c2: an old name space" "name space is older than what disk d1 of node io1 has seen.*ddio replace --names"
check "c2: ddio replace --names" "$ddio" replace --names
denied "c2: what was on the disk before is an error" "may have had data" one
check "c2: a new file" import three
check "c2: ... shows no other file's bytes" same three
stop_cluster c2
check "c2: once more" nodes c2
check "c2: ... all is known" same three
end c2

# (d) The disks of two nodes are exchanged.
check "d: start" begin d
mv "$dir/d/d0.img" "$dir/d/x" && mv "$dir/d/d1.img" "$dir/d/d0.img" && mv "$dir/d/x" "$dir/d/d1.img"
fails "d: exchanged disks" "found cluster.*disk d1" node d 0
fails "d: ... both" "found cluster.*disk d0" node d 1
mv "$dir/d/d0.img" "$dir/d/x" && mv "$dir/d/d1.img" "$dir/d/d0.img" && mv "$dir/d/x" "$dir/d/d1.img"
check "d: and back" nodes d
check "d: ... the file is there" same one
end d

# (e) The end of a disk is missing; then it is replaced by an empty one, as the daemon's refusal says.
check "e: start" begin e
cp --sparse=always "$dir/e/d0.img" "$dir/e.whole" && truncate -s 3M "$dir/e/d0.img"
fails "e: a disk cut short" "d0.img: has 3145728 bytes, but 16777216 are needed: its end is missing" node e 0
check "e: ... is as it was" [ "$(stat -c %s "$dir/e/d0.img")" = 3145728 ]
sed "/path = .*d0.img/,/size/s/^size.*//" "$DDIO_CONF" >"$dir/e.conf"
fails "e: ... without a size in the configuration" "says 16777216 bytes, but disk d0 has 3145728: its end is missing" \
	"$build/ddiod" --conf "$dir/e.conf" --node io0 --log-file "$dir/e/refused.log"
check "e: given back whole" cp --sparse=always "$dir/e.whole" "$dir/e/d0.img"
check "e: ... the daemons start" nodes e
check "e: ... the file is there" same one
stop_cluster e
truncate -s 0 "$dir/e/d0.img" && truncate -s 16M "$dir/e/d0.img"
fails "e: a blank disk" "blank.*remove that directory" node e 0
rm -rf "$dir/e/io0/d0"
check "e: its records removed" nodes e
refused "e: an empty disk" "disk d0 of node io0 is not the one.*ddio replace d0"
check "e: ddio replace" "$ddio" replace d0
denied "e: what was on it is an error" "may have had data" one
check "e: a new file" import two
check "e: ... is whole" same two
end e

# (g) A start that nobody comes to, a copy after it, then work: whatever is put back of the copy is refused.
check "g: start" begin g
nodes g && stop_cluster g
save g d1.img io1
nodes g && "$ddio" rm one && import two
# ... and a copy of the disk while the daemon is running
cp --sparse=always "$dir/g/d1.img" "$dir/g.running" && import three
stop_cluster g
mkdir "$dir/late" && cp -a --sparse=always "$dir/g/d1.img" "$dir/g/io1" "$dir/late"
late() {
	rm -rf "${dir:?}/g/io1" "$dir/g/d1.img" && cp -a --sparse=always "$dir/late/d1.img" "$dir/late/io1" "$dir/g"
}
back g io1
node g 0
fails "g: records" "records were put back from a backup" node g 1
late && back g d1.img
fails "g: the disk" "disk was put back from a backup" node g 1
cp --sparse=always "$dir/g.running" "$dir/g/d1.img"
fails "g: the disk as it was while the daemon was running" "disk was put back from a backup" node g 1
back g d1.img io1
check "g: both start" node g 1
denied "g: ... and are refused by the name space" "d1 of node io1 and its records were put back" two
kill "$(cat "$dir/g/io1.pid")" && sleep 0.5
late
check "g: the younger ones" node g 1
check "g: ... are good" same two
check "g: ... all of them" same three
end g

# (h) The name server is killed, and a byte of its journal changes, or its end is lost.
# strike N HOW: after some work that was synced; returns false if all of it had been committed by then
strike() {
	"$ddio" import "$dir/two" "x$1" >/dev/null && "$ddio" import "$dir/three" "y$1" >/dev/null || return 1
	kill -9 "$(cat "$dir/h/io0.pid")"
	soon eval "! kill -0 $(cat "$dir/h/io0.pid") 2>/dev/null"
	for j in "$dir/h/io0/ns/journal.0" "$dir/h/io0/ns/journal.1"; do
		[ "$(tr -d '\0' <"$j" | wc -c)" -gt 600 ] || continue
		case $2 in
		byte) printf '\xff' | dd of="$j" bs=1 seek=40 conv=notrunc status=none ;;
		end) truncate -s 100 "$j" ;;
		esac
		return
	done
	node h 0 && return 1
}
damaged() {
	local i
	for ((i = 0; i < 20; i++)); do strike "$1$i" "$1" && return; done
	return 1
}
check "h: start" begin h
nodes h
for how in byte end; do
	check "h: $how: the journal is damaged" damaged "$how"
	check "h: $how: the daemon starts" node h 0
	refused "h: $how" "older than what it has answered: its journal is damaged.*ddio replace --names"
	check "h: fsck ends with 1" [ "$("$ddio" fsck >/dev/null 2>&1; echo $?)" = 1 ]
	kill "$(cat "$dir/h/io0.pid")" && soon eval "! kill -0 $(cat "$dir/h/io0.pid") 2>/dev/null"
	check "h: $how: once more" node h 0
	denied "h: it is not forgotten" "its journal is damaged" one
	check "h: $how: ddio replace --names" "$ddio" replace --names
	check "h: $how: what is older is there" same one
done
end h
