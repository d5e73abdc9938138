#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 200
# ddio clone, snap and snaps, and cp(1) of a mount, beside writers; a node that is down, a command that is killed, a full disk.
. "$(dirname "$0")/lib_mount.sh"
fs=$build/ddiofs
check "start" start_cluster c --iops 2 --engine aio --files --disk-size 64M --cache 16M --timeout-ms 4000
mkdir "$dir/m"
check "mount" in_time 20 "$fs" "$DDIO_CONF" "$dir/m"

# room: bytes that are free, as df(1) has them
room() {
	echo $(($(stat -f -c '%f * %S' "$dir/m")))
}
# clean: fsck finds nothing wrong, and nothing left over
clean() {
	"$ddio" fsck | grep -q ' 0 orphans: consistent'
}

head -c 6000123 /dev/urandom >"$dir/old"
head -c 6000123 /dev/urandom >"$dir/new"
check "import" "$ddio" import "$dir/old" f
free=$(room)
check "clone" in_time 20 "$ddio" clone f g
check "takes no space" [ "$(room)" = "$free" ]
"$ddio" export -q g "$dir/got"
check "has the bytes" cmp "$dir/old" "$dir/got"
fails "a name that exists" "exists" in_time 20 "$ddio" clone f g
fails "a file that does not" "no such" in_time 20 "$ddio" clone nothing h
check "nothing is left" clean

# Snapshots.
check "snap" in_time 20 "$ddio" snap f monday
check "snap without a name" bash -c "in=\$('$ddio' snap f) && [ -n \"\$in\" ]"
check "they are listed" [ "$("$ddio" snaps f | wc -l)" = 2 ]
snap=$("$ddio" snaps f | awk '/monday/ { print $NF }')
check "by a name" grep -qx '.snaps/[0-9]*/monday' <<<"$snap"
check "write the file" cp "$dir/new" "$dir/m/f"
sync -f "$dir/m/f"
check "the snapshot is what the file was" cmp "$dir/old" "$dir/m/$snap"
check "nobody may write it" [ "$(stat -c %A "$dir/m/$snap" | tr -d -- '-r')" = "" ]
fails "nobody does, root neither" "read-only" bash -c "exec 2>&1; dd if='$dir/new' of='$dir/m/$snap' bs=64K count=1 conv=notrunc,fsync"
fails "nor cuts it" "read-only" truncate -s 10 "$dir/m/$snap"
fails "nor changes its mode" "read-only" chmod u+w "$dir/m/$snap"
fails "nor reserves space" "read-only" fallocate -l 8M "$dir/m/$snap"
check "fsck --repair leaves it" in_time 60 "$ddio" fsck --repair
check "it is as it was" cmp "$dir/old" "$dir/m/$snap"
check "the clone is it, too" cmp "$dir/old" "$dir/m/g"
check "rename" mv "$dir/m/f" "$dir/m/ff"
check "a snapshot by a path below a mount" in_time 20 "$ddio" snap "$dir/m/ff" tuesday
check "all of them are found" [ "$("$ddio" snaps "$dir/m/ff" | wc -l)" = 3 ]
check "remove the file" rm "$dir/m/ff"
check "they are there" cmp "$dir/old" "$dir/m/$snap"
check "and listed" [ "$("$ddio" snaps | wc -l)" = 3 ]
check "make a file of one" in_time 20 "$ddio" clone "$snap" back
check "of the same bytes" cmp "$dir/old" "$dir/m/back"
check "that can be written" cp "$dir/new" "$dir/m/back"
mkdir "$dir/m/d"
check "a clone by paths below a mount" in_time 20 "$ddio" clone "$dir/m/g" "$dir/m/d/h"
check "is there" cmp "$dir/old" "$dir/m/d/h"
check "by paths from a directory of the mount" bash -c "cd '$dir/m/d' && in_time 20 '$ddio' clone h i"
check "is there, too" cmp "$dir/old" "$dir/m/d/i"
fails "a path that exists" "exists" in_time 20 "$ddio" clone "$dir/m/g" "$dir/m/d/h"
fails "a path whose directory does not" "no such" in_time 20 "$ddio" clone "$dir/m/g" "$dir/m/e/h"
rm -r "$dir/m/d"
fails "a snapshot's name with a slash" "slash" in_time 20 "$ddio" snap g a/b
check "snap the other one" in_time 20 "$ddio" snap g once
check "remove it" in_time 20 "$ddio" snap --remove g once
fails "again" "no such\|not exist" in_time 20 "$ddio" snap --remove g once
for s in $("$ddio" snaps | awk '{ print $NF }'); do
	check "remove $s" "$ddio" rm "$s"
done
check "nothing is left" soon clean

