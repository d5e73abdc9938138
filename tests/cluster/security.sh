#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# Keys, addresses that a daemon may listen on, and invalid configurations.
. "$(dirname "$0")/lib.sh"

check "start with a key" start_cluster a --iops 1 --engine mem --disk-size 8M
echo hello >"$dir/in"
check "the right key" "$ddio" import "$dir/in" f

mkdir "$dir/wrong"
sed "s|key_file = .*|key_file = $dir/wrong/key|" "$dir/a/ddio.conf" >"$dir/wrong/client.conf"
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$dir/wrong/key"
chmod 600 "$dir/wrong/key"
fails "a wrong key" "key" "$ddio" ls --conf "$dir/wrong/client.conf"
check "one log line for the refusal" [ "$(grep -ci 'refus' "$dir/a/io0.log")" = 1 ]
sed "/key_file/d" "$dir/a/ddio.conf" >"$dir/wrong/none.conf"
fails "no key" "key" "$ddio" ls --conf "$dir/wrong/none.conf"
chmod 644 "$dir/wrong/key"
fails "a key file that others may read" "$dir/wrong/key" "$ddio" ls --conf "$dir/wrong/client.conf"
: >"$dir/wrong/key"
chmod 600 "$dir/wrong/key"
fails "an empty key file" "$dir/wrong/key" "$ddio" ls --conf "$dir/wrong/client.conf"
sed "s|name = local|name = elsewhere|" "$dir/a/ddio.conf" >"$dir/wrong/cluster.conf"
fails "another cluster's name" "cluster" "$ddio" ls --conf "$dir/wrong/cluster.conf"
check "the cluster serves on" cmp "$dir/in" <("$ddio" export f -)

# Sends bytes that are not the protocol.
port=$(sed -n 's/^address = .*://p' "$dir/a/ddio.conf")
for junk in 'GET / HTTP/1.0\r\n\r\n' '\0\0\0\0\0\0\0\0' '\x44\x44\x49\x4f\x01\x00\x01\x00\xff\xff\xff\xff'; do
	printf "$junk" >"/dev/tcp/127.0.0.1/$port"
done
check "junk on the port harms nothing" cmp "$dir/in" <("$ddio" export f -)
stop_cluster a

conf() { # conf NAME: a daemon must refuse the configuration on standard input
	cat >"$dir/wrong/$1.conf"
}
refuses() { # what, text, name
	fails "$1" "$2" in_time 20 "$build/ddiod" --foreground --conf "$dir/wrong/$3.conf" --node io0
}
node="[node io0]
address = 127.0.0.1:0
meta = $dir/wrong/meta"
conf open <<<"[cluster]
name = t
[node io0]
address = 0.0.0.0:0
meta = $dir/wrong/meta
[disk d0]
node = io0
engine = mem
size = 1M"
refuses "a non-loopback address without a key" "key" open
truncate -s 1M "$dir/wrong/d.img"
ln -s d.img "$dir/wrong/alias.img"
conf twice <<<"[cluster]
name = t
$node
[disk d0]
node = io0
engine = aio
path = $dir/wrong/d.img
[disk d1]
node = io0
engine = aio
path = $dir/wrong/alias.img"
refuses "one disk under two names" "twice.conf:12.*d1\|same" twice
conf typo <<<"[cluster]
name = t
# a comment
$node
bufers = 2
[disk d0]
node = io0
engine = mem
size = 1M"
refuses "a misspelt option, by line" "typo.conf:7" typo
conf nodisk <<<"[cluster]
name = t
$node"
refuses "a node without disks" "disk" nodisk
conf nonode <<<"[cluster]
name = t
$node
[disk d0]
node = io7
engine = mem
size = 1M"
refuses "a disk of a node that is not there" "nonode.conf:7.*io7\|io7" nonode
conf engine <<<"[cluster]
name = t
$node
[disk d0]
node = io0
engine = tape
size = 1M"
refuses "no such engine" "tape" engine
fails "no such node" "io9" "$build/ddiod" --foreground --conf "$dir/wrong/engine.conf" --node io9
fails "no such configuration" "nowhere.conf" "$build/ddiod" --conf "$dir/nowhere.conf" --node io0
