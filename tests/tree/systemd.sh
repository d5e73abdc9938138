#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The units as systemd reads them: nothing unknown in them, the programs they name are installed, and how
# much a daemon that is taken over could reach.
set -u
cd "$(dirname "$0")/../.." || exit 2
command -v systemd-analyze >/dev/null || { echo "skipped: no systemd-analyze here"; exit 77; }
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
p=0 f=0
check() {
	local what=$1 out
	shift
	if out=$("$@" 2>&1); then
		p=$((p + 1))
	else
		f=$((f + 1))
		echo "FAILED: $what: $out"
	fi
}
# Installed units name the programs by absolute paths.
make -s install PREFIX="$stage/usr" MOUNT_DIR="$stage/sbin" DESTDIR=/ >"$stage/log" 2>&1 || {
	cat "$stage/log"
	echo "FAILED: make install"
	exit 1
}
units=$stage/usr/lib/systemd/system
export MANPATH=$stage/usr/share/man SYSTEMD_LOG_LEVEL=warning
# verify UNIT: passes if systemd has no complaint
verify() {
	local out
	out=$(systemd-analyze verify --recursive-errors=no "$units/$1" 2>&1 | grep -v "Command 'man ")
	[ -z "$out" ] || { echo "$out"; return 1; }
}
# exposed UNIT LIMIT: tenths of what systemd-analyze counts
exposed() {
	systemd-analyze security --offline=yes --threshold="$2" "$units/$1" | grep Overall
	systemd-analyze security --offline=yes --threshold="$2" "$units/$1" >/dev/null
}
for u in ddiod@io0 ddiofs@mnt-data; do
	check "$u" verify "$u.service"
done
check "what the daemon can reach" exposed ddiod@io0.service 25
check "what the mount can reach" exposed ddiofs@mnt-data.service 65
check "the user" grep -q '^u ddio ' "$stage/usr/lib/sysusers.d/ddio.conf"
mkdir -p "$stage/etc"
check "sysusers" systemd-sysusers --root="$stage" "$stage/usr/lib/sysusers.d/ddio.conf"
check "... makes it" grep -q '^ddio:' "$stage/etc/passwd"
check "every program that a unit starts is installed" bash -c \
	'sed -n "s/^Exec[A-Za-z]*=-\{0,1\}\(\/[^ ]*\).*/\1/p" "$0"/*.service | sort -u | while read -r x; do [ -x "$x" ] || { echo "$x"; exit 1; }; done' "$units"
echo "$p passed, $f failed"
[ $f = 0 ]
