#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Dependencies run downward only: reads the includes of every source and fails
# on one that its layer may not see.
set -u
cd "$(dirname "$0")/../.." || exit 2

# layer: what it may include, besides itself, the system and <ddio/dist.h>
allowed() {
	case $1 in
	base) echo "" ;;
	conf) echo "base" ;;
	map) echo "base public" ;;
	proto) echo "base public" ;;
	env) echo "base shared" ;;
	sim) echo "base env" ;;
	conn) echo "base proto env" ;;
	iop) echo "base conf map proto env conn" ;;
	cp) echo "base conf map proto env conn public" ;;
	esac
}

layer_of() {
	case $1 in
	base/* | conf/* | map/* | proto/* | env/* | sim/* | conn/* | iop/* | cp/*) echo "${1%%/*}" ;;
	hp97560*.h | shim.h) echo shared ;;
	ddio/dist.h) echo dist ;;
	ddio/*) echo public ;;
	*) echo system ;;
	esac
}

# System headers by which cp, iop, conn could reach the world behind env's back.
world='sys/socket.h|sys/epoll.h|poll.h|pthread.h|threads.h|time.h|sys/time.h|netdb.h|netinet/.*|libaio.h|sys/timerfd.h|sys/eventfd.h|sched.h|signal.h'

passed=0 failed=0
bad() {
	echo "layering: $*"
	failed=$((failed + 1))
}

check_file() {
	local file=$1 layer=$2 inc to ok=$failed
	while read -r inc; do
		to=$(layer_of "$inc")
		case $to in system | dist | "$layer") continue ;; esac
		case " $(allowed "$layer") " in
		*" $to "*) ;;
		*) bad "$file ($layer) includes $inc ($to)" ;;
		esac
	done < <(sed -n 's/^[ \t]*#[ \t]*include[ \t]*["<]\([^">]*\)[">].*/\1/p' "$file")
	case $layer in
	cp | iop | conn | map | proto)
		while read -r inc; do
			bad "$file ($layer) includes <$inc>: the outside world is env's"
		done < <(sed -nE "s@^[ \t]*#[ \t]*include[ \t]*<($world)>.*@\1@p" "$file")
		if grep -nE '\b(clock_gettime|gettimeofday|usleep|nanosleep|pthread_create|epoll_wait|recv|socket)\(' "$file"; then
			bad "$file ($layer) calls the outside world directly"
		fi
		;;
	esac
	[ $ok -eq $failed ] && passed=$((passed + 1))
}

for layer in base conf map proto env sim conn iop cp; do
	for f in userlib/$layer/*.[ch]; do
		[ -e "$f" ] && check_file "$f" $layer
	done
done
# Tools see public headers, the configuration and the daemon's entry points only; three files join
# the private parts: the daemon, and the simulated clusters.
for f in tools/*.[ch]; do
	[ -e "$f" ] || continue
	case $f in tools/ddiod/ddiod.c | tools/lab/sim/world.c | tools/lab/faults/world.c) continue ;; esac
	if grep -nE '#[ \t]*include[ \t]*["<](cp|iop|conn|proto|map|sim)/' "$f"; then
		bad "$f: a tool includes a private header"
	else
		passed=$((passed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
