# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Sourced, with $t, a prefix for names, and $net, the first three bytes of addresses: a compute node and two storage nodes,
# network namespaces $t-cp, $t-io0 and $t-io1 with the addresses $net.1 to $net.3, joined by veth pairs and a bridge, $t-sw.
probe=ddio-probe-$$
ip netns add $probe 2>/dev/null && ip netns exec $probe true 2>/dev/null
usable=$?
ip netns del $probe 2>/dev/null
if [ $usable -ne 0 ]; then
	echo "skipped: network namespaces cannot be entered here (they need root, a kernel that has" \
		"them, and a root directory that is a mount point)"
	exit 77
fi
. "$(dirname "$0")/lib.sh"
net() { ip netns exec "$t-$1" "${@:2}"; }
tidy() {
	local n
	for n in cp io0 io1; do
		ip netns pids "$t-$n" 2>/dev/null | xargs -r kill -9 2>/dev/null
		ip netns del "$t-$n" 2>/dev/null
	done
	ip netns del "$t-sw" 2>/dev/null
	finish
}
trap tidy EXIT

ip netns add "$t-sw"
net sw ip link add br0 type bridge
net sw ip link set br0 up
i=1
for n in cp io0 io1; do
	ip netns add "$t-$n"
	ip link add eth0 netns "$t-$n" type veth peer name "p$i" netns "$t-sw"
	net sw ip link set "p$i" master br0 up
	net "$n" ip addr add "$net.$i/24" dev eth0
	net "$n" ip link set eth0 up
	net "$n" ip link set lo up
	i=$((i + 1))
done
