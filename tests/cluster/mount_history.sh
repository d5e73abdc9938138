#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Two hard mounts of one cluster whose daemons are killed and started again all the time: what is durable is not lost,
# nothing is seen in another order, and no two processes hold the same lock.
. "$(dirname "$0")/lib_mount.sh"
seed=${SEED:-$RANDOM}
echo "seed $seed"
RANDOM=$seed
nodes=(io0 io1 io2)

# Kills and restarts daemons until there is a file "enough".
trouble() {
	while [ ! -e "$dir/enough" ]; do
		local n=${nodes[RANDOM % 3]}
		sleep 0.$((RANDOM % 9 + 1))
		kill_node c "$n"
		sleep 0.$((RANDOM % 9))
		start_node c "$n" || touch "$dir/not_started"
		echo "$n" >>"$dir/killed"
	done
}
# histories WHAT SECONDS [OPTIONS]
histories() {
	local what=$1 seconds=$2 rc killer
	shift 2
	rm -f "$dir/enough" "$dir/killed"
	trouble &
	killer=$!
	in_time 100 "$helpers/histories" --seed "$seed" --seconds "$seconds" --durable "$@" "$dir/a" "$dir/b"
	rc=$?
	touch "$dir/enough"
	wait $killer
	check "$what: daemons were killed" [ "$(wc -l <"$dir/killed")" -ge 3 ]
	check "$what: each was started again" [ ! -e "$dir/not_started" ]
	check "$what" [ $rc = 0 ]
}

check "start" start_cluster c --iops 3 --engine aio --files --disk-size 96M --block-size 32K --cache 8M --timeout-ms 2000
check "mount" mount_at a hard
check "mount" mount_at b hard
histories "histories under locks" 15 --locks
check "unmount" unmount a
check "unmount" unmount b
check "mount" mount_at a hard,cache=none
check "mount" mount_at b hard,cache=none
histories "histories without locks" 10
histories "histories under locks, nothing kept" 10 --locks
check "unmount" unmount a
check "unmount" unmount b
check "fsck" "$ddio" fsck
