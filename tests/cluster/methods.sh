#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Every pattern by every method on every kind of disk: the same bytes, and for
# disk-directed transfers the promised counts.
. "$(dirname "$0")/lib.sh"

# pairs "name" options...: runs a benchmark that checks every byte, judges its CSV
pairs() {
	local what=$1 csv=$dir/out.csv most=2
	shift
	# A disk without an arm has as many as half of what it moves, or a megabyte, and no more than 128.
	[[ " $* " =~ " --engine "(mem|aio)" " ]] && most=128
	if ! "$ddio" bench --quiet --csv --output "$csv" "$@" 2>"$dir/err"; then
		not_ok "$what: $(cat "$dir/err")"
		return
	fi
	ok "$what: every byte right"
	awk -F, -v what="$what" -v most=$most '
		/^#/ { next }
		!n++ { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["verified"] != 1 { print what ": not verified: " $0; bad = 1 }
		$c["method"] ~ /DD/ && $c["requests"] != $c["iops"] {
			print what ": requests are not one an I/O processor: " $0; bad = 1 }
		$c["method"] ~ /DD/ && $c["disk_read"] + $c["disk_written"] != $c["bytes_needed"] {
			print what ": disk traffic is not what is needed: " $0; bad = 1 }
		$c["method"] ~ /DD/ && $c["buffers"] > most {
			print what ": more than " most " buffers: " $0; bad = 1 }
		$c["method"] == "DDs" && $c["sorted"] != 1 { print what ": not sorted: " $0; bad = 1 }
		END { if (n < 2) { print what ": empty"; bad = 1 } exit bad }' "$csv"
	check "$what: one request an I/O processor, exact traffic, at most $most buffers" [ $? -eq 0 ]
}

fast="--disk-options time_scale=0"
pairs "mem, 4 CPs, 4 IOPs" --engine mem --cps 4 --iops 4 --size 256K
pairs "mem, 4 CPs, 4 IOPs, a megabyte" --engine mem --cps 4 --iops 4 --size 1M --records 8192
pairs "mem, 2 disks and 2 reactors an IOP" --engine mem --cps 4 --iops 2 --disks 2 --reactors 2 \
	--size 256K --layouts contiguous,random-blocks,random-tracks --records 8
pairs "mem, 3 CPs, 5 IOPs" --engine mem --cps 3 --iops 5 --size 245760 --records 8,8192
pairs "mem, 1 CP, 1 IOP" --engine mem --cps 1 --iops 1 --size 256K
pairs "mem, blocks of 512" --engine mem --cps 4 --iops 2 --size 128K --block-size 512 --records 8,1024
pairs "mem, blocks of 64K" --engine mem --cps 4 --iops 2 --size 512K --block-size 64K
pairs "mem, rotated start" --engine mem --cps 4 --iops 4 --size 256K --rotate --methods dd,dds
pairs "mem, Memput and Memget one at a time" --engine mem --cps 4 --iops 2 --size 256K --no-batch \
	--methods dds
pairs "emulated disks, 16 of each, no waiting" $fast --cps 16 --iops 16 --size 1280K --records 8192 \
	--layouts contiguous,random-blocks
pairs "aio on files" --engine aio --disk-size 16M --cps 4 --iops 2 --size 256K --block-size 4K \
	--records 8,4096

# The trace of an emulated disk: with a presorted list the arm goes one way.  The first read is of
# another file.
"$ddio" bench --quiet --methods dds --patterns rb --records 8192 --layouts random-blocks --no-verify --cps 4 --iops 2 --size 1M \
	--disk-options "time_scale=0,trace=$dir/trace"
awk -F, '$3 == "R" && n[$1]++ { if ($4 < last[$1]) bad = 1; last[$1] = $4; reads++ }
	END { exit bad || reads < 100 }' "$dir/trace"
check "DDs reads a disk in ascending order" [ $? -eq 0 ]
fails "a trace that cannot be written" "option trace" "$ddio" bench --quiet --cps 1 --iops 1 --size 64K \
	--disk-options "trace=/nowhere/trace"

# Sizes that fit nothing: tails, odd offsets.
head -c 333333 /dev/urandom >"$dir/odd"
check "start" start_cluster o --iops 3 --engine mem --disk-size 32M
check "import" "$ddio" import --block-size 4K "$dir/odd" odd
"$ddio" bench --quiet --conf "$DDIO_CONF" --file odd --reference "$dir/odd" --offset 1001 --cps 4 \
	--records 8,1000 >"$dir/text" 2>"$dir/err"
rc=$?
check "a file of odd size from an odd offset: $(head -c 300 "$dir/err")" [ $rc -eq 0 ]
check "... comes out as it went in" cmp "$dir/odd" <("$ddio" export odd -)
head -c 5 /dev/urandom >"$dir/tiny"
check "import of 5 bytes" "$ddio" import --block-size 4K "$dir/tiny" tiny
check "a file smaller than a record" "$ddio" bench --quiet --conf "$DDIO_CONF" --file tiny \
	--reference "$dir/tiny" --cps 4 --patterns all

# What is printed can be read by machines.
"$ddio" bench --quiet --json --engine mem --cps 2 --iops 1 --size 64K --patterns rb,wc --output \
	"$dir/j.json"
check "JSON parses" bash -c "python3 -m json.tool '$dir/j.json' >/dev/null 2>&1 || \
	{ ! command -v python3 >/dev/null && grep -q '\"runs\":\\[' '$dir/j.json'; }"
check "text says what ran" bash -c "'$ddio' bench --quiet --engine mem --cps 2 --iops 1 --size 64K \
	--patterns rb --methods dds | grep -q 'seed 1'"
