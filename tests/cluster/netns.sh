#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# Across network namespaces: two storage nodes and a compute node, joined by
# veth pairs and a bridge; then one node's link goes down in mid-transfer.
t=ddt$$ net=10.99.0
. "$(dirname "$0")/lib_net.sh"

mkdir "$dir/n"
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$dir/n/key"
chmod 600 "$dir/n/key"
{
	printf '[cluster]\nname = net\nkey_file = %s/n/key\nblock = 8K\ntimeout = 4s\n' "$dir"
	for n in 0 1; do
		printf '[node io%s]\naddress = 10.99.0.%s:7400\nmeta = %s/n/io%s\n' $n $((n + 2)) "$dir" $n
		printf '[disk d%s]\nnode = io%s\nengine = mem\nsize = 32M\n' $n $n
	done
} >"$dir/n/ddio.conf"
export DDIO_CONF=$dir/n/ddio.conf
for n in 0 1; do
	net io$n "$build/ddiod" --conf "$DDIO_CONF" --node io$n --pid-file "$dir/n/io$n.pid" \
		--log-file "$dir/n/io$n.log"
	check "io$n starts" [ $? -eq 0 ]
done
head -c 1000000 /dev/urandom >"$dir/in"
check "import over the network" net cp "$ddio" import "$dir/in" f
check "the same bytes" cmp "$dir/in" <(net cp "$ddio" export f -)
for m in tc 2p dd dds; do
	net cp "$helpers/crowd" -n 4 -m $m -s 1048576 -w -f x >"$dir/out" 2>&1
	net cp "$helpers/crowd" -n 4 -m $m -s 1048576 -f x >>"$dir/out" 2>&1
	check "4 processes by $m" [ "$(grep -c ' ok 1' "$dir/out")" = 8 ]
	grep -v " ok " "$dir/out" | head -4
done
# A slow network must deliver the same bytes.
if net sw tc qdisc add dev p1 root tbf rate 100mbit burst 64kb latency 50ms 2>/dev/null; then
	net cp "$helpers/crowd" -n 4 -s 4194304 -f x -w >"$dir/out" 2>&1
	net cp "$helpers/crowd" -n 4 -s 4194304 -f x >>"$dir/out" 2>&1
	check "at 100 Mbit/s" [ "$(grep -c ' ok 1' "$dir/out")" = 8 ]
	net sw tc qdisc del dev p1 root
else
	skipped=$((skipped + 1))
	echo "skipped: no tbf queueing discipline here"
fi
# A node falls silent, without a reset or an end of stream.
net cp "$helpers/crowd" -n 4 -c 3000 -s 1048576 -f x >"$dir/out" 2>&1 &
sleep 1
net sw ip link set p3 down
start=$SECONDS
wait $!
check "a silent node is noticed by all" [ "$(grep -c ' err -' "$dir/out")" = 4 ]
check "... with one error" [ "$(grep -o ' err -[0-9]*' "$dir/out" | sort -u | wc -l)" = 1 ]
check "... that names it" grep -q io1 "$dir/out"
check "... in bounded time" [ $((SECONDS - start)) -lt $((30 * DDIO_PATIENCE)) ]
net sw ip link set p3 up
sleep 1
net cp "$helpers/crowd" -n 4 -s 1048576 -f x >"$dir/out" 2>&1
check "the link is up again: so is the cluster" [ "$(grep -c ' ok 1' "$dir/out")" = 4 ]
# Makes every connection to this address a connection of a socket with itself.
net cp sh -c 'echo 40000 40000 >/proc/sys/net/ipv4/ip_local_port_range'
sed '0,/^address = .*/s//address = 127.0.0.1:40000/' "$dir/n/ddio.conf" >"$dir/n/self.conf"
net cp env DDIO_CONF="$dir/n/self.conf" "$ddio" ls >"$dir/out" 2>&1
check "a socket connected with itself is no server" grep -q 'Connection refused' "$dir/out"
