#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
# 16 processes on one machine reach two nodes on others through one of them: the connections that the nodes see, the same bytes, and
# what happens when that process is killed or stopped, or the keys differ.
t=ddb$$ net=10.98.0
. "$(dirname "$0")/lib_net.sh"

mkdir "$dir/n"
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$dir/n/key"
chmod 600 "$dir/n/key"
# conf SECURITY: two nodes with two disks each, and so two reactors
conf() {
	printf '[cluster]\nname = net\nkey_file = %s/n/key\nblock = 8K\ntimeout = 4s\nsecurity = %s\n' "$dir" "$1"
	for n in 0 1; do
		printf '[node io%s]\naddress = 10.98.0.%s:7400\nmeta = %s/n/io%s\n' $n $((n + 2)) "$dir" $n
		for d in 0 1; do
			printf '[disk d%s%s]\nnode = io%s\nengine = mem\nsize = 64M\n' $n $d $n
		done
	done
}
start_nodes() {
	for n in 0 1; do
		net io$n "$build/ddiod" --conf "$DDIO_CONF" --node io$n --pid-file "$dir/n/io$n.pid" --log-file "$dir/n/io$n.log"
		check "io$n starts" [ $? -eq 0 ]
	done
}
stop_nodes() {
	for n in 0 1; do
		kill "$(cat "$dir/n/io$n.pid")"
		while kill -0 "$(cat "$dir/n/io$n.pid" 2>/dev/null)" 2>/dev/null; do sleep 0.1; done
	done
}
export DDIO_CONF=$dir/n/ddio.conf
conf none >"$DDIO_CONF"
start_nodes
crowd() { net cp "$helpers/crowd" -n 16 -f x "$@" >"$dir/out" 2>&1; }
# connections: how many those of the client's machine have to the nodes
connections() { net cp ss -Htn state established dst 10.98.0.0/24 | grep -c ':7400'; }
# the first process that listens as a broker, if there is one
broker() { net cp ss -Hxlp | grep 'ddio-broker' | grep -o 'pid=[0-9]*' | head -1 | cut -d= -f2; }
there() { [ -n "$(broker)" ]; }

DDIO_BROKER=never crowd -s 4194304 -w -c 200 &
soon eval '[ "$(connections)" -ge 64 ]'
check "each process has a connection to each reactor" [ "$(connections)" -eq 64 ]
check "... and there is no broker" [ -z "$(broker)" ]
wait $!
check "... and all is well" [ "$(grep -c ' ok 200' "$dir/out")" = 16 ]

export DDIO_BROKER=always
for m in tc 2p dd dds; do
	crowd -m $m -s 1048576 -w
	check "16 processes write by $m" [ "$(grep -c ' ok 1' "$dir/out")" = 16 ]
	DDIO_BROKER=never crowd -m $m -s 1048576
	check "... and others read the same bytes" [ "$(grep -c ' ok 1' "$dir/out")" = 16 ]
	crowd -m $m -s 1048576
	check "... and read them by $m" [ "$(grep -c ' ok 1' "$dir/out")" = 16 ]
done
crowd -s 4194304 -w -c 200 &
soon there
sleep 0.5
# One more is rank 0's own, by which it has found out, before there was a group, at which address the others reach it.
check "with a broker there are 4 connections, one to each reactor" [ "$(connections)" -le 5 ]
net cp "$ddio" status --bounds >"$dir/bounds" 2>&1
check "... and the nodes count what they carry" \
	[ "$(awk '$2 == "carried/connection" { n += $4 } END { print n + 0 }' "$dir/bounds")" -ge 63 ]
wait $!
check "... and all is well" [ "$(grep -c ' ok 200' "$dir/out")" = 16 ]

# The broker is killed: it is a member, too.
crowd -s 4194304 -w -c 100000 &
soon there
sleep 0.5
kill -9 "$(broker)"
start=$SECONDS
wait $!
check "a killed broker is noticed by all the others" [ "$(grep -c ' err -' "$dir/out")" = 15 ]
check "... in bounded time" [ $((SECONDS - start)) -lt $((20 * DDIO_PATIENCE)) ]
crowd -s 1048576 -w
check "the next group is served by a new one" [ "$(grep -c ' ok 1' "$dir/out")" = 16 ]

# The broker is stopped: it answers nothing, and its kernel does not say that it is gone.
crowd -s 4194304 -w -c 100000 &
soon there
sleep 0.5
b=$(broker)
kill -STOP "$b"
start=$SECONDS
soon eval '[ "$(grep -c " err -" "$dir/out")" = 15 ]'
check "a stopped broker is noticed by all the others" [ "$(grep -c ' err -' "$dir/out")" = 15 ]
check "... in bounded time" [ $((SECONDS - start)) -lt $((20 * DDIO_PATIENCE)) ]
kill -9 "$b"
wait $!
crowd -s 1048576 -w
check "the next group is served by a new one" [ "$(grep -c ' ok 1' "$dir/out")" = 16 ]

# A member that is stopped holds up its group until that notices, and not the others that the broker serves, nor the nodes.
crowd -s 4194304 -w -c 100000 &
soon there
sleep 0.5
# Of those of this test alone, the last that was made; the first is their parent, which only waits.
b=$(broker)
m=$(for p in $(ip netns pids "$t-cp" | sort -n); do
	[ "$p" = "$b" ] || ! grep -q crowd "/proc/$p/comm" 2>/dev/null || echo "$p"
done | tail -1)
check "there is a member that is not the broker" [ -n "$m" ]
kill -STOP "$m"
soon eval '[ "$(grep -c " err -" "$dir/out")" = 15 ]'
check "a stopped member is noticed by all the others" [ "$(grep -c ' err -' "$dir/out")" = 15 ]
kill -9 "$m"
wait $!

stop_nodes
rm -rf "$dir"/n/io[01]
conf tls >"$DDIO_CONF"
start_nodes
crowd -s 1048576 -w
check "by TLS, inside TLS" [ "$(grep -c ' ok 1' "$dir/out")" = 16 ]
crowd -s 4194304 -w -c 100 &
soon there
sleep 0.5
check "... there are 4 connections as well" [ "$(connections)" -le 5 ]
wait $!
check "... and all is well" [ "$(grep -c ' ok 100' "$dir/out")" = 16 ]
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$dir/n/wrong"
chmod 600 "$dir/n/wrong"
sed "s,/n/key,/n/wrong," "$DDIO_CONF" >"$dir/n/wrong.conf"
DDIO_CONF=$dir/n/wrong.conf crowd -s 1048576
check "with another key nobody gets in" [ "$(grep -c ' ok ' "$dir/out")" = 0 ]
grep -m2 ' err -' "$dir/out"
