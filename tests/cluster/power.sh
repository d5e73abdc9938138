#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Nodes lose their power under load, one, several or all, in any order: each has its disk and its records on a powerfs of
# its own, below which everything that was not synced is gone then, or a part of it.  Whatever a mount or a program of
# the library was told is durable is there afterwards, no fsync has said 0 for what is gone, and fsck finds all consistent.
# A round is made of its seed, which a failure names:
#
#   ROUNDS=1 SEED=17 tests/cluster/power.sh
. "$(dirname "$0")/lib_mount.sh"
rounds=${ROUNDS:-7} first=${SEED:-1}
m=$dir/m powerfs=$build/tests/powerfs/powerfs
runs=0 promises=0 total=0
declare -A power

# shuffle: $order is 0, 1, 2 in any order
shuffle() {
	local orders=("0 1 2" "0 2 1" "1 0 2" "1 2 0" "2 0 1" "2 1 0")
	draw 6
	read -ra order <<<"${orders[drawn]}"
}
# quickly COMMAND...: as soon, but looks more often
quickly() {
	local i
	for ((i = 0; i < 500 * DDIO_PATIENCE; i++)); do
		"$@" && return
		sleep 0.01
	done
	return 1
}
gone() { ! kill -0 "$1" 2>/dev/null; }
has_power() { grep -q " $dir/p$1 fuse.powerfs " /proc/self/mounts; }
# power_on N [SEED]: with SEED the next loss takes a part, else all
power_on() {
	mkdir -p "$dir/disk$1" "$dir/p$1"
	"$powerfs" "$dir/disk$1" "$dir/p$1" ${2:+"$2"} 2>>"$dir/power.log" &
	power[$1]=$!
	quickly has_power "$1"
}
# power_off N: ends what has lost its power
power_off() {
	kill -TERM "${power[$1]}"
	wait "${power[$1]}"
}
# The daemon dies before its disk does, or a moment later.
lose() {
	local p
	p=$(cat "$dir/c/io$1.pid")
	draw 2
	if ((drawn)); then
		kill -9 "$p"
		kill -USR1 "${power[$1]}"
	else
		kill -USR1 "${power[$1]}"
		draw 2
		((drawn)) && sleep 0.02
		kill -9 "$p"
	fi
	quickly gone "$p" || return 1
	power_off "$1" || bad "powerfs of io$1"
	dead[$1]=1
	plan+=" io$1"
}
# lose_some MASK
lose_some() {
	local i
	shuffle
	for i in "${order[@]}"; do
		(($1 >> i & 1)) || continue
		[ -z "${dead[i]}" ] || continue
		lose "$i" || bad "io$i does not die"
		draw 3
		((drawn)) || nap 0 60
	done
}
# start_run N: a new run of the node's machine, which the kernel's boot_id tells.  The daemon has mounts of its own for that,
# and must not hold those of others, who wait for their end.
start_run() {
	echo "run$runs" >"$dir/boot$1"
	# shellcheck disable=SC2016
	unshare --mount sh -ec '
		awk -v own="$2" "\$3 ~ /^fuse/ && \$2 != own { print \$2 }" /proc/self/mounts | xargs -r umount -l
		mount --bind "$1" /proc/sys/kernel/random/boot_id
		shift 2
		exec "$@"
	' sh "$dir/boot$1" "$dir/p$1" "$build/ddiod" --conf "$DDIO_CONF" --node "io$1" --pid-file "$dir/c/io$1.pid" \
		--log-file "$dir/c/io$1.log"
}
revive() {
	local i starting=()
	shuffle
	for i in "${order[@]}"; do
		[ -n "${dead[i]}" ] || continue
		draw 3
		if ((drawn)); then draw 100000; power_on "$i" $((drawn + 1)); else power_on "$i"; fi || return 1
		runs=$((runs + 1))
		start_run "$i" &
		starting+=($!)
		dead[i]=
		draw 3
		((drawn)) || nap 0 60
	done
	for i in ${starting[@]+"${starting[@]}"}; do wait "$i" || return 1; done
	plan+=" revived"
}
bad() {
	echo "seed $seed:$plan"
	not_ok "seed $seed: $*"
	wrong=1
}
# patiently COMMAND...: checks afterwards wait longer than the load does, and also for a machine that stalls
patiently() { DDIO_CONF=$dir/c/patient.conf "$@"; }
kept() {
	local k seen=0
	for k in 0 1; do
		in_time 60 "$helpers/vow" check "$m/v$seed.$k" "$dir/ledger.$k" >"$dir/said" 2>&1 || {
			cat "$dir/said"
			return 1
		}
		seen=$((seen + $(awk '/promises:/ { print $1 }' "$dir/said")))
	done
	promises=$seen
}
# mount_for SEED: mounts as that round needs it; the mount that looks at a round is the next one's
mount_for() {
	local caches=(auto none auto always) i
	cache=${caches[$1 % 4]}
	for i in 1 2 3; do
		mount_at m hard,cache="$cache" && mounted=1 && return
	done
	return 1
}
begin() {
	local k
	[ -n "$mounted" ] || mount_for "$seed" || return 1
	load=()
	for k in 0 1; do
		rm -f "$dir/ledger.$k"
		"$helpers/vow" run "$m/v$seed.$k" "$dir/ledger.$k" $((2 * seed + k)) 2>"$dir/vow.log" &
		load+=($!)
	done
	"$helpers/scribe" write "$seed" "$dir/scribe.ledger" >"$dir/scribe.log" 2>&1 &
	load+=($!)
}
# From 6.16 on the kernel can be told to look all names up again.
forgets() { printf '%s\n' 6.16 "$(uname -r)" | sort -VC; }
end() {
	kill -9 "${load[@]}" 2>/dev/null
	revive || bad "a daemon does not start"
	wait "${load[@]}" 2>/dev/null
	if [ "$cache" != always ] || forgets; then
		soon kept >/dev/null || { kept; bad "seen by the mount that lived on"; }
	fi
	draw 2
	if ((drawn)); then
		plan+=" mount"
		kill -9 "${pid[m]}"
		wait "${pid[m]}" 2>/dev/null
		umount -l "$m"
	else
		unmount m || bad "unmount"
	fi
	mounted=
}
round() {
	# Neighbouring seeds begin with similar numbers.
	RANDOM=$((seed * 7919))
	for drawn in 1 2 3 4 5; do draw 2; done
	plan='' wrong='' dead=("" "" "")
	begin || { bad "no mount"; return; }
	nap 50 300
	draw 7
	lose_some $((drawn + 1))
	draw 2
	if ((drawn)); then
		revive || bad "a daemon does not start"
		nap 30 200
		draw 7
		lose_some $((drawn + 1))
	fi
	end
	patiently "$ddio" fsck >"$dir/said" 2>&1 || { cat "$dir/said"; bad "fsck"; }
	mount_for $((seed + 1)) || { bad "no mount afterwards"; return; }
	kept || bad "something that was synced is gone"
	patiently "$helpers/scribe" cut "$dir/scribe.ledger" >"$dir/said" 2>&1 || { cat "$dir/said"; bad "scribe"; }
	total=$((total + promises))
	[ -n "$wrong" ] || rm -rf "$m"/v* || bad "it cannot be removed"
	[ -n "$wrong" ] || ok "seed $seed:$plan"
}

