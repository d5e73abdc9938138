#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 200
# Eight processes on one machine reach two nodes on others through one of them: the connections that the nodes see, the same bytes, and
# what happens when that process is killed or stopped, or the keys differ.
t=ddb$$ net=10.98.0
. "$(dirname "$0")/lib_net.sh"

mkdir "$dir/n"
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$dir/n/key"
chmod 600 "$dir/n/key"
# conf SECURITY: two nodes with two disks each, and so two reactors
conf() {
	printf '[cluster]\nname = net\nkey_file = %s/n/key\nblock = 8K\ntimeout = %us\nsecurity = %s\n' "$dir" $((2 * DDIO_PATIENCE)) "$1"
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
crowd() { net cp "$helpers/crowd" -n 8 -f x -s 262144 "$@" >"$dir/out" 2>&1; }
# all TEXT [FILE]: each of the eight has said it
all() { [ "$(grep -c "$1" "${2:-$dir/out}")" = 8 ]; }
# ended: none but one has failed
ended() { [ "$(grep -c ' err -' "$dir/out")" = 7 ]; }
# blamed: they name the same rank, which is the one that has said nothing
blamed() {
	local n rank
	read -r n rank < <(sed -n 's/.* err -.*rank \([0-9]*\) of .*/\1/p' "$dir/out" | sort | uniq -c)
	[ "$n" = 7 ] && ! grep -q "^rank $rank " "$dir/out"
}
# connections: how many those of the client's machine have to the nodes
connections() { net cp ss -Htn state established dst 10.98.0.0/24 | grep -c ':7400'; }
# the first process that listens as a broker, if there is one
broker() { net cp ss -Hxlp | grep 'ddio-broker' | grep -o 'pid=[0-9]*' | head -1 | cut -d= -f2; }
# carried: how many connections the nodes have inside others
carried() {
	net cp "$ddio" status --bounds | awk '$2 == "carried/connection" { n += $4 } END { print n + 0 }'
}
there() { [ -n "$(broker)" ] && [ "$(carried)" -ge 28 ]; }
# begin [OPTIONS]: calls one right after the other, until "end"
begin() {
	rm -f "$dir/enough"
	crowd -w -c 1000000 -e "$dir/enough" "$@" &
}
end() {
	touch "$dir/enough"
	wait $!
}

export DDIO_VERBOSE=1
for way in never auto; do
	DDIO_BROKER=$way begin
	soon eval '[ "$(connections)" -ge 32 ]'
	check "$way: each process has a connection to each reactor" [ "$(connections)" -eq 32 ]
	check "... and there is no broker" [ -z "$(broker)" ]
	end
	check "... and all is well" all ' ok [1-9]'
done

export DDIO_BROKER=always
for m in tc 2p dd dds; do
	crowd -m $m -w
	check "8 processes write by $m" all ' ok 1'
	check "... each of which says that a broker carried it" all ' [1-9][0-9]* through a broker$'
	DDIO_BROKER=never crowd -m $m
	check "... and others read the same bytes" all ' ok 1'
	check "... each of which says that none did" all ' by TCP, .* 0 through a broker$'
	crowd -m $m
	check "... and read them by $m" all ' ok 1'
done
begin
soon there
# One more is rank 0's own, by which it has found out, before there was a group, at which address the others reach it.
check "with a broker there are 4 connections, one to each reactor" [ "$(connections)" -le 5 ]
check "... and the nodes count what they carry" [ "$(carried)" -ge 28 ]
end
check "... and all is well" all ' ok [1-9]'

# One process is another user's: it and the others do not share a broker, whoever is first.
begin -u -v 3
soon eval '[ -n "$(broker)" ] && [ "$(connections)" -ge 8 ]'
check "a process of another user connects by itself" [ "$(connections)" -ge 8 ]
end
check "... and all is well" all ' ok [1-9]'

# The broker is killed: it is a member, too.
crowd -w -c 1000000 &
soon there
kill -9 "$(broker)"
start=$SECONDS
wait $!
check "a killed broker is noticed by all the others" ended
check "... in bounded time" [ $((SECONDS - start)) -lt $((20 * DDIO_PATIENCE)) ]
check "... and all name it, by its rank" blamed

# The broker is stopped: it answers nothing, and its kernel does not say that it is gone.
crowd -w -c 1000000 &
soon there
b=$(broker)
kill -STOP "$b"
start=$SECONDS
soon ended
check "a stopped broker is noticed by all the others" ended
check "... in bounded time" [ $((SECONDS - start)) -lt $((20 * DDIO_PATIENCE)) ]
kill -9 "$b"
wait $!
crowd -w
check "the next group is served by a new one" all ' ok 1'

# A member that is stopped holds up its group until that notices, and not the others that the broker serves, nor the nodes.
crowd -w -c 1000000 &
soon there
# Of those of this test alone, the last that was made; the first is their parent, which only waits.
b=$(broker)
m=$(for p in $(ip netns pids "$t-cp" | sort -n); do
	[ "$p" = "$b" ] || ! grep -q crowd "/proc/$p/comm" 2>/dev/null || echo "$p"
done | tail -1)
check "there is a member that is not the broker" [ -n "$m" ]
kill -STOP "$m"
soon ended
check "a stopped member is noticed by all the others" ended
kill -9 "$m"
wait $!

stop_nodes
rm -rf "$dir"/n/io[01]
conf tls >"$DDIO_CONF"
start_nodes
# The key is changed while a broker of the old one serves, and others of the new one begin.
hup() {
	local n before
	for n in io0 io1; do
		before=$(grep -c 'the key is' "$dir/n/$n.log")
		kill -HUP "$(cat "$dir/n/$n.pid")"
		soon eval "[ \"\$(grep -c 'the key is' '$dir/n/$n.log')\" -gt $before ]"
	done
}
begin
soon there
check "by TLS, inside TLS, there are 4 connections as well" [ "$(connections)" -le 5 ]
mv "$dir/out" "$dir/old.out"
for step in new use drop; do
	"$ddio" key $step >/dev/null
	check "ddio key $step" [ $? -eq 0 ]
	hup
	net cp "$helpers/crowd" -n 8 -f "$step" -s 262144 -w >"$dir/step.out" 2>&1
	check "... and a broker that begins then serves" all ' ok 1' "$dir/step.out"
done
end
check "those of the old key have worked on" all ' ok [1-9]' "$dir/old.out"
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$dir/n/wrong"
chmod 600 "$dir/n/wrong"
sed "s,/n/key,/n/wrong," "$DDIO_CONF" >"$dir/n/wrong.conf"
DDIO_CONF=$dir/n/wrong.conf crowd
check "with another key nobody gets in" [ "$(grep -c ' ok ' "$dir/out")" = 0 ]
grep -m2 ' err -' "$dir/out"
