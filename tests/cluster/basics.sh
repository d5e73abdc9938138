#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# The tools, end to end: start, import, ls, stat, layout, export, rm, fsck, stop.
. "$(dirname "$0")/lib.sh"

check "start a cluster" start_cluster a --iops 3 --disks 2 --engine mem --disk-size 32M
check "what ends a daemon says so in its log" [ "$(readlink "/proc/$(cat "$dir/a/io0.pid")/fd/2")" = "$dir/a/io0.log" ]
fails "start twice in one directory" "is running" "$ddio" start --dir "$dir/a"
fails "start another one there" "already holds a cluster" "$ddio" start --dir "$dir/a" --iops 2

# Imports files whose sizes lie around block and stripe ends, and an empty one.
for size in 0 1 511 512 8191 8192 8193 65537 1000003; do
	head -c "$size" /dev/urandom >"$dir/in"
	"$ddio" import --block-size 8K "$dir/in" "f.$size" &&
		"$ddio" export "f.$size" "$dir/out.$size" && cmp "$dir/in" "$dir/out.$size"
	check "import and export $size bytes" [ $? -eq 0 ]
done
check "ls lists them in order" [ "$("$ddio" ls | tr '\n' ' ')" = \
	"f.0 f.1 f.1000003 f.511 f.512 f.65537 f.8191 f.8192 f.8193 " ]
check "ls --long tells the size" grep -q '^ *1000003 .*f.1000003$' <("$ddio" ls -l)
check "stat tells the striping" grep -q 'block size: 8192' <("$ddio" stat f.1)
"$ddio" layout f.1000003 >"$dir/layout"
blocks=$(awk 'NR > 1 { n += $3 } END { print n }' "$dir/layout")
check "layout accounts for every block" [ "$blocks" = 123 ]
check "standard input and output" cmp <(head -c 70000 /dev/zero) \
	<(head -c 70000 /dev/zero | "$ddio" import - piped && "$ddio" export piped -)
fails "import of an existing name" "exists" "$ddio" import "$dir/in" f.1
check "import --force replaces" "$ddio" import --force "$dir/in" f.1
check "... wholly" cmp "$dir/in" <("$ddio" export f.1 -)
fails "export of no such file" "f.none" "$ddio" export f.none "$dir/none"
fails "rm of no such file" '^ddio rm: node io0: file "f.none": no such file or object$' "$ddio" rm f.none
check "rm --force of no such file" "$ddio" rm --force f.none
free0=$("$ddio" status --csv | awk -F, 'NR > 1 { n += $6 } END { print n }')
check "rm" "$ddio" rm f.0 f.1 f.511 f.512 f.8191 f.8192 f.8193 f.65537 f.1000003 piped
check "ls after rm" [ -z "$("$ddio" ls)" ]
free1=$("$ddio" status --csv | awk -F, 'NR > 1 { n += $6 } END { print n }')
check "rm gives space back" [ "$free1" -gt "$free0" ]
check "fsck" "$ddio" fsck

# Stripes files over some of the disks, in any order, and in every layout.
head -c 300000 /dev/urandom >"$dir/in"
check "stripe over disks 4 and 1" "$ddio" import --block-size 512 --disks 4,1 "$dir/in" two
check "... keeps the order" grep -q '^disks: *4 1$' <("$ddio" stat two)
check "... and the bytes" cmp "$dir/in" <("$ddio" export two -)
for l in random-blocks random-tracks; do
	check "layout $l" "$ddio" import --block-size 4K --layout $l --seed 7 "$dir/in" "$l"
	check "... its bytes" cmp "$dir/in" <("$ddio" export "$l" -)
done
fails "no such disk" "disk" "$ddio" import --disks 17 "$dir/in" bad
fails "a block size that is no power of two" "block" "$ddio" import --block-size 3000 "$dir/in" bad
fails "no such layout" "layout" "$ddio" import --layout spiral "$dir/in" bad

check "progress bars stay out of pipes" [ -z "$("$ddio" import --force "$dir/in" two 2>&1)" ]
check "usage errors exit with 2" bash -c "'$ddio' ls --nonsense 2>/dev/null; [ \$? = 2 ]"
check "unknown commands exit with 2" bash -c "'$ddio' frobnicate 2>/dev/null; [ \$? = 2 ]"
check "status" "$ddio" status
one_of_several() { "$ddio" status --nodes | grep -E ' 1 (reactor|disk|connection|request|collective)s'; }
check "... says \"1 disk\"" eval '! one_of_several'
check "status names every node" [ "$("$ddio" status --nodes | grep -c ' up ')" = 3 ]

