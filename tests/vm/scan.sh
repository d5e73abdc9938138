# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Part of a test machine's init: what a test may leave behind, each finding one
# line "bad: ..." to descriptor 3.

# Messages that the kernel prints when something is wrong.
complaints='WARNING:|BUG[: ]|Oops|general protection|kernel panic|stack segment|double fault'
complaints="$complaints|KASAN|UBSAN|KCSAN|kmemleak: [1-9]|unreferenced object"
complaints="$complaints|possible recursive|possible circular|possible irq lock|inconsistent lock"
complaints="$complaints|INFO: possible|suspicious RCU|lock held|locks? still held|held lock freed"
complaints="$complaints|bad unlock balance|Invalid wait context|sleeping function|scheduling while atomic"
complaints="$complaints|blocked for more than|soft lockup|hard LOCKUP|detected stall|self-detected stall"
complaints="$complaints|refcount_t|list_(add|del) corruption|Bad page|bad page state|Page allocation"
complaints="$complaints|ODEBUG|Object already free|Redzone|Poison overwritten"
complaints="$complaints|slab.*corrupt|Objects remaining|nobody cared|still has locks|unexpected trap"
complaints="$complaints|traps:"
# Where failures are injected, this message is expected.
[ -e /sys/kernel/debug/failslab ] || complaints="$complaints|page allocation failure"

bad() { echo "bad: $*" >&3; }

used_kb() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^MemTotal/ { t = $2 } /^(MemFree|Cached|Buffers)/ { t -= $2 } END { print t }' /proc/meminfo
}

# Each processor first counts on its own.
vmstat() { cat /proc/sys/vm/stat_refresh 2>/dev/null; awk -v n="$1" '$1 == n { print $2 }' /proc/vmstat; }

scan_before() {
	used_before=$(used_kb)
	pins_before=$(($(vmstat nr_foll_pin_acquired) - $(vmstat nr_foll_pin_released)))
}

# A module that a test left loaded must go now; if it cannot, its counts show what holds it.
unload() {
	[ -e "/sys/module/$1" ] || return 0
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		timeout $((20 * DDIO_PATIENCE)) rmmod "$1" 2>/tmp/rmmod.err && return 0
		sleep 0.5
	done
	bad "$1 does not unload: $(cat /tmp/rmmod.err)"
}

# Emulated disks made by configfs hold their module; a test tidies its own.
leftovers() {
	local f
	for f in /dev/ddio /sys/kernel/debug/ddio /sys/kernel/debug/hp97560 /sys/kernel/config/hp97560; do
		[ ! -e "$f" ] || bad "$f is still there after unloading"
	done
	for f in /sys/block/hp*; do
		[ ! -e "$f" ] || bad "${f##*/} is still there after unloading"
	done
}

leaks() {
	local pins used
	pins=$(($(vmstat nr_foll_pin_acquired) - $(vmstat nr_foll_pin_released) - pins_before))
	[ "$pins" -eq 0 ] || bad "$pins pinned pages were not released"
	used=$(($(used_kb) - used_before))
	echo "memory grown by $used kB" >&3
	[ "$used" -lt "${DDIO_LEAK_KB:-98304}" ] || bad "$used kB of memory did not come back"
	[ -e /sys/kernel/debug/kmemleak ] || return
	# The first scan may see memory that is about to be freed; memory that both see is lost.
	echo scan >/sys/kernel/debug/kmemleak
	sleep 6
	echo scan >/sys/kernel/debug/kmemleak
	cat /sys/kernel/debug/kmemleak >/tmp/kmemleak
	if [ -s /tmp/kmemleak ]; then
		cat /tmp/kmemleak
		bad "kmemleak: $(grep -c '^unreferenced' /tmp/kmemleak) objects"
	fi
}

kernel_log() {
	local t
	dmesg | grep -v 'ddio-kselftest:' | grep -E "$complaints" | grep -vE "${DDIO_LOG_OK:-^$}" |
		head -20 >/tmp/complaints
	while read -r t; do
		bad "kernel log: $t"
	done </tmp/complaints
	# die, warning, bad page, soft lockup
	t=$(($(cat /proc/sys/kernel/tainted) & (128 | 512 | 32 | 16384)))
	[ $t -eq 0 ] || bad "the kernel is tainted ($t)"
}

scan_after() {
	cd / || return
	unload ddio
	for d in /sys/kernel/config/hp97560/*/; do
		[ -d "$d" ] && { echo 0 >"$d/power"; rmdir "$d"; } 2>/dev/null
	done
	unload hp97560
	leftovers
	leaks
	kernel_log
}
