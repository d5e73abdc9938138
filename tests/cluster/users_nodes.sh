#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# Root of machines, which network namespaces are here: of one that no_root_squash lists it is root of the cluster, of any other
# nobody, who neither mounts it nor administers it, nor reads what others have.
if [ "$(id -u)" = 0 ] && [ -z "${OWN_RUN:-}" ]; then
	# /run of its own, where munged and its clients meet.
	unshare -m true 2>/dev/null || { echo "skipped: no mount namespaces here"; exit 77; }
	OWN_RUN=1 exec unshare -m "$0" "$@"
fi
. "$(dirname "$0")/lib_munge.sh"
t=ddu$$
# Not "ip netns exec", in which a mount would be its own.
net() { nsenter --net="/run/netns/$t-$1" "${@:2}"; }
tidy() {
	local n
	for n in node trusted strange sw; do
		ip netns pids "$t-$n" 2>/dev/null | xargs -r kill -9 2>/dev/null
		ip netns del "$t-$n" 2>/dev/null
	done
	munge_stop
	finish
}
trap tidy EXIT
mkdir -p /run/netns
if ! ip netns add "$t-sw" || ! net sw true; then
	echo "skipped: network namespaces cannot be entered here"
	exit 77
fi
munge_start || exit 1
net sw ip link add br0 type bridge
net sw ip link set br0 up
i=1
for n in node trusted strange; do
	ip netns add "$t-$n"
	ip link add eth0 netns "$t-$n" type veth peer name "p$i" netns "$t-sw"
	net sw ip link set "p$i" master br0 up
	net "$n" ip addr add "10.98.0.$i/24" dev eth0
	net "$n" ip link set eth0 up
	net "$n" ip link set lo up
	i=$((i + 1))
done
mkdir "$dir/n"
chmod 711 "$dir"
(umask 077 && for k in key servers.key; do head -c 32 /dev/urandom | base64 >"$dir/n/$k"; done)
cat >"$dir/n/ddio.conf" <<C
[cluster]
name = users
key_file = $dir/n/key
users = munge
servers_key = $dir/n/servers.key
no_root_squash = 10.98.0.2
[node io0]
address = 10.98.0.1:7400
meta = $dir/n/io0
[disk d0]
node = io0
engine = mem
size = 32M
C
export DDIO_CONF=$dir/n/ddio.conf
check "the node starts" net node "$build/ddiod" --conf "$dir/n/ddio.conf" --node io0 --pid-file "$dir/n/io0.pid" \
	--log-file "$dir/n/io0.log"
seq 10000 >"$dir/in"
check "root of a trusted machine stores a file" net trusted "$ddio" import "$dir/in" f
check "... and a secret" net trusted "$ddio" mkdir --mode 700 private
check "... there" net trusted "$ddio" import "$dir/in" private/f
check "... and reads it" cmp "$dir/in" <(net trusted "$ddio" export private/f -)
check "... and administers" net trusted "$ddio" fsck
check "root of another reads what is open to all" cmp "$dir/in" <(net strange "$ddio" export f -)
fails "... not the secret" "permission denied" net strange "$ddio" export private/f -
for f in none f/f none/f; do
	check "... which is like what is not there: $f" [ "$(net strange "$ddio" stat private/$f 2>&1 | sed "s|$f|f|g")" = \
		"$(net strange "$ddio" stat private/f 2>&1)" ]
done
fails "... writes nothing" "permission denied" net strange "$ddio" import -f "$dir/in" f
fails "... removes nothing" "permission denied" net strange "$ddio" rm f
fails "... does not administer" "only root of a machine" net strange "$ddio" fsck
if [ -e /dev/fuse ]; then
	mkdir "$dir/mnt"
	fails "... does not mount" "permission denied" in_time 20 nsenter --net="/run/netns/$t-strange" "$build/ddiofs" -f "$dir/n/ddio.conf" "$dir/mnt"
	net trusted "$build/ddiofs" -f "$dir/n/ddio.conf" "$dir/mnt" >"$dir/n/mount.log" 2>&1 &
	check "root of the trusted one mounts" soon grep -q " $dir/mnt fuse.ddio " /proc/self/mounts
	check "... and reads all there is" cmp "$dir/in" "$dir/mnt/private/f"
	check "... which is root's" [ "$(stat -c %u "$dir/mnt/f")" = 0 ]
	check "it unmounts" umount "$dir/mnt"
fi
kill "$(cat "$dir/n/io0.pid")"
check "it ends" soon eval '! [ -e "$dir/n/io0.pid" ]'
