#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Damages every kind of record of a disk, with the daemons down: `ddio fsck` finds it, --repair repairs it or makes an error of
# what is lost, which only --drop ends, and files that were not hit keep every byte, also when the disks are filled up
# afterwards.
. "$(dirname "$0")/lib.sh"

head -c 300000 /dev/urandom >"$dir/in"
head -c 1500000 /dev/urandom >"$dir/big"

restart() {
	local n
	for n in 0 1; do
		"$build/ddiod" --conf "$DDIO_CONF" --node io$n --pid-file "$dir/$1/io$n.pid" \
			--log-file "$dir/$1/io$n.log" ${2:+"$2"} || return 1
	done
}

# begin NAME: three files over two disks, and the daemons down
begin() {
	start_cluster "$1" --iops 2 --disks 1 --engine aio --files --disk-size 8M || return 1
	local f
	for f in first keeper last; do
		"$ddio" import --block-size 16K "$dir/in" $f >/dev/null || return 1
	done
	stop_cluster "$1"
}

# given_up NAME FILE...: a repair does not make zeros of what is lost; only --drop does.  $lost: the file that is an error
given_up() {
	local name=$1 f
	shift
	fails "$name: --repair keeps what is lost" "INCONSISTENT" "$ddio" fsck --repair
	for f in "$@"; do
		check "$name: $f can be read" cmp "$dir/in" <("$ddio" export $f -)
	done
	[ "$lost" = nobody ] || fails "$name: $lost cannot be read" "" "$ddio" export $lost "$dir/out"
	fails "$name: it is found again" "INCONSISTENT" "$ddio" fsck
	[ "$lost" = nobody ] || check "$name: ... by its path" \
		grep -q "^/$lost (file [0-9]*): records of it on disk d0 are damaged" <("$ddio" fsck)
	check "$name: --repair --drop" "$ddio" fsck --repair --drop
}

# mended NAME FILE...: fsck finds a problem, repairs it, then finds nothing; the files named are as they were
mended() {
	local name=$1 f
	shift
	"$ddio" fsck >"$dir/found" 2>&1 && {
		not_ok "$name: fsck finds nothing: $(cat "$dir/found")"
		return
	}
	check "$name: found" grep -q '^[1-9][0-9]* problems, 0 repaired' "$dir/found"
	if [ -n "$lost" ]; then
		given_up "$name" "$@"
	else
		check "$name: --repair" "$ddio" fsck --repair
	fi
	check "$name: mended" grep -q '^0 problems, 0 repaired' <("$ddio" fsck)
	for f in "$@"; do
		check "$name: $f is whole" cmp "$dir/in" <("$ddio" export $f -)
	done
	# Fills the disks: space that is recorded as free must belong to no file.
	f=0
	while [ $f -lt 20 ] && "$ddio" import --block-size 16K "$dir/big" big$f >/dev/null 2>&1; do
		f=$((f + 1))
	done
	check "$name: $f large files fit, and then no more" [ $f -ge 8 -a $f -lt 12 ]
	for f in $(seq 0 $((f - 1))); do
		cmp -s "$dir/big" <("$ddio" export big$f -) || not_ok "$name: big$f is not whole"
	done
	for f in "$@"; do
		check "$name: $f is still whole" cmp "$dir/in" <("$ddio" export $f -)
	done
	check "$name: consistent at the end" "$ddio" fsck
}

# one "RECORD HOW" FILE...: damages a record; these files must stay whole
one() {
	local what=$1 name=${1// /-}
	shift
	check "$name: start" begin "$name" || return
	# shellcheck disable=SC2086 # two words
	check "$name: harm" "$helpers/harm" "$dir/$name/io0/$disk" $what
	check "$name: daemons start" restart "$name"
	mended "$name" "$@"
	"$ddio" stop --clean --dir "$dir/$name" >/dev/null
}

disk=d0 lost=
one "extent crc" first keeper last
one "extent drop" keeper last
lost=last one "extent overlap" first keeper
lost=first one "extent beyond" keeper last
lost=nobody one "extent orphan" keeper last
one "object crc" first keeper last
lost=first one "object drop" keeper last
one "free crc" first keeper last
one "free drop" first keeper last
one "free double" first keeper last

# The name space has lost a file: what the disks have of it comes back in /lost+found, and a crash before it is durable
# leaves it to the next repair.
check "inode: start" begin inode
ino=$("$helpers/harm" "$dir/inode/io0/ns" inode drop)
check "inode: daemons start" restart inode
check "inode: a check finds no name, and objects" grep -q " 2 orphans" <("$ddio" fsck)
"$ddio" fsck --repair >"$dir/found" || not_ok "inode: --repair: $(cat "$dir/found")"
check "inode: it says where the file is" grep -q "^file $ino: given back as /lost+found/#$ino: 311296 bytes" "$dir/found"
check "inode: nothing is left" grep -q "^0 problems, 0 repaired, 0 orphans: consistent" <("$ddio" fsck --repair)
for n in 0 1; do
	kill -9 "$(cat "$dir/inode/io$n.pid")"
done
check "inode: daemons start after a kill" restart inode
cmp -n 300000 "$dir/in" <("$ddio" export "lost+found/#$ino" -) || not_ok "inode: the file is not what it was"
check "inode: its rest is zeros" [ "$("$ddio" export "lost+found/#$ino" - | tail -c +300001 | tr -d '\0' | wc -c)" -eq 0 ]
for f in first keeper; do
	check "inode: $f is whole" cmp "$dir/in" <("$ddio" export $f -)
done
check "inode: it can be removed" "$ddio" rm "lost+found/#$ino"
check "inode: consistent" grep -q " 0 orphans: consistent" <("$ddio" fsck)
"$ddio" stop --clean --dir "$dir/inode" >/dev/null

# A damaged label is refused until --repair rewrites it from its copy.
check "label: start" begin label
check "label: harm" "$helpers/harm" "$dir/label/io0/$disk" label crc
"$build/ddiod" --conf "$DDIO_CONF" --node io0 --log-file "$dir/label/refused.log" 2>"$dir/refused"
check "label: a damaged one is refused" [ $? -ne 0 ]
check "label: --repair mends it" restart label --repair
for f in first keeper last; do
	check "label: $f is whole" cmp "$dir/in" <("$ddio" export $f -)
done
check "label: consistent" "$ddio" fsck
stop_cluster label
printf 'X' | dd of="$dir/label/d0.img" bs=1 seek=60 conv=notrunc status=none
"$build/ddiod" --conf "$DDIO_CONF" --node io0 --log-file "$dir/label/refused.log" 2>"$dir/refused"
check "label: one on the disk too" [ $? -ne 0 ]
check "label: --repair mends it" restart label --repair
check "label: consistent" "$ddio" fsck
