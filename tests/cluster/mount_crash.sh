#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
# Daemons and mounts killed at random moments under load: afterwards the cluster is consistent, and every byte and
# name that was fsync'ed is there.  A round is made of its seed, which a failure names:
#
#   ROUNDS=1 SEED=17 tests/cluster/mount_crash.sh
. "$(dirname "$0")/lib_mount.sh"
rounds=${ROUNDS:-100} first=${SEED:-1}
nodes=(io0 io1 io2)
m=$dir/m

# kill_some MASK: kills the daemons of these bits and waits until they are gone
kill_some() {
	local i p list=()
	for i in 0 1 2; do
		if (($1 >> i & 1)) && [ -z "${dead[i]}" ]; then
			list+=("$(cat "$dir/c/${nodes[i]}.pid")")
			dead[i]=1
			plan+=" ${nodes[i]}"
		fi
	done
	[ ${#list[@]} = 0 ] && return
	kill -9 "${list[@]}"
	for p in "${list[@]}"; do soon_gone "$p"; done
}
# halt_some MASK: stops these daemons for longer than any client waits for them
halt_some() {
	local i list=()
	for i in 0 1 2; do
		if (($1 >> i & 1)); then
			list+=("$(cat "$dir/c/${nodes[i]}.pid")")
			plan+=" halt ${nodes[i]}"
		fi
	done
	[ ${#list[@]} = 0 ] && return
	kill -STOP "${list[@]}"
	nap 900 900
	kill -CONT "${list[@]}"
}
# kill_mount: kills the mount, waits for its connections to close, and unmounts
kill_mount() {
	plan+=" mount"
	kill -9 "${pid[m]}"
	wait "${pid[m]}" 2>/dev/null
	umount -l "$m"
	mounted=
}
revive() {
	local i starting=()
	for i in 0 1 2; do
		[ -n "${dead[i]}" ] || continue
		start_node c "${nodes[i]}" &
		starting+=($!)
		dead[i]=
	done
	plan+=" revived"
	for i in ${starting[@]+"${starting[@]}"}; do wait "$i" || return 1; done
}
# Succeeds if the bytes written have grown since there were $1.
goes_on() {
	[ "$(cat "$dir"/load.log.* | wc -c)" -gt "$1" ]
}
# Both processes have a log: without, nothing could be looked for afterwards.
load_begun() {
	[ -e "$dir/load.log.0" ] && [ -e "$dir/load.log.1" ]
}
# Whoever is dead and not waited for counts as dead.
load_dead() {
	! ps -o stat= --sid "$load" | grep -qv '^Z'
}
# patiently COMMAND...: checks afterwards wait longer than the load does, and also for a machine that stalls
patiently() {
	DDIO_CONF=$dir/c/patient.conf "$@"
}
# A mount may only fail because it took too long.
stalled() {
	tail -n 1 "$dir/m.mount.log" | grep -qE 'took too long|does not answer'
}
bad() {
	echo "seed $seed:$plan"
	not_ok "seed $seed: $*"
	wrong=1
}
consistent() {
	patiently "$ddio" fsck >"$dir/said" 2>&1 && return
	cat "$dir/said"
	return 1
}
all_there() {
	in_time 60 "$helpers/fsload" check "$m/load" "$dir/load.log" >"$dir/said" 2>&1 && return
	cat "$dir/said"
	return 1
}

begin() {
	local opts=soft loses= caches=(auto auto none always)
	draw 2
	hard=$drawn
	((hard)) && opts=hard loses=loses
	draw 4
	opts+=,cache=${caches[drawn]}
	plan+=" $opts"
	mount_at m $opts || { stalled && mount_at m $opts; } || return 1
	mounted=1
	setsid "$helpers/fsload" run "$m/load" "$dir/load.log" "$seed" 2 10000000 $loses >"$dir/load.said" 2>&1 &
	load=$!
	soon load_begun || bad "the load does not begin"
}
# Halts some daemons, or none; kills some; requests that wait for them go on when they are back; then kills some
# once more.
trouble() {
	local mask size
	nap 50 500
	draw 6
	if ((!drawn)); then
		draw 8
		size=$(cat "$dir"/load.log.* | wc -c)
		halt_some "$drawn"
		((hard)) && { soon goes_on "$size" || bad "a hard mount does not go on with who was halted"; }
	fi
	draw 8
	mask=$drawn
	kill_some "$mask"
	draw 3
	if ((!mask || !drawn)); then
		kill_mount
		return
	fi
	draw 2
	((hard && drawn)) || return
	nap 0 200
	size=$(cat "$dir"/load.log.* | wc -c)
	revive || bad "a daemon does not start"
	soon goes_on "$size" || bad "a hard mount does not go on"
	nap 0 150
	draw 8
	kill_some "$drawn"
}
end() {
	local rc
	kill -9 -- -$load 2>/dev/null
	draw 2
	[ -n "$mounted" ] && ((drawn)) && kill_mount
	revive || bad "a daemon does not start"
	# It and its children die once their pending requests are answered.
	soon load_dead || { bad "the load does not die"; return; }
	wait $load 2>/dev/null
	rc=$?
	# 1: it read wrong data.  On a hard mount nothing else ends it, either.
	if [ $rc = 1 ] || { ((hard)) && [ -n "$mounted" ] && [ $rc != 137 ]; }; then
		cat "$dir/load.said"
		bad "the load ended by itself: $rc"
	fi
	[ -z "$mounted" ] && return
	soon all_there >/dev/null || bad "seen by the mount that lived on"
	unmount m || bad "unmount"
}
# Empties the directory for the next round.
emptied() {
	rm -rf "$m/load" "$dir"/load.log.* && mkdir "$m/load"
}
round() {
	# Neighbouring seeds begin with similar numbers.
	RANDOM=$((seed * 7919))
	for drawn in 1 2 3 4 5; do draw 2; done
	plan='' wrong='' mounted='' dead=("" "" "")
	begin || { bad "no mount"; return; }
	trouble
	end
	[ -z "$wrong" ] || return
	consistent || bad "fsck"
	patiently mount_at m || { bad "no mount afterwards"; return; }
	all_there || bad "something that was synced is gone"
	[ -n "$wrong" ] || emptied || bad "it cannot be removed"
	unmount m || bad "unmount afterwards"
	[ -n "$wrong" ] || ok "seed $seed:$plan"
}

check "start" start_cluster c --iops 3 --engine aio --files --disk-size 96M --block-size 32K --cache 8M --timeout-ms 1000
# One daemon writes back as usual, one all the time, beginning with its next start.
sed -i '/^\[node io1\]/a write_back = 100ms' "$dir/c/ddio.conf"
sed 's/^timeout.*/timeout = 15s/' "$dir/c/ddio.conf" >"$dir/c/patient.conf"
check "a directory to work in" eval 'patiently mount_at m && emptied && unmount m'
for ((r = 0; r < rounds && !failed; r++)); do
	seed=$((first + r))
	round
done
# Once the name space has dropped the killed mounts, nothing that they removed is left over.
nothing_left() {
	patiently "$ddio" fsck --repair >"$dir/said" && patiently "$ddio" fsck >"$dir/said" &&
		grep -q '^0 files, 0 objects, 0 extents, 0 blocks' "$dir/said" &&
		grep -q ' 0 orphans: consistent' "$dir/said"
}
# Prints what is left if there is something for long.
cleared() {
	soon nothing_left && return
	cat "$dir/said"
	patiently "$ddio" fsck --repair
	return 1
}
[ "$failed" != 0 ] || check "nothing is left over" cleared