# A mount appends, each line in one write, while clones are made: each has all lines without a gap.  Of the one that was under way
# there may be room at the end, and no byte.
perl -e 'open my $f, ">>", $ARGV[0] or die; my $n = 0;
	while (!-e $ARGV[1]) { syswrite($f, sprintf("%015d\n", $n++)) == 16 or die }' "$dir/m/log" "$dir/stop" &
writer=$!
# lines FILE: it has them
lines() {
	perl -e 'local $/; open my $f, "<", $ARGV[0] or die; my $all = <$f>; $all =~ s/\0{1,16}$//; my $n = 0;
		for (split /^/, $all) { $_ eq sprintf("%015d\n", $n++) or die "line $n of $ARGV[0]: $_" } die "none" if !$n' "$1"
}
for i in 1 2 3 4 5 6; do
	sleep 0.3
	check "clone $i of a file that grows" in_time 20 "$ddio" clone log "log$i"
done
touch "$dir/stop"
check "the writer has written all" wait "$writer"
for i in 1 2 3 4 5 6; do
	check "clone $i has all lines" lines "$dir/m/log$i"
done

# cp(1) shares blocks.
check "a file" cp "$dir/old" "$dir/m/a"
sync -f "$dir/m/a"
free=$(room)
check "cp" cp "$dir/m/a" "$dir/m/b"
sync -f "$dir/m/b"
now=$(room)
check "takes no more than a block on each disk" [ $((free - now)) -le $((4 * 65536)) ]
check "has the bytes" cmp "$dir/old" "$dir/m/b"

# Every other block of each disk is written anew, while another file shares them: the file lies in many extents,
# and is mended when nobody shares any.
# extents FILE
extents() {
	"$ddio" frag --csv "$1" | awk -F, 'NR > 1 { n += $4 } END { print n }'
}
# mended FILE: mend says nothing of what stays, and the file is in no more extents than at first
mended() {
	"$ddio" mend "$1" && [ "$(extents "$1")" -le "$fresh" ]
}
check "import" "$ddio" import "$dir/old" w
fresh=$(extents w)
check "clone" in_time 20 "$ddio" clone w v
for i in 0 1 4 5 8 9 12 13 16 17 20 21; do
	dd if="$dir/old" of="$dir/m/w" bs=256K skip="$i" seek="$i" count=1 conv=notrunc,fsync status=none
done
check "is worn" [ "$(extents "$dir/m/w")" -gt $((fresh + 10)) ]
"$ddio" frag "$dir/m/w" >"$dir/frag"
check "which is shown for people" grep -q '%' "$dir/frag"
"$ddio" mend w >"$dir/mended" 2>&1
check "what is shared stays" grep -q "other files have blocks of them" "$dir/mended"
check "remove the other one" "$ddio" rm v
"$ddio" mend --rate 10000 w >"$dir/mended" 2>&1 &
mender=$!
sleep 1
interrupt $mender
if wait $mender; then not_ok "an interrupted mend succeeded"; fi
check "it says that it was interrupted" grep -q "interrupted" "$dir/mended"
"$ddio" mend --rate 10000 w >"$dir/mended" 2>&1 &
sleep 0.5
kill -9 $!
wait $! 2>/dev/null
check "mend" soon mended "$dir/m/w"
check "has the bytes" cmp "$dir/old" "$dir/m/w"
check "free space is shown" bash -c "'$ddio' status --space --csv | awk -F, 'NR > 1 && !(\$3 >= \$5 && \$4 > 0) { exit 1 } END { exit NR != 3 }'"
fails "mend what does not exist" "no such" "$ddio" mend nothing
fails "frag, too" "no such" "$ddio" frag nothing
check "nothing is left" soon clean

# One that is killed leaves nothing: the name server removes what has no name.
for i in $(seq 20); do
	"$ddio" clone a "k$i" &
	sleep "0.0$((i % 10))"
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
done
for i in $(seq 20); do
	[ ! -e "$dir/m/k$i" ] || cmp -s "$dir/old" "$dir/m/k$i" || not_ok "clone $i is there in part"
done
rm -f "$dir"/m/k*
check "nothing is left, since the name server has removed it" soon clean

# A full disk: a clone needs no room, a block that is written does.
head -c 400M /dev/zero >"$dir/m/fill" 2>/dev/null
sync -f "$dir/m/fill" 2>/dev/null
check "clone on full disks" in_time 20 "$ddio" clone a full
check "has the bytes" cmp "$dir/old" "$dir/m/full"
rm "$dir/m/fill"

# A node that is down.
check "umount" umount "$dir/m"
kill -9 "$(cat "$dir/c/io1.pid")"
fails "a node is down" "io1" in_time 60 "$ddio" clone a down
check "it is started again" start_node c io1
fails "there is no such file" "no such\|not exist" "$ddio" stat down
check "fsck --repair --drop" in_time 60 "$ddio" fsck --repair --drop
check "nothing is left" soon clean
check "now it can be cloned" in_time 20 "$ddio" clone a down
