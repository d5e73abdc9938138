#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Two mounts of one cluster: what each sees of the other, and a checker of histories of both.
. "$(dirname "$0")/lib_mount.sh"
seed=${DDIO_SEED:-$RANDOM}
echo "seed $seed"
check "start" start_cluster c --iops 3 --engine mem --disk-size 256M --block-size 32K --cache 32M
check "mount" mount_at a
check "mount" mount_at b

round() {
	local i
	for ((i = 0; i < 50; i++)); do
		head -c $((RANDOM + 1)) /dev/urandom >"$dir/$1/f" || return 1
		cmp "$dir/$1/f" "$dir/$2/f" || return 1
	done
}
check "closed by one, opened by the other" round a b
check "the other way" round b a
growing() {
	local i
	: >"$dir/a/g"
	for ((i = 1; i <= 50; i++)); do
		echo "line $i" >>"$dir/a/g"
		[ "$(wc -l <"$dir/b/g")" = $i ] || return 1
		[ "$(tail -1 "$dir/b/g")" = "line $i" ] || return 1
	done
}
check "what grows" growing
names() {
	local i
	for ((i = 0; i < 30; i++)); do
		mkdir "$dir/a/d$i" && echo x >"$dir/a/d$i/f" && mv "$dir/a/d$i" "$dir/a/e$i" || return 1
	done
	sleep 1.1
	[ "$(cat "$dir"/b/e*/f | wc -l)" = 30 ] && ! ls -d "$dir"/b/d* 2>/dev/null && rm -r "$dir"/b/e*
}
check "names, after a second" names
# A mount sees its own changes, and all earlier ones, at once; others' changes a second later, however
# often it was asked meanwhile.
links() {
	[ "$(stat -c %h "$dir/$1/s")" = "$2" ] || { echo "$1: $(stat -c %h "$dir/$1/s") links instead of $2"; return 1; }
}
both_change() {
	local i
	for ((i = 0; i < 20; i += 2)); do
		mkdir "$dir/a/s/$i" && links a $((i + 3)) && mkdir "$dir/b/s/$((i + 1))" && links b $((i + 4)) || return 1
	done
	for ((i = 0; i < 20; i += 2)); do
		rmdir "$dir/b/s/$i" && links b $((21 - i)) && rmdir "$dir/a/s/$((i + 1))" && links a $((20 - i)) || return 1
	done
}
believed_for() {
	mkdir "$dir/a/s/x" || return 1
	sleep 0.6
	mkdir "$dir/b/s/y" && stat "$dir/a/s" >/dev/null || return 1
	sleep 0.45
	links a 4 && rmdir "$dir/b/s/x" && chmod 700 "$dir/b/s" && rmdir "$dir/b/s/y" || return 1
	sleep 1.05
	links a 2 && [ "$(stat -c %a "$dir/a/s")" = 700 ]
}
check "a directory for both" mkdir "$dir/a/s"
check "both change a directory" both_change
check "attributes of a directory, after a second" believed_for
append_all() {
	local n
	for ((n = 0; n < 200; n++)); do echo "$1 $n" >>"$dir/$1/log" || return 1; done
}
both_append() {
	: >"$dir/a/log"
	append_all a &
	local p=$!
	append_all b && wait $p && [ "$(grep -c '^a ' "$dir/a/log")" = 200 ] &&
		[ "$(grep -c '^b ' "$dir/a/log")" = 200 ] && [ "$(wc -l <"$dir/b/log")" = 400 ] &&
		grep '^a ' "$dir/b/log" | sort -c -k2n
}
check "both append" both_append
# Writes regions that share blocks: neither mount's bytes are lost.
write_regions() {
	local n
	head -c 20000 /dev/zero | tr '\0' "$1" >"$dir/$1.piece"
	for ((n = $2; n < 200; n += 2)); do
		dd if="$dir/$1.piece" of="$dir/$1/r" bs=20000 seek=$n conv=notrunc status=none || return 1
	done
}
both_write() {
	local n
	truncate -s 4M "$dir/a/r"
	write_regions a 0 &
	local p=$!
	write_regions b 1 && wait $p && cp "$dir/b/r" "$dir/r.b" && cmp "$dir/a/r" "$dir/r.b" || return 1
	for ((n = 0; n < 200; n++)); do
		dd if="$dir/r.b" bs=20000 skip=$n count=1 status=none |
			cmp -s - "$dir/$([ $((n % 2)) = 0 ] && echo a || echo b).piece" || return 1
	done
}
check "both write regions of one file" both_write
unlinked() {
	echo kept >"$dir/a/u"
	exec 8<"$dir/a/u"
	rm "$dir/b/u"
	sleep 1.1
	[ "$(cat <&8)" = kept ] && ! test -e "$dir/a/u"
	local rc=$?
	exec 8<&-
	return $rc
}
check "removed by one, open by the other" unlinked
# Requests that the name server has had.
requests() { "$ddio" status --nodes | sed -n 's/.* \([0-9][0-9]*\) requests.*/\1/p' | head -1; }
# A listing says what has no extended attributes; whoever sets one sees it at once, the others after a second.
listed_long() {
	local before
	mkdir "$dir/a/long" && (cd "$dir/a/long" && touch $(seq 1 500)) || return 1
	before=$(requests)
	[ "$before" -gt 500 ] && [ "$(ls -l "$dir/b/long" | wc -l)" -eq 501 ] &&
		[ $(($(requests) - before)) -lt 250 ]
}
check "a long listing asks for no ACL of each file" listed_long
# Names that are looked up one after another, as git status does, are listed; the first of them are not, up to 64 after
# listings of which little was used.
looked_up() {
	local before
	sleep 1.1
	before=$(requests)
	(cd "$dir/b/long" && stat -c %s $(seq 1 500)) | uniq | grep -qx 0 && [ $(($(requests) - before)) -lt 250 ]
}
check "names that are looked up one after another are not asked for one by one" looked_up
# A change by this mount shows at once, one by the other after a second.
looked_up_changed() {
	sleep 1.1
	(cd "$dir/b/long" && stat -c %s $(seq 1 100)) >/dev/null
	chmod 600 "$dir/b/long/110" && mv "$dir/b/long/111" "$dir/b/long/112" && echo x >"$dir/b/long/113" &&
		[ "$(cd "$dir/b/long" && stat -c %a:%s 110 113)" = $'600:0\n644:2' ] && ! [ -e "$dir/b/long/111" ] || return 1
	rm "$dir/a/long/114" && echo more >>"$dir/a/long/115" && sleep 1.1 &&
		! [ -e "$dir/b/long/114" ] && [ "$(stat -c %s "$dir/b/long/115")" = 5 ]
}
check "... and show what has changed" looked_up_changed
all_requests() { "$ddio" status --nodes | sed -n 's/.* \([0-9][0-9]*\) requests.*/\1/p' | awk '{ n += $1 } END { print n }'; }
# Files that were written from their beginning: nobody has to count their blocks.
listed_new() {
	local before i blocks
	mkdir "$dir/a/new" || return 1
	for i in $(seq 1 200); do head -c $((i * 500)) /dev/zero >"$dir/a/new/$i" && echo more >>"$dir/a/new/$i" || return 1; done
	before=$(all_requests)
	blocks=$(ls -ls "$dir/b/new" | awk 'NR > 1 { n += $1 } END { print n }')
	[ $(($(all_requests) - before)) -lt 100 ] &&
		[ "$blocks" = "$(du --apparent-size -B 32K "$dir/b/new"/* | awk '{ n += $1 * 32 } END { print n }')" ]
}
check "a long listing of new files counts no blocks" listed_new
# now FORMAT FILE: what is so now, not what was so a second ago
now() { stat --cached=never -c "$@"; }
# Random changes by two mounts: a file has as many blocks as the disks count, who are asked when the size is
# set, though to what it is.
counted() {
	local k f m size said count old new
	for k in $(seq 1 120); do
		f=r$((RANDOM % 3)) m=$((RANDOM % 4 ? 0 : 1))
		[ $m = 0 ] && m=a || m=b
		[ -e "$dir/$m/$f" ] || : >"$dir/$m/$f"
		size=$(now %s "$dir/$m/$f")
		case $((RANDOM % 12)) in
		0) rm "$dir/$m/$f" && : >"$dir/$m/$f" ;;
		1) truncate -s $((RANDOM * 9)) "$dir/$m/$f" ;;
		2) fallocate -p -o $((RANDOM * 8)) -l 40000 "$dir/$m/$f" ;;
		3) fallocate -o $((RANDOM * 8)) -l 40000 "$dir/$m/$f" ;;
		4) head -c $((RANDOM * 3)) /dev/zero >"$dir/$m/$f" ;;
		5) cp "$dir/$m/$f" "$dir/$m/r$((RANDOM % 3))" 2>/dev/null || : ;;
		6) dd if=/dev/zero of="$dir/$m/$f" bs=1000 count=20 seek=$((RANDOM % 300)) conv=notrunc status=none ;;
		7 | 8) dd if=/dev/zero of="$dir/$m/$f" bs=1 count=1 seek=$((size ? RANDOM * 8 % size : 0)) conv=notrunc status=none ;;
		*) head -c $((RANDOM * 2)) /dev/zero >>"$dir/$m/$f" ;;
		esac || return 1
		read -r old said size < <(now '%i %b %s' "$dir/$m/$f")
		truncate -s "$size" "$dir/$m/$f"
		read -r new count < <(now '%i %b' "$dir/$m/$f")
		# Or it was a name that the other mount has given to another file since.
		[ "$count" = "$said" ] || [ "$new" != "$old" ] ||
			{ echo "step $k: $said blocks were said, the disks have $count"; return 1; }
	done
}
RANDOM=$seed
check "blocks are those that the disks count" counted
attribute_of() { python3 -c 'import os, sys; print(os.getxattr(sys.argv[1], "user.x").decode())' "$1"; }
attribute_set() { python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.x", sys.argv[2].encode())' "$@"; }
dressed() {
	local n
	for n in 7 8 9; do
		ls -l "$dir/a/long" "$dir/b/long" >/dev/null
		attribute_set "$dir/a/long/$n" v$n && [ "$(attribute_of "$dir/a/long/$n")" = v$n ] || return 1
		sleep 1.1
		[ "$(attribute_of "$dir/b/long/$n")" = v$n ] || return 1
	done
}
check "an attribute that is set after a listing is there" dressed
replaced() {
	echo old >"$dir/a/v"
	exec 8<"$dir/a/v"
	echo new >"$dir/b/w" && mv "$dir/b/w" "$dir/b/v"
	[ "$(cat <&8)" = old ] && sleep 1.1 && [ "$(cat "$dir/a/v")" = new ]
	local rc=$?
	exec 8<&-
	return $rc
}
check "replaced by one, open by the other" replaced
# What one replaces the other opens, and learns how long what it opens has become.
check "replaced while it is opened, here" in_time 30 "$helpers/meet" replaced "$dir/a" "$dir/a"
check "replaced while it is opened, there" in_time 30 "$helpers/meet" replaced "$dir/a" "$dir/b"
check "listed while every entry is renamed, here" in_time 60 "$helpers/meet" listed "$dir/a" "$dir/a"
check "listed while every entry is renamed, there" in_time 60 "$helpers/meet" listed "$dir/a" "$dir/b"
check "handles made by one open files on the other" "$helpers/meet" handles "$dir/a" "$dir/b"
check "grown before it is mapped" in_time 60 "$helpers/meet" grown "$dir/a" "$dir/b"
check "histories under locks" in_time 30 "$helpers/histories" --seed "$seed" --seconds 6 --locks "$dir/a" "$dir/b"
check "unmount" unmount a
check "unmount" unmount b
check "mount" mount_at a cache=none
check "mount" mount_at b cache=none
asked_each_time() {
	local i
	for ((i = 0; i < 20; i++)); do
		mkdir "$dir/a/s/$i" && links b $((i + 3)) && links a $((i + 3)) || return 1
	done
}
check "attributes of a directory, at once" asked_each_time
check "histories without locks" in_time 30 "$helpers/histories" --seed "$seed" --seconds 6 "$dir/a" "$dir/b"
check "histories under locks" in_time 30 "$helpers/histories" --seed "$seed" --seconds 5 --locks "$dir/a" "$dir/b"
kill -9 "${pid[b]}"
wait "${pid[b]}" 2>/dev/null
check "one is killed, the other goes on" in_time 20 bash -c "echo on >$dir/a/on && grep -q on $dir/a/on"
check "unmount" unmount a
check "fsck" "$ddio" fsck
