#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
# Every disk engine side by side: streams and requests of each against an image in
# memory; then a file whose stripe goes over one disk of each, and over a partition and a loop
# device, read and written by every method, every byte compared; then the same bytes from
# daemons whose disks are all of one engine.  And which engine a disk gets when none is named.
. "$(dirname "$0")/t_lib.sh"
streams=build/tests/vm/test_env_disk_stream
need $ddio $ddiod $streams

clean_up() {
	stop_daemon
	[ -z "${loop:-}" ] || losetup -d "$loop"
	rmmod null_blk hp97560 2>/dev/null
}

# configure "ENGINE PATH [OPTIONS]" ...: a disk for each
configure() {
	local i=0 d
	rm -rf "$dir/meta"
	: >"$dir/log"
	{
		conf_node 'block = 8K'
		for d; do
			# shellcheck disable=SC2086
			conf_disk $i $d
			i=$((i + 1))
		done
	} >"$DDIO_CONF"
	# Removes the labels of an earlier configuration.
	for d in /dev/nullb0 /dev/nullb1 /dev/hp97560_0 "$loop" "${loop}p1"; do
		dd if=/dev/zero of="$d" bs=1M count=1 conv=fsync status=none
	done
}

# Earlier tests may have left the module loaded, without disks.
rmmod null_blk hp97560 2>/dev/null
modprobe null_blk nr_devices=2 gb=1 memory_backed=1 bs=512 &&
	modprobe hp97560 nr_devices=1 time_scale=0 && modprobe loop max_part=4 ||
	{ not_ok "disks"; exit 1; }
for d in /dev/nullb0 /dev/nullb1 /dev/hp97560_0; do
	[ -b $d ] || { not_ok "$d is no block device"; exit 1; }
done
truncate -s 64M "$dir/image"
printf 'label: dos\n,32M\n' | sfdisk -q "$dir/image" >/dev/null 2>&1
loop=$(losetup -P -f --show "$dir/image") || { not_ok "loop device"; exit 1; }
[ -b "${loop}p1" ] || { not_ok "partition of $loop"; exit 1; }

# 1. Streams and requests.
DDIO_TEST_DISKS="mem: hp97560: kmod:/dev/nullb0 aio:/dev/nullb1 kmod:/dev/hp97560_0" \
	$streams >"$dir/streams" 2>&1
rc=$?
check "streams of every engine: $(tail -n 1 "$dir/streams")" [ $rc = 0 ]
[ $failed = 0 ] || shows "$dir/streams"

# 2. A file over all of them.
configure "mem none" "aio /dev/nullb1" "hp97560 none time_scale=0" "kmod /dev/nullb0" \
	"kmod /dev/hp97560_0" "kmod ${loop}p1"
check "a daemon with every engine" start_daemon || exit
bench --cps 3 --patterns ra,rb,rc,rcc,rbb,wb,wc,wcc,wcn --records 8 --size 96K
rc=$?
check "every method over all of them: $(rows) rows" [ $rc = 0 ]
head -c 1234567 /dev/urandom >"$dir/one"
check "import" $ddio import --conf "$dir/ddio.conf" "$dir/one" one
check "export" cmp "$dir/one" <($ddio export --conf "$dir/ddio.conf" one -)
$ddio status --conf "$dir/ddio.conf" >"$dir/status"
for e in mem aio hp97560 kmod; do
	check "status shows $e" grep -qw "$e" "$dir/status"
done
check "the module moved blocks" \
	grep -q '^blocks [1-9]' /sys/kernel/debug/ddio/*/stats
stop_daemon

# 3. Each alone.
for d in "mem none" "aio /dev/nullb0" "hp97560 none time_scale=0" "kmod /dev/nullb0" \
	"kmod /dev/nullb0 stream=no" "kmod /dev/hp97560_0" "kmod $loop"; do
	configure "$d"
	check "$d: daemon" start_daemon || continue
	$ddio import --conf "$dir/ddio.conf" "$dir/one" one
	check "$d: the same bytes" cmp "$dir/one" <($ddio export --conf "$dir/ddio.conf" one -)
	stop_daemon
done

# 4. The choice.
configure "- /dev/nullb0" "- $dir/file"
truncate -s 32M "$dir/file"
check "no engine is named: daemon" start_daemon
check "a block device gets kmod, and the log says why" \
	grep -q 'disk d0: engine kmod: a block device, and /dev/ddio can be used' "$dir/log"
stop_daemon
mv /dev/ddio /dev/ddio-away
: >"$dir/log"
check "without the device: daemon" start_daemon
check "it gets aio, and the log says why" \
	grep -q 'disk d0: engine aio: /dev/ddio: No such file' "$dir/log"
stop_daemon
mv /dev/ddio-away /dev/ddio
