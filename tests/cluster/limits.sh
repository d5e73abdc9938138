#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# Those without the key keep nobody out, and do not fill the log.
. "$(dirname "$0")/lib.sh"

ulimit -n 300
check "start with few descriptors" start_cluster a --iops 1 --engine mem --disk-size 8M
echo hello >"$dir/in"
check "import" "$ddio" import "$dir/in" f
port=$(sed -n 's/^address = .*://p' "$dir/a/ddio.conf")
bound() { # name, column: of the node
	"$ddio" status --bounds | awk -v b="$1" -v c="$2" '$2 == b { print $c }'
}
check "a share of the descriptors" [ "$(bound unproved 3)" = 75 ]
check "a part of it for an address" [ "$(bound unproved/address 3)" = 57 ]

# 200 at a time, since each of the two has no more descriptors than the daemon.
for i in 1 2; do
	mkfifo "$dir/hold$i"
	"$helpers/knock" "$port" 200 <"$dir/hold$i" >"$dir/knocked$i" &
	eval "exec $((6 + i))>\"$dir/hold$i\""
done
for _ in $(seq 100); do
	[ -s "$dir/knocked1" ] && [ -s "$dir/knocked2" ] && break
	sleep 0.1
done
check "400 knock and say nothing" [ "$(cat "$dir/knocked1" "$dir/knocked2" | wc -l)" = 2 ]
check "who has the key gets in" cmp "$dir/in" <("$ddio" export f -)
check "no more wait than may" [ "$(bound unproved/address 5)" -le 58 ]
check "the others had to go, and are counted" [ "$(bound unproved/address 6)" -ge 300 ]
exec 7>&- 8>&-

before=$(wc -l <"$dir/a/io0.log")
"$helpers/knock" "$port" 3000 junk </dev/null >/dev/null
check "and gets in after 3,000 lines of junk" cmp "$dir/in" <("$ddio" export f -)
after=$(wc -l <"$dir/a/io0.log")
left=$(bound lines/second 6)
check "the log did not fill" [ $((after - before)) -lt 1000 ]
check "what was left out is counted" [ $((after - before + left)) -ge 3000 ]
stop_cluster a
