# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests of mounts share.  Sourced.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
mounts=()

if [ ! -e /dev/fuse ] || [ "$(id -u)" != 0 ]; then
	echo "skipped: mounts need /dev/fuse, and root"
	trap - EXIT
	rm -rf "$dir"
	exit 77
fi
chmod 711 "$dir"

is_mounted() {
	grep -q " $1 fuse.ddio " /proc/self/mounts
}
# mount_at NAME [OPTIONS]: mounts $DDIO_CONF on $dir/NAME; the process is ${pid[NAME]}
declare -A pid
mount_at() {
	mkdir -p "$dir/$1"
	"$build/ddiofs" -f -o "${2:-defaults}" "$DDIO_CONF" "$dir/$1" >>"$dir/$1.mount.log" 2>&1 &
	pid[$1]=$!
	mounts+=("$1")
	soon is_mounted "$dir/$1" || {
		cat "$dir/$1.mount.log"
		return 1
	}
}
# Unmounts, also if something else looks at it at that moment; the mount's process must exit with 0.
unmount() {
	soon in_time 30 umount "$dir/$1" || return 1
	wait "${pid[$1]}"
}
# Called by lib.sh at the end: nothing stays mounted, whatever went wrong.
mounts_end() {
	local m
	for m in $(awk -v d="$dir/" 'index($2, d) == 1 { print $2 }' /proc/self/mounts); do
		umount "$m" 2>/dev/null || umount -l "$m"
	done
	for m in ${mounts[@]+"${mounts[@]}"}; do
		soon_gone "${pid[$m]}" || kill -9 "${pid[$m]}" 2>/dev/null
	done
}
soon_gone() {
	soon eval "! kill -0 $1 2>/dev/null"
}
# draw N: $drawn is one of 0 ... N - 1; to be called here, not in a subshell, which would draw the same again
draw() {
	drawn=$((RANDOM * 32768 + RANDOM))
	drawn=$((drawn % $1))
}
# nap LEAST SPREAD: sleeps for LEAST ms, or up to SPREAD more, and notes that in $plan
nap() {
	draw "$2"
	local ms=$(($1 + drawn))
	plan+=" ${ms}ms"
	sleep "$(printf %d.%03d $((ms / 1000)) $((ms % 1000)))"
}
# start_node CLUSTER NODE: starts a node that was killed
start_node() {
	"$build/ddiod" --conf "$dir/$1/ddio.conf" --node "$2" --pid-file "$dir/$1/$2.pid" \
		--log-file "$dir/$1/$2.log"
}
kill_node() {
	kill -9 "$(cat "$dir/$1/$2.pid")"
	soon_gone "$(cat "$dir/$1/$2.pid")"
}
