# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Shared by the scripts t_*.sh.  Sourced, in the machine; sets -u, changes to the top, makes a directory that is
# removed at the end.  A script that leaves more behind than a daemon has a function clean_up, which is called
# first; to remove something that needs the daemon's end, it calls stop_daemon itself.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
ddio=build/ddio ddiod=build/ddiod
dir=$(mktemp -d) || exit 2
export DDIO_CONF=$dir/ddio.conf
daemon=
n=0 failed=0

ok() { n=$((n + 1)); echo "ok $n $*"; }
not_ok() { n=$((n + 1)); failed=1; echo "not ok $n $*"; return 1; }
check() {
	local what=$1
	shift
	if "$@"; then ok "$what"; else not_ok "$what"; fi
}
skip() { echo "SKIP $*"; exit 77; }

finish() {
	local rc=$?
	trap - EXIT
	! declare -F clean_up >/dev/null || clean_up
	stop_daemon
	rm -rf "$dir"
	[ $failed = 0 ] || rc=1
	exit $rc
}
trap finish EXIT

# need FILE ...: skips if a file, or the module, was not built
need() {
	local f
	for f; do
		[ -x "$f" ] || skip "$f is not there"
	done
	modprobe ddio || skip "ddio was not built"
}

# shows FILE ...: prints files that tell why something failed
shows() { sed 's/^/# /' "$@"; }

# uses MODULE: prints the use count that lsmod shows
uses() { awk -v m="$1" '$1 == m { print $3 }' /proc/modules; }

# conf_node LINE ...: a configuration's beginning, with these lines for the cluster and one node
conf_node() {
	printf '[cluster]\nname = vm\n'
	printf '%s\n' "$@"
	printf '[node io0]\naddress = 127.0.0.1:7400\nmeta = %s/meta\n' "$dir"
}

# conf_disk NUMBER ENGINE PATH [OPTIONS]: and a disk; the engine "-" is not named, no path is "none"
conf_disk() {
	printf '[disk d%d]\nnode = io0\n' "$1"
	[ "$2" = - ] || printf 'engine = %s\n' "$2"
	[ "$3" = none ] && printf 'size = 32M\n' || printf 'path = %s\n' "$3"
	[ -z "${4:-}" ] || printf 'options = %s\n' "$4"
}

# Until it answers.  What it says is added to $dir/log.
start_daemon() {
	# Descriptor 9 is a test's own: perhaps a file of the mount that this daemon serves.
	$ddiod --conf "$DDIO_CONF" --node io0 --foreground 2>>"$dir/log" 9>&- &
	daemon=$!
	for _ in $(seq $((100 * DDIO_PATIENCE))); do
		$ddio ls >/dev/null 2>&1 && return
		kill -0 $daemon 2>/dev/null || break
		sleep 0.2
	done
	shows "$dir/log"
	return 1
}

stop_daemon() {
	[ -n "$daemon" ] || return 0
	kill "$daemon" 2>/dev/null
	wait "$daemon"
	daemon=
}

# bench ARGUMENT ...: of the benchmark, whose rows are then in $dir/out.csv
bench() {
	$ddio bench --quiet --csv --output "$dir/out.csv" --conf "$DDIO_CONF" "$@" 2>"$dir/err" && return
	shows "$dir/err" "$dir/log"
	return 1
}
rows() { grep -vc '^#' "$dir/out.csv"; }
