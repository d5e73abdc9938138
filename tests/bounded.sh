# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A command that may hang, and what is left of it when it does.  Sourced.

# seconds between SIGTERM and SIGKILL
bounded_grace=10

# bounded SECONDS COMMAND...: runs the command in a session of its own.  Past the bound, says what the session's
# processes wait for, ends them all, and returns 124.
bounded() {
	local bound=$1 pid timer ended='' rc
	shift
	setsid "$@" &
	pid=$!
	sleep "$bound" &
	timer=$!
	wait -n -p ended "$pid" "$timer"
	rc=$?
	if [ "$ended" = "$pid" ]; then
		# Not SIGTERM: before it has become sleep it is a shell that would do what this one does at its end.
		kill -KILL "$timer"
		wait "$timer" 2>/dev/null
		return $rc
	fi
	echo "still running after $bound s:"
	what_waits "$pid"
	kill -TERM -- "-$pid" 2>/dev/null
	gone_within "$bounded_grace" "$pid" || pkill -KILL -s "$pid"
	wait "$pid" 2>/dev/null
	return 124
}

# what_waits SESSION: its processes, and where in the kernel each one's threads are
what_waits() {
	local p t
	ps -o pid,stat,etimes,args --forest --sid "$1" | cut -c1-160 | head -n 60
	for p in $(ps -o pid= --sid "$1" | head -n 60); do
		for t in /proc/"$p"/task/*; do
			[ -e "$t" ] || continue
			echo "${t#/proc/}: $(cat "$t/comm" "$t/wchan" 2>/dev/null | xargs)"
		done
	done | head -n 60
}

# gone_within SECONDS SESSION: waits for the session's end
gone_within() {
	local n
	for ((n = 0; n < $1 * 10; n++)); do
		pgrep -s "$2" >/dev/null || return 0
		sleep 0.1
	done
	return 1
}
