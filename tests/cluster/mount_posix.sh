#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# The POSIX cases on the mount: with every kind of cache, as root and as an ordinary user, and between two mounts.
. "$(dirname "$0")/lib_mount.sh"
# Only the daemons and the mount need the sanitizer, not the cases themselves.
posix=$top/build/tests/posix/posix

# cases "what" COMMAND...: counts each
cases() {
	local what=$1 out n p f
	shift
	out=$(in_time 200 "$@" --jobs 3 2>&1)
	grep -a '^FAILED' <<<"$out"
	n=$(grep -aoE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' <<<"$out")
	[ -n "$n" ] || {
		not_ok "$what: $(tail -3 <<<"$out")"
		return
	}
	echo "$what: $n"
	read -r p _ f _ <<<"$n"
	[ "$p" -gt 0 ] || not_ok "$what: nothing ran"
	passed=$((passed + p)) failed=$((failed + f))
}
somebody="setpriv --reuid=10001 --regid=10001 --clear-groups"

check "start" start_cluster c --iops 3 --engine mem --disk-size 512M --block-size 64K --cache 64M
# Some cases open devices.
check "mount" mount_at m suid,dev
check "mount once more" mount_at other
mkdir -m 777 "$dir/m/all" "$dir/m/locks" "$dir/m/user"
chown 10001:10001 "$dir/m/user"
cases "by root" "$posix" "$dir/m/all"
cases "between two mounts" "$posix" "$dir/m/locks" --other "$dir/other/locks" --only 'lock/*'
if $somebody test -x "$posix"; then
	cases "by somebody" $somebody "$posix" "$dir/m/user" --not 'random/*'
else
	echo "skipped: $posix is out of others' reach"
	skipped=$((skipped + 1))
fi
check "nothing is left over" test -z "$(find "$dir/m/all" "$dir/m/locks" "$dir/m/user" -mindepth 1 -maxdepth 1 -name "*px-*")"
check "unmount" unmount other
check "unmount" unmount m
# The kernel does the same with every kind of cache, so errors of names are tried with one only.
mount_at m cache=none,suid,dev
cases "cache=none" "$posix" "$dir/m/all" --not 'path/*'
check "unmount" unmount m
mount_at m cache=always,suid,dev
# Reads from the kernel's memory do not update access times, as with noatime.  syncfs(2) reports failed writes of any
# program's pages, such as those of the case that writes where no file can reach.
cases "cache=always" "$posix" "$dir/m/all" --not '@(path/*|times/reading|calls/advice)'
cases "cache=always, by itself" "$posix" "$dir/m/all" --only 'calls/advice'
check "unmount" unmount m
check "fsck" "$ddio" fsck
