# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A munged of the test's own, in a /run of its own.  Sourced.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
if [ "$(id -u)" != 0 ]; then
	echo "skipped: only root can be several users"
	exit 77
fi
munged=$(PATH=$PATH:/usr/sbin:/sbin command -v munged)
if [ -z "$munged" ]; then
	echo "skipped: there is no munged here"
	exit 77
fi
mount -t tmpfs -o mode=755 run /run && mkdir -m 755 /run/munge || exit 1
(umask 077 && mkdir /run/munged && head -c 1024 /dev/urandom >/run/munged/key)
munge_start() {
	"$munged" --key-file /run/munged/key --log-file /run/munged/log --pid-file /run/munge/pid \
		--seed-file /run/munged/seed
}
munge_stop() {
	[ -e /run/munge/pid ] || return 0
	kill "$(cat /run/munge/pid)" && in_time 20 bash -c 'while [ -e /run/munge/pid ]; do sleep 0.05; done'
}
