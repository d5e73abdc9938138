#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# The POSIX cases on a file system of the kernel, which is right by definition, and on the mount's program over a directory
# of that: what is between the kernel and the library, without a cluster.
. "$(dirname "$0")/lib_mount.sh"
# Only the mount needs the sanitizer, not the cases themselves.
posix=$top/build/tests/posix/posix

# cases "what" DIR [arguments]; skips what the directory's own file system lacks
cases() {
	local what=$1 out n
	shift
	out=$(in_time 200 "$posix" --jobs 3 "$@" 2>&1)
	n=$(tail -1 <<<"$out")
	read -r p _ f _ <<<"$n"
	grep -a '^FAILED' <<<"$out" >"$dir/failed"
	cat "$dir/failed"
	echo "$what: $n"
	check "$what: ran" [ "${p:-0}" -gt 800 ]
	passed=$((passed + ${p:-0})) failed=$((failed + ${f:-0}))
}
case $(stat -f -c %T "$dir") in
ext2/ext3 | xfs | btrfs) ;;
*)
	echo "skipped: the reference is ext4, xfs or btrfs; here is $(stat -f -c %T "$dir")"
	exit 77
	;;
esac
mkdir -m 777 "$dir/reference" "$dir/source" "$dir/m"
# Of several locks in the way the kernel reports one of the first owner in its list, not the lowest.
cases "the kernel's" "$dir/reference" --not 'lock/getlk tells the lowest'
check "the kernel does not report the lowest lock" \
	eval '! "$posix" "$dir/reference" --only "lock/getlk tells the lowest" >/dev/null'
"$build/tests/fuse/passfs" -f -o suid,dev "$dir/source" "$dir/m" >"$dir/m.mount.log" 2>&1 &
pid[m]=$!
mounts+=(m)
check "mount over a directory" soon is_mounted "$dir/m"
cases "over a directory" "$dir/m"
check "unmount" unmount m

# A broken invariant is reported by the mount, in its own name; built with a sanitizer it then stops.
ulimit -c 0
"$build/tests/fuse/passfs" -f "$dir/source" "$dir/m" >"$dir/bug.log" 2>&1 &
pid[m]=$!
check "mount once more" soon is_mounted "$dir/m"
fails "a bug stops it" "not connected\|abort" in_time 20 stat "$dir/m/passfs: bug"
check "... is reported in its log" grep -q '^ddiofs: bug at tests/fuse/passfs.c:[0-9]*: asked for' "$dir/bug.log"
wait "${pid[m]}" 2>/dev/null
check "unmount" umount "$dir/m"
