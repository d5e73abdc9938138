#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Wrong bits in the blocks of disks, of each engine that keeps its data in a file: every one is an error that names its place, none
# is delivered, and nothing is said of what is right.
. "$(dirname "$0")/lib.sh"

# flipped NAME BLOCK SEED: a bit in each block, of all disks; prints how many
flipped() {
	local image n all=0
	for image in "$dir/$1"/*; do
		[ -f "$image" ] || continue
		case $image in *.img | *.disk | */disk*) ;; *) continue ;; esac
		n=$("$helpers/wrong_bits" flip "$image" "$2" "$3") || return 1
		all=$((all + n))
	done
	echo $all
}

# hits BOUND: of all nodes
hits() {
	"$ddio" status --bounds | awk -v b="$1" '$2 == b { n += $6 } END { print n + 0 }'
}

# errors: those of all disks, as the status says
errors() {
	"$ddio" status --csv | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "errors") at = i }
		NR > 1 { n += $at }
		END { print n }'
}

# Blocks of 512 bytes, one wrong bit in each.
bits() {
	local engine=$1 n=$2 said
	start_cluster "$engine" --iops 2 --engine "$engine" --files --disk-size 16M ${3:+--disk-options "$3"} || {
		not_ok "$engine: no cluster"
		return
	}
	check "$engine: $n blocks are written" "$helpers/wrong_bits" make bits 512 "$n"
	stop_cluster "$engine"
	check "$engine: a bit is turned in each" [ "$(flipped "$engine" 512 7)" = "$n" ]
	"$ddio" start --dir "$dir/$engine" >/dev/null || not_ok "$engine: does not start again"
	said=$("$helpers/wrong_bits" read bits 512 "$n")
	check "$engine: $said" [ "$said" = "0 fine, $n named, 0 other errors, 0 wrong" ]
	check "$engine: the log names each" \
		[ "$(cat "$dir/$engine"/*.log | grep -c 'does not match its checksum')" -ge "$n" ]
	check "$engine: the status counts them" [ "$(errors)" -ge "$n" ]
	check "$engine: as blocks of disks" [ "$(hits wrong/disk)" -ge "$n" ]
	check "$engine: and none of the wire" [ "$(hits wrong/wire)" = 0 ]
	fails "$engine: it names the place" 'node io[01], disk d[01]: block [0-9]* .* does not match its checksum' \
		"$ddio" export bits "$dir/out.$engine"
	stop_cluster "$engine"
	flipped "$engine" 512 7 >"$dir/n"
	"$ddio" start --dir "$dir/$engine" >/dev/null
	said=$("$helpers/wrong_bits" read bits 512 "$n")
	check "$engine, turned back: $said" [ "$said" = "$n fine, 0 named, 0 other errors, 0 wrong" ]
	check "$engine: fsck" "$ddio" fsck
	stop_cluster "$engine"
}

bits aio 4000
bits mem 4000
bits hp97560 2000 time_scale=0

# Written again and again, in whole and in part, by collectives and by requests, nothing is said to be wrong.
head -c 3000000 /dev/urandom >"$dir/in"
start_cluster again --iops 2 --engine aio --files --disk-size 64M
for i in 1 2 3; do
	check "imported, $i" "$ddio" import --force --block-size 16K "$dir/in" again
	check "and back, $i" cmp "$dir/in" <("$ddio" export again -)
done
check "nothing is wrong" [ -z "$(cat "$dir"/again/*.log | grep 'does not match')" ]
stop_cluster again

# Without checksums what the disk has is what there is.
sed -i 's/^\[cluster\]/&\nchecksums = no/' "$dir/aio/ddio.conf"
export DDIO_CONF=$dir/aio/ddio.conf
check "a start without checksums" "$ddio" start --dir "$dir/aio"
stop_cluster aio
flipped aio 512 3 >"$dir/n"
"$ddio" start --dir "$dir/aio" >/dev/null
said=$("$helpers/wrong_bits" read bits 512 4000)
check "without checksums: $said" [ "$said" = "0 fine, 0 named, 0 other errors, 4000 wrong" ]
check "fsck" "$ddio" fsck
