#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 200
# Nodes that stand still for less than the timeout, soft and hard: every process can be killed and looked at, and runs programs;
# what a close or the kernel could not hand over goes on, and is told.
. "$(dirname "$0")/lib_mount.sh"
check "start" start_cluster c --iops 2 --engine mem --disk-size 256M --block-size 32K --timeout-ms 60000
nodes=("$(cat "$dir/c/io0.pid")" "$(cat "$dir/c/io1.pid")")
wake() { kill -CONT "${nodes[@]}" 2>/dev/null; }
trap 'wake; finish' EXIT
check "another mount" mount_at other cache=none
declare -A cases=([soft]="killed,closes" [hard]="killed,runs,closes,pages,overwrites")
for kind in soft hard; do
	check "mount, $kind" mount_at $kind $kind
	check "$kind" python3 tests/helpers/away.py "$dir/$kind" "$dir/other" "$DDIO_PATIENCE" "${cases[$kind]}" "${nodes[@]}"
	check "unmount" unmount $kind
	# shellcheck disable=SC2115
	check "remove" rm -r "$dir/other/"*
done
check "unmount the other" unmount other
check "fsck" "$ddio" fsck
