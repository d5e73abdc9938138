#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 200
# A mount on the machine of the I/O processors reads what they have cached from their memory: hardly a message is sent, and
# what others write, cut off or write after a node has died is seen as it is otherwise.
. "$(dirname "$0")/lib_mount.sh"
pages=256

# asked: how many blocks the caches have been asked for
asked() {
	"$build/ddio" status --metrics | awk '/^ddio_disk_cache_hits_total/ { n += $2 } END { printf "%d\n", n }'
}
# read_pages MOUNT TIMES: reads all pages of its file past the kernel's; $messages: what the caches were asked for
read_pages() {
	local i before
	before=$(asked)
	for ((i = 0; i < $2; i++)); do
		dd if="$dir/$1/f" of="$dir/got" bs=4096 iflag=direct 2>/dev/null || return 1
		cmp "$dir/got" "$dir/data" || return 1
	done
	messages=$(($(asked) - before))
	echo "# $messages of $((pages * $2)) reads were messages"
}
few() { [ "$messages" -lt $((pages * $1 / 20)) ]; }
all() { [ "$messages" -ge $((pages * $1)) ]; }
filled() {
	head -c $((pages * 4096)) /dev/urandom >"$dir/data" && dd if="$dir/data" of="$dir/$1/f" bs=1M oflag=direct 2>/dev/null
}
# page_put MOUNT N: writes page N anew, with what goes to $dir/data as well
page_put() {
	head -c 4096 /dev/urandom >"$dir/page"
	dd if="$dir/page" of="$dir/$1/f" bs=4096 seek="$2" oflag=direct conv=notrunc 2>/dev/null &&
		dd if="$dir/page" of="$dir/data" bs=4096 seek="$2" conv=notrunc 2>/dev/null
}
page_is() {
	cmp <(dd if="$dir/$1/f" bs=4096 skip="$2" count=1 iflag=direct 2>/dev/null) "$dir/page"
}
seen() {
	local i
	for ((i = 0; i < 25; i++)); do
		draw $pages
		page_put "$1" $drawn && page_is "$2" $drawn && page_is "$1" $drawn || return 1
	done
}

check "start" start_cluster c --iops 2 --disk-size 64M --block-size 32K
sed 's/^\[cluster\]/&\nshare = no/' "$DDIO_CONF" >"$dir/alone.conf"
DDIO_CONF=$dir/alone.conf check "mount, share = no" mount_at p
check "a file" filled p
check "read" read_pages p 2
check "each read is a message" all 2
check "unmount" unmount p

check "mount" mount_at a
check "mount" mount_at b
check "a file" filled a
check "read" read_pages a 1
check "read again" read_pages a 4
check "hardly a read is a message" few 4
check "it says so" grep -q "what its node has cached is read from its memory" "$dir/a.mount.log"
check "read by the other mount" read_pages b 4
check "what others write is seen at once" seen b a
check "what it writes itself is seen at once" seen a b
check "all of it" read_pages a 4
check "hardly a read is a message now" few 4

cut() {
	truncate -s 1000 "$dir/$1/f" && truncate -s 1000 "$dir/data" && [ "$(stat -c %s "$dir/$1/f")" = 1000 ] &&
		cmp <(dd if="$dir/$1/f" bs=4096 iflag=direct 2>/dev/null) "$dir/data" &&
		truncate -s $((pages * 4096)) "$dir/$1/f" && truncate -s $((pages * 4096)) "$dir/data" && read_pages "$1" 1
}
check "what is cut off is gone" cut a
check "and is zeros for the other" read_pages b 1

# Readers never stop; a node dies, comes back, and others write.
reader() {
	while [ ! -e "$dir/enough" ]; do dd if="$dir/a/f" of=/dev/null bs=4096 iflag=direct 2>/dev/null; done
}
died() {
	local i
	sync "$dir/b/f"
	for ((i = 0; i < 2; i++)); do
		kill_node c io1 && start_node c io1 && seen b a && sync "$dir/b/f" || return 1
	done
}
check "a file" filled a
reader &
check "nodes die, and what is written to their successors is seen" died
touch "$dir/enough"
wait $!
check "all of it" read_pages a 4
check "hardly a read is a message again" few 4
check "unmount" unmount a
check "unmount" unmount b
