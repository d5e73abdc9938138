#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# A cluster that tells users apart, by a munged of the test's own: what Alice has, Mallory, who has the cluster's key,
# neither reads nor writes, lists or removes, by requests or collectives; and what is said where munge is not.
if [ "$(id -u)" = 0 ] && [ -z "${OWN_RUN:-}" ]; then
	# /run of its own, where munged and its clients meet.
	OWN_RUN=1 exec unshare -m "$0" "$@"
fi
. "$(dirname "$0")/lib.sh"
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
trap 'munge_stop; finish' EXIT
munge_start || exit 1
check "munged runs" test -S /run/munge/munge.socket.2

alice=12345 mallory=12346
chmod 711 "$dir"
mkdir -m 755 "$dir/bin"
cp "$ddio" "$helpers/crowd" "$dir/bin"
as() { # USER COMMAND...: ddio, or crowd, as that user, who has the key
	local who=$1
	shift
	setpriv --reuid "$who" --regid "$who" --clear-groups env DDIO_CONF="$dir/$who/conf" "$dir/bin/$1" "${@:2}"
}
# The cluster as it was, but with users.
start_cluster c --iops 2 --engine aio --disk-size 32M --block-size 64K || exit 1
stop_cluster c
(umask 077 && head -c 32 /dev/urandom | base64 >"$dir/servers.key")
sed -i "s|^\[cluster\]|&\nusers = munge\nservers_key = $dir/servers.key\ngrant_time = 2s|" "$DDIO_CONF"
check "a cluster with users starts" "$ddio" start --dir "$dir/c"
key=$(sed -n 's/^key_file = //p' "$DDIO_CONF")
for u in $alice $mallory; do
	mkdir "$dir/$u"
	[ -z "$key" ] || install -m 600 -o $u -g $u "$key" "$dir/$u/key"
	sed "s|^key_file = .*|key_file = $dir/$u/key|" "$DDIO_CONF" >"$dir/$u/conf"
	chown -R $u:$u "$dir/$u"
done
head -c 3000000 /dev/urandom >"$dir/in"
chmod 644 "$dir/in"

check "root makes a directory for all" "$ddio" mkdir --mode 777 scratch
check "Alice has one of her own there" as $alice ddio mkdir scratch/alice
check "... and another that only she sees" as $alice ddio mkdir --mode 700 scratch/private
check "she stores a file" as $alice ddio import "$dir/in" scratch/alice/f
check "... and a secret" as $alice ddio import "$dir/in" scratch/private/f
check "she reads it" cmp "$dir/in" <(as $alice ddio export scratch/private/f -)
check "Mallory reads what is open to all" cmp "$dir/in" <(as $mallory ddio export scratch/alice/f -)
fails "he does not read the secret" "permission denied" as $mallory ddio export scratch/private/f -
fails "... nor list where it is" "permission denied" as $mallory ddio ls scratch/private
fails "... nor learn its size" "permission denied" as $mallory ddio stat scratch/private/f
fails "... nor its blocks" "permission denied" as $mallory ddio layout scratch/private/f
fails "he does not write hers" "permission denied" as $mallory ddio import -f "$dir/in" scratch/alice/f
fails "... nor beside it" "permission denied" as $mallory ddio import "$dir/in" scratch/alice/g
fails "... nor remove it" "permission denied" as $mallory ddio rm scratch/alice/f
fails "... nor make a directory there" "permission denied" as $mallory ddio mkdir scratch/alice/d
fails "he does not check the disks" "only root of a machine" as $mallory ddio fsck
fails "... nor look through them" "only root of a machine" as $mallory ddio scrub
for m in tc 2p dd dds; do
	as $alice crowd -n 4 -m $m -s 1048576 -w -f scratch/alice/$m >"$dir/out" 2>&1
	as $alice crowd -n 4 -m $m -s 1048576 -f scratch/alice/$m >>"$dir/out" 2>&1
	check "4 processes of Alice by $m" [ "$(grep -c ' ok 1' "$dir/out")" = 8 ]
	as $mallory crowd -n 4 -m $m -s 1048576 -f scratch/alice/$m >"$dir/out" 2>&1
	check "4 of Mallory read by $m" [ "$(grep -c ' ok 1' "$dir/out")" = 4 ]
	as $mallory crowd -n 4 -m $m -s 1048576 -w -f scratch/alice/$m >"$dir/out" 2>&1
	check "... and write nothing by $m" bash -c "! grep -q ' ok 1' '$dir/out' && grep -qi 'permission\|may not' '$dir/out'"
done
check "the file is as it was" cmp "$dir/in" <("$ddio" export scratch/alice/f -)
check "root checks the cluster" "$ddio" fsck

check "she removes hers" as $alice ddio rm scratch/alice/f
munge_stop
fails "without munged nobody is known" "munge" as $alice ddio ls scratch
check "... and with it again" bash -c "$(declare -f munge_start); munged=$munged; munge_start"
check "she is" as $alice ddio ls scratch
sed '/^users\|^servers_key/d' "$DDIO_CONF" >"$dir/old.conf"
fails "a client that knows of no users" "users = munge" "$ddio" ls --conf "$dir/old.conf"
sed '/^servers_key/d' "$DDIO_CONF" >"$dir/nokey.conf"
fails "users without the key of the servers" "servers_key" "$ddio" ls --conf "$dir/nokey.conf"
stop_cluster c
