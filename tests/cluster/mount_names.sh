#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Names that other mounts have removed, replaced or made anew, while they are cached, open, and worked in: every call does
# what it does on one local file system.  STEPS: how many calls.
. "$(dirname "$0")/lib_mount.sh"
seed=${SEED:-$RANDOM} steps=${STEPS:-300}
echo "seed $seed"

# names WHAT STEPS KEEPS-MS: in a new directory of each
names() {
	local what=$1 d
	mkdir -p "$dir/local/$what"
	mkdir "$dir/a/$what" || return 1
	for d in b d; do
		soon test -d "$dir/$d/$what" || return 1
	done
	in_time 200 "$helpers/names" --seed "$seed" --steps "$2" --keeps "$3" "$dir/local/$what" \
		"$dir/a/$what" "$dir/b/$what" "$dir/d/$what"
}

check "start" start_cluster c --iops 2 --engine aio --files --disk-size 96M
short=entry_timeout=0.3,attr_timeout=0.3
check "mount" mount_at a $short
check "mount" mount_at b $short
check "mount, nothing is kept" mount_at d cache=none
check "as on one file system" names short "$steps" 300
check "unmount" unmount a
check "unmount" unmount d
check "mount" mount_at a
check "mount" mount_at d
check "as on one file system, names are kept for a second" names second $((steps / 3)) 1000
for m in a b d; do
	check "unmount" unmount $m
done
check "fsck" "$ddio" fsck
