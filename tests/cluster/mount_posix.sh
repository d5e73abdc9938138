#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 900
# The POSIX cases on the mount: with every kind of cache, by root and by somebody, and between two mounts.
. "$(dirname "$0")/lib_mount.sh"
posix=$build/tests/posix/posix

# cases "what" DIR [arguments]: counts each
cases() {
	local what=$1 out n
	shift
	out=$(timeout 600 "$posix" "$@" 2>&1)
	grep -a '^FAILED' <<<"$out"
	n=$(grep -aoE '^[0-9]+ passed, [0-9]+ failed' <<<"$out")
	[ -n "$n" ] || {
		not_ok "$what: $(tail -3 <<<"$out")"
		return
	}
	echo "$what: $n"
	read -r p _ f _ <<<"$n"
	passed=$((passed + p)) failed=$((failed + f))
}

check "start" start_cluster c --iops 3 --engine mem --disk-size 512M --block-size 64K --cache 64M
check "mount" mount_at m
check "mount once more" mount_at other
mkdir -m 777 "$dir/m/all" "$dir/m/locks" "$dir/m/user"
chown 10001:10001 "$dir/m/user"
cases "by root" "$dir/m/all"
cases "between two mounts" "$dir/m/locks" --other "$dir/other/locks" --only 'lock/*'
if setpriv --reuid=10001 --regid=10001 --clear-groups test -x "$posix"; then
	out=$(setpriv --reuid=10001 --regid=10001 --clear-groups timeout 300 "$posix" "$dir/m/user" 2>&1)
	check "by somebody: $(tail -1 <<<"$out")" grep -qE '^[1-9][0-9]+ passed, 0 failed' <<<"$out"
	grep -a '^FAILED' <<<"$out"
fi
check "nothing is left over" test -z "$(ls -A "$dir/m/all" "$dir/m/locks" | grep px-)"
check "unmount" unmount other
check "unmount" unmount m
for cache in none always; do
	check "mount with cache=$cache" mount_at m cache=$cache
	for g in 'data/*' 'space/*' 'programs/*' 'times/*' 'open/*' 'mode/*'; do
		cases "cache=$cache, $g" "$dir/m/all" --only "$g"
	done
	check "unmount" unmount m
done
check "fsck" "$ddio" fsck
