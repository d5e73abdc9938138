#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What io_uring's zero-copy send brings (root):
#
#   tests/perf/zerocopy.sh [ROUNDS [GB]]
#
# ROUNDS (5) in turns, GB (1) each by sendmsg() and by SEND_ZC with registered buffers, from one network namespace to another over
# a pair of veth interfaces with an MTU of 9000, and over loopback.  Prints medians: MB/s, processor seconds a GB of the sender and
# of the receiver, and how much the kernel copied nevertheless.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-$PWD/build} rounds=${1:-5} gb=${2:-1}
case $rounds$gb in *[!0-9]*) sed -n '4,11s/^# \?//p' "$0"; exit 2 ;; esac
if [ -z "${DDIO_OWN_NETWORK:-}" ]; then
	DDIO_OWN_NETWORK=1 exec unshare --net tests/own_network.sh tests/perf/zerocopy.sh "$@"
fi
bench=$build/tests/perf/bench_zerocopy
unshare --net tests/own_network.sh sleep 600 &
far=$!
trap 'kill $far' EXIT
until [ "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
ip link add name near0 mtu 9000 type veth peer name far0 mtu 9000 &&
	ip link set far0 netns $far && ip addr add 10.64.1.1/24 dev near0 && ip link set near0 up &&
	nsenter -t $far -n sh -c 'ip addr add 10.64.1.2/24 dev far0 && ip link set far0 up' || exit 1

# once WHERE HOW: a line "where how MB/s sender's receiver's copied"
once() {
	local addr=10.64.1.2 there=(nsenter -t "$far" -n) got sent
	[ "$1" = veth ] || { addr=127.0.0.1; there=(); }
	got=$(mktemp)
	timeout 60 ${there[@]+"${there[@]}"} "$bench" receive "$addr" 19900 >"$got" &
	for _ in $(seq 50); do
		sleep 0.1
		sent=$(timeout 60 "$bench" "$2" "$addr" 19900 "$gb" 2>/dev/null) && break
	done
	wait $!
	echo "$1 $2 $(awk '/MB/ { print $2, $5 }' <<<"$sent") $(awk '{ print $5 }' "$got") $(awk '/copied/ { print $2 }' <<<"$sent")"
	rm "$got"
}
for ((r = 0; r < rounds; r++)); do
	for where in veth loopback; do
		once $where plain
		once $where zerocopy
	done
done | awk '
	{ k = $1 " " $2; if (!(k in n)) order[++m] = k; n[k]++; for (i = 3; i <= NF; i++) v[k, i, n[k]] = $i }
	function median(k, i, j, l, t, w) {
		for (j = 1; j <= n[k]; j++) w[j] = v[k, i, j] + 0
		for (j = 2; j <= n[k]; j++) for (l = j; l > 1 && w[l - 1] > w[l]; l--) { t = w[l]; w[l] = w[l - 1]; w[l - 1] = t }
		return w[int((n[k] + 1) / 2)]
	}
	END {
		printf "%-20s %8s %14s %14s %8s\n", "", "MB/s", "sender s/GB", "receiver s/GB", "copied %"
		for (i = 1; i <= m; i++) {
			k = order[i]
			printf "%-20s %8.0f %14.3f %14.3f %8s\n", k, median(k, 3), median(k, 4), median(k, 5), k ~ /zero/ ? median(k, 6) : "-"
		}
	}'
