#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The memory behind a disk: taken by writes, given back, and limited.
. "$(dirname "$0")/../lib/hp97560.sh"

page=$(getconf PAGESIZE 2>/dev/null || echo 4096)

memory_is() { same "$(hp_stat 1 memory)" "$(($1 * page))" "bytes of memory, in pages $1: $2"; }

# fill FIRST-PAGE PAGES: with bytes that are not zero
fill() {
	yes | head -c $(($2 * page)) | dd of="$(hp_dev 1)" bs="$page" seek="$1" count="$2" \
		iflag=fullblock oflag=direct conv=notrunc,nocreat 2>/dev/null || fail "cannot write"
}

# zero FIRST-SECTOR SECTORS: they read as zeroes
zero() {
	dd if="$(hp_dev 1)" bs=512 skip="$1" count="$2" iflag=direct 2>/dev/null |
		cmp -s - <(head -c $(($2 * 512)) /dev/zero) || fail "sectors $1 + $2 are not zero"
}

not_zero() {
	dd if="$(hp_dev 1)" bs=512 skip="$1" count="$2" iflag=direct 2>/dev/null |
		cmp -s - <(yes | head -c $(($2 * 512))) || fail "sectors $1 + $2 have other data"
}

case_only_what_is_written_takes_memory() {
	hp_new 1 time_scale=0
	memory_is 0 "at first"
	dd if="$(hp_dev 1)" of=/dev/null bs=1M count=8 iflag=direct 2>/dev/null
	memory_is 0 "after reading"
	fill 10 5
	memory_is 5 "after writing"
	fill 12 5
	memory_is 7 "after writing half of it again"
	works write 8000 1
	memory_is 8 "after one sector"
	hp_off 1
	memory_is 8 "without power"
}

case_discards_give_it_back() {
	local spp=$((page / 512))
	want blkdiscard
	hp_new 1 time_scale=0
	fill 0 64
	memory_is 64 "filled"
	blkdiscard -o $((8 * page)) -l $((16 * page)) "$(hp_dev 1)" || fail "no discard"
	memory_is 48 "after a discard of whole pages"
	zero $((8 * spp)) $((16 * spp))
	not_zero 0 $((8 * spp))
	not_zero $((24 * spp)) $((40 * spp))
	blkdiscard -o $((32 * page + 512)) -l $((2 * page)) "$(hp_dev 1)" || fail "no discard"
	memory_is 47 "after a discard that begins and ends in pages"
	zero $((32 * spp + 1)) $((2 * spp))
	not_zero $((32 * spp)) 1
	not_zero $((34 * spp + 1)) $((spp - 1))
	blkdiscard -o $((34 * page + 512)) -l $((page - 512)) "$(hp_dev 1)" || fail "no discard"
	memory_is 46 "after the rest of a page"
	same "$(hp_stat 1 discards)" 3 discards
	same "$(hp_stat 1 discard_sectors)" $((19 * spp - 1)) discard_sectors
	blkdiscard "$(hp_dev 1)" || fail "no discard"
	memory_is 0 "after a discard of all"
}

case_writes_of_zeroes_give_it_back() {
	want blkdiscard
	hp_new 1 time_scale=0
	fill 0 64
	blkdiscard -z -o $((4 * page)) -l $((32 * page)) "$(hp_dev 1)" || fail "no write of zeroes"
	memory_is 32 "after zeroes"
	zero $((4 * page / 512)) $((32 * page / 512))
	same "$(hp_stat 1 zero_sectors)" $((32 * page / 512)) zero_sectors
	[ "$(hp_stat 1 write_sectors)" -ge $((32 * page / 512)) ] || fail "zeroes took no time"
}

case_limit() {
	hp_new 1 time_scale=0 memory_limit=$((16 * page / 1024))
	fill 0 16
	fails write $((20 * page / 512)) 1 'No space left'
	memory_is 16 "at the limit"
	fill 3 4
	same "$(hp_stat 1 no_space)" 1 no_space
	works read 160 1
	want blkdiscard
	blkdiscard -l $((2 * page)) "$(hp_dev 1)"
	fill 100 2
	memory_is 16 "after a discard and two others"
	not_zero $((100 * page / 512)) $((2 * page / 512))
}

case_last_sector() {
	hp_new 1 time_scale=0
	works write 2647079 1
	works read 2647079 1
	memory_is 1 "for the last sector"
	dd if="$(hp_dev 1)" of=/dev/null bs=512 skip=2647080 count=1 iflag=direct 2>&1 |
		grep -q '^0+0 records in' || fail "there is a sector after the last"
}

# The block layer's workers, which are those that bring the disk its requests: @1 fails or not.
workers_fail() {
	local comm name
	for comm in /proc/[0-9]*/comm; do
		read -r name 2>/dev/null <"$comm" || continue
		case $name in
		kworker/[0-9]*H*) echo "$1" 2>/dev/null >"${comm%comm}make-it-fail" ;;
		esac
	done
	return 0
}

# Needs a kernel with fault injection: elsewhere a test could only starve the machine.
case_no_memory_is_an_error() {
	local f=/sys/kernel/debug/fail_page_alloc i bad=0
	[ -d $f ] || skip "no fault injection here"
	hp_new 1 time_scale=0
	echo 40 >$f/probability
	echo -1 >$f/times
	echo 0 >$f/min-order
	echo N >$f/ignore-gfp-wait
	echo N >$f/ignore-gfp-highmem
	echo 0 >$f/verbose
	echo Y >$f/task-filter
	for i in $(seq 100); do
		[ $((i % 20)) != 1 ] || workers_fail 1
		dd if=/dev/zero of="$(hp_dev 1)" bs=64k seek="$i" count=1 oflag=direct \
			conv=notrunc 2>>"$hp_tmp/dd.log" || bad=$((bad + 1))
	done
	workers_fail 0
	echo 0 >$f/probability
	[ "$(hp_stat 1 no_memory)" -gt 0 ] || fail "no allocation of the disk's failed"
	grep -q 'Cannot allocate memory' "$hp_tmp/dd.log" || fail "other errors: $(cat "$hp_tmp/dd.log")"
	fill 100 100
	not_zero $((100 * page / 512)) $((100 * page / 512))
}

hp_run