check "stop tells that the data are gone" grep -q "data .* are gone" <("$ddio" stop --dir "$dir/a")
fails "... and start, too" "were in memory" "$ddio" start --dir "$dir/a"
fails "status of a stopped cluster" "down\|refused\|lost\|reach" "$ddio" ls

# Without options "ddio start" keeps data in files, which survive a restart.
check "start without options" start_cluster n
check "... has disks in files" [ "$("$ddio" status --csv | cut -d, -f3 | sort | uniq -c | tr -s ' \n' ' ')" = " 4 aio 1 engine " ]
check "import" "$ddio" import "$dir/in" kept
check "stop tells how to go on" grep -q "starts the cluster again" <("$ddio" stop --dir "$dir/n")
check "start again" "$ddio" start --dir "$dir/n"
check "the file is there" cmp "$dir/in" <("$ddio" export kept -)
check "... and takes little room" [ "$(du -sm "$dir/n" | cut -f1)" -lt 64 ]
check "stop --clean" "$ddio" stop --clean --dir "$dir/n"
for e in mem hp97560; do
	check "start --engine $e" start_cluster $e --iops 1 --engine $e
	check "stop --clean" "$ddio" stop --clean --dir "$dir/$e"
done

# Data in files also survive daemons that are restarted by hand.
check "start with files" start_cluster b --iops 2 --disks 1 --engine aio --files --disk-size 16M
check "import" "$ddio" import --block-size 16K "$dir/in" kept
check "stop" stop_cluster b
for n in 0 1; do
	"$build/ddiod" --conf "$DDIO_CONF" --node io$n --pid-file "$dir/b/io$n.pid" \
		--log-file "$dir/b/io$n.log"
	check "restart io$n" [ $? -eq 0 ]
done
sed "s|$dir/b/|$dir/second/|g" "$DDIO_CONF" >"$dir/second.conf"
mkdir "$dir/second" && cp -a "$dir/b/key" "$dir/second"
fails "a second daemon at the same address" "in use" "$build/ddiod" --conf "$dir/second.conf" --node io0 --pid-file "$dir/b/io0.pid"
check "... leaves the pid file of the first" kill -0 "$(cat "$dir/b/io0.pid")"
rm -rf "$dir/second"
check "the file survives an orderly restart" cmp "$dir/in" <("$ddio" export kept -)
check "fsck" "$ddio" fsck
# fsck finds objects whose names are lost, and frees their space.
check "ddio mkdir" "$ddio" mkdir d d/e
check "... is listed" grep -qx 'd/' <("$ddio" ls)
check "... takes files" "$ddio" import --block-size 16K "$dir/in" d/e/f
check "... that come back" cmp "$dir/in" <("$ddio" export d/e/f -)
fails "... is there already" "exists" "$ddio" mkdir d
fails "... is a file's name" "exists" "$ddio" mkdir kept
fails "... has nothing above it" "No such file" "$ddio" mkdir no/d
fails "... has a file above it" "Not a directory" "$ddio" mkdir kept/d
check "ddio mkdir -p" "$ddio" mkdir -p d/e/x/y z d
check "... made all" grep -qx 'y/' <("$ddio" ls d/e/x)
fails "... not in place of a file" "not a directory" "$ddio" mkdir -p kept
fails "... not below one" "Not a directory" "$ddio" mkdir -p kept/d/e
fails "ddio rm of a full directory" "not empty" "$ddio" rm d
check "ddio rm" "$ddio" rm d/e/f d/e/x/y d/e/x d/e d z
check "... leaves the file" [ "$("$ddio" ls)" = kept ]
check "fsck" "$ddio" fsck
check "stop" stop_cluster b
rm -rf "$dir/b/io0/ns"
for n in 0 1; do
	"$build/ddiod" --conf "$DDIO_CONF" --node io$n --pid-file "$dir/b/io$n.pid" \
		--log-file "$dir/b/io$n.log"
	check "restart io$n without names" [ $? -eq 0 ]
done
fails "... is refused" "older than what disk" "$ddio" fsck
check "ddio replace --names" "$ddio" replace --names
"$ddio" fsck >"$dir/fsck"
check "fsck counts the orphans" grep -q ' 2 orphans' "$dir/fsck"
check "fsck --repair --drop" "$ddio" fsck --repair --drop
check "... leaves none" grep -q '^0 problems, 0 repaired, 0 orphans' <("$ddio" fsck)
check "... nor any object" grep -q '^0 files, 0 objects, 0 extents' <("$ddio" fsck)
check "stop --clean" "$ddio" stop --clean --dir "$dir/b"
check "... leaves nothing" [ ! -e "$dir/b" ]
