# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What tests share that are a service of a machine with systemd (systemd-guest.sh, packages-guest.sh).  Sourced.
n=0 failed=0
for p in /sys/class/virtio-ports/*; do
	[ "$(cat "$p/name")" = ddio.out ] && exec >"/dev/${p##*/}" 2>&1
done
ok() { n=$((n + 1)); echo "ok $n $*"; }
not_ok() { n=$((n + 1)); failed=1; echo "not ok $n $*"; return 1; }
check() {
	local what=$1
	shift
	if "$@"; then ok "$what"; else not_ok "$what: $*"; fi
}
# Finally, process 1 ends the machine.
finish() {
	if [ $failed != 0 ]; then
		systemctl --no-pager --failed
		journalctl --no-pager -b -o cat -u 'ddio*' -u 'mnt-*' | tail -n 60 | sed 's/^/# /'
	fi
	echo "$(cut -d' ' -f1 /proc/uptime) $failed" >/run/ddio-asked
	systemctl --no-block poweroff 2>/dev/null
}
trap finish EXIT

soon() {
	for _ in $(seq $((150 * DDIO_PATIENCE))); do
		"$@" && return
		sleep 0.2
	done
	return 1
}
show() { systemctl show -P "$2" "$1"; }
active() { [ "$(show "$1" ActiveState)" = active ]; }
is_mounted() { grep -q " $1 fuse.ddio " /proc/self/mounts; }
