#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An ordinary disk: partitions, ext4, and fio, which verifies what it wrote.
. "$(dirname "$0")/../lib/hp97560.sh"

verify() {
	fio --name=verify --filename="$1" --size="$2" --rw=randwrite --bsrange=512-64k \
		--bs_unaligned=0 --blockalign="$3" --ioengine=libaio --iodepth=16 --direct=1 \
		--verify=crc32c --verify_fatal=1 --do_verify=1 --randseed=7 --end_fsync=1 \
		--output="$hp_tmp/fio" --output-format=terse "${@:4}" >"$hp_tmp/fio.err" 2>&1 || {
		cat "$hp_tmp/fio" "$hp_tmp/fio.err"
		fail "fio on $1"
	}
}

# partition NAME START SIZE ...: a table of up to four, in sectors
partition() {
	local dev
	dev=$(hp_dev "$1")
	shift
	{
		head -c 446 /dev/zero
		while [ $# -gt 1 ]; do
			printf '\0\0\0\0\203\0\0\0'
			for v in "$1" "$2"; do
				printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $((v & 255)) $((v >> 8 & 255)) \
					$((v >> 16 & 255)) $((v >> 24 & 255)))"
			done
			shift 2
		done
		head -c 64 /dev/zero
	} | head -c 510 >"$hp_tmp/table"
	printf '\125\252' >>"$hp_tmp/table"
	dd if="$hp_tmp/table" of="$dev" bs=512 count=1 conv=notrunc,nocreat,fsync 2>/dev/null &&
		blockdev --rereadpt "$dev"
}

case_fio_verifies_the_disk() {
	want fio
	hp_new 1 time_scale=0
	verify "$(hp_dev 1)" 24m 512
}

case_fio_verifies_with_blocks_of_4096() {
	want fio
	hp_new 1 time_scale=0 block_size=4096 size=400000
	verify "$(hp_dev 1)" 24m 4096 --bsrange=4k-256k
}

case_fio_verifies_two_disks_on_a_bus() {
	want fio
	hp_new 1 time_scale=1000 bus=shared
	hp_new 2 time_scale=1000 bus=shared
	verify "$(hp_dev 1):$(hp_dev 2)" 8m 512
}

case_partitions() {
	want blockdev
	hp_new 1 time_scale=0
	partition 1 2048 200000 204800 400000 || fail "no partition table"
	sleep 0.2
	same "$(cat /sys/block/hp97560_1/hp97560_1p1/start)" 2048 "start of the first"
	same "$(cat /sys/block/hp97560_1/hp97560_1p2/size)" 400000 "size of the second"
	hp_off 1
	[ ! -e /sys/block/hp97560_1 ] || fail "there without power"
	hp_on 1
	same "$(cat /sys/block/hp97560_1/hp97560_1p2/size)" 400000 "size after a power cycle"
	hp_set 1 bad_sectors 204803
	dd if=/dev/hp97560_1p2 of=/dev/null bs=512 skip=3 count=1 iflag=direct 2>/dev/null &&
		fail "bad sectors do not count from the disk's begin"
	dd if=/dev/hp97560_1p1 of=/dev/null bs=512 skip=3 count=1 iflag=direct 2>/dev/null ||
		fail "the first partition cannot be read"
}

case_ext4() {
	local i
	want blockdev mkfs.ext4 e2fsck sha256sum
	hp_new 1 time_scale=1000
	partition 1 2048 600000 || fail "no partition table"
	mkfs.ext4 -q /dev/hp97560_1p1 || fail "no file system"
	mkdir -p "$hp_tmp/mnt"
	mount /dev/hp97560_1p1 "$hp_tmp/mnt" || skip "no ext4 here"
	for i in $(seq 40); do
		head -c $((i * 7000)) /dev/urandom >"$hp_tmp/mnt/$i"
	done
	(cd "$hp_tmp/mnt" && sha256sum [0-9]*) >"$hp_tmp/sums"
	command -v fio >/dev/null && verify "$hp_tmp/mnt/fio" 8m 512 --bsrange=4k-64k
	umount "$hp_tmp/mnt" || fail "cannot be unmounted"
	hp_off 1
	hp_on 1
	e2fsck -fn /dev/hp97560_1p1 >"$hp_tmp/fsck" 2>&1 || fail "$(cat "$hp_tmp/fsck")"
	mount /dev/hp97560_1p1 "$hp_tmp/mnt" || fail "cannot be mounted again"
	(cd "$hp_tmp/mnt" && sha256sum --quiet -c "$hp_tmp/sums") || fail "other data"
	umount "$hp_tmp/mnt"
}

case_fstrim_gives_memory_back() {
	local before after
	want mkfs.ext4 fstrim
	hp_new 1 time_scale=0 size=200000
	mkfs.ext4 -q "$(hp_dev 1)" || fail "no file system"
	mkdir -p "$hp_tmp/mnt"
	mount "$(hp_dev 1)" "$hp_tmp/mnt" || skip "no ext4 here"
	head -c 30000000 /dev/urandom >"$hp_tmp/mnt/file"
	sync
	before=$(hp_stat 1 memory)
	rm "$hp_tmp/mnt/file"
	sync
	fstrim "$hp_tmp/mnt" || fail "no fstrim"
	after=$(hp_stat 1 memory)
	umount "$hp_tmp/mnt"
	[ $((before - after)) -gt 29000000 ] || fail "$before bytes, then $after"
}

hp_run