# What powerfs is, first.
p=$dir/p0
power_on 0
(echo one >"$p/a" && sync "$p/a" "$p" && echo two >>"$p/a" && echo b >"$p/b" && sync "$p/b" && mv "$p/a" "$p/c") ||
	not_ok "powerfs serves"
kill -USR1 "${power[0]}"
dark() { ! cat "$p/c" >/dev/null 2>&1; }
check "without power, nothing is answered" soon dark
power_off 0
power_on 0
check "what was not synced is gone, what was is there" [ "$(ls "$p") $(cat "$p/a")" = "a one" ]

seed=0 plan='' wrong='' mounted='' cache='' dead=(1 1 1)
rm "$p/a"
power_off 0
check "start" start_cluster c --iops 3 --engine aio --files --disk-size 96M --block-size 32K --cache 8M --timeout-ms 1000
stop_cluster c
for n in 0 1 2; do
	sed -i "s,^meta = .*/io$n\$,meta = $dir/p$n/meta," "$dir/c/ddio.conf"
	sed -i "s,^path = .*/d$n.img\$,path = $dir/p$n/disk," "$dir/c/ddio.conf"
done
# One daemon writes back as usual, one all the time.
sed -i '/^\[node io1\]/a write_back = 100ms' "$dir/c/ddio.conf"
sed 's/^timeout.*/timeout = 15s/' "$dir/c/ddio.conf" >"$dir/c/patient.conf"
check "start on powerfs" revive

one_name() {
	local name n=0
	ls -l "$m/d" >/dev/null
	for name in n r; do [ ! -e "$m/d/$name" ] || n=$((n + 1)); done
	[ $n = 1 ]
}
taken_back() {
	mount_at m hard,cache=always && mkdir "$m/d" && echo one >"$m/d/n" && sync "$m/d/n" "$m/d" "$m" || return 1
	mv "$m/d/n" "$m/d/r" && one_name && lose 0 && revive && one_name && unmount m
}
dead=("" "" "")
if forgets; then
	check "a name that a loss has taken back is forgotten" taken_back
fi

for ((r = 0; r < rounds && !failed; r++)); do
	seed=$((first + r))
	round
done
check "the load got through between the losses: $total promises" [ "$total" -gt "$rounds" ]
