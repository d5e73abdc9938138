#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 200
# ddio trace: what it records of a collective is what that counted; a program's, the next one's, one of the simulator.
. "$(dirname "$0")/lib.sh"
python=/usr/bin/python3

check "start" start_cluster c --iops 2 --disks 2 --engine mem --disk-size 64M --reactors 2
bench() { "$ddio" bench --conf "$DDIO_CONF" --cps 4 --size 1M --patterns "$1" --records 1024 --methods dd "${@:2}" --quiet >"$dir/bench"; }
# seen FILE.json: checks it, and prints a line for each reactor's part
seen() { $python tests/helpers/trace.py "$1"; }
for p in rb wb; do
	check "$p: a program's first collective" "$ddio" trace -k 1 -o "$dir/$p.json" -p "$dir/$p.svg" -- \
		"$ddio" bench --conf "$DDIO_CONF" --cps 4 --size 1M --patterns $p --records 1024 --methods dd --quiet
	check "$p: events are what the collective counted" eval 'seen "$dir/$p.json" >"$dir/$p.seen"'
	check "$p: two nodes, two reactors each" [ "$(wc -l <"$dir/$p.seen")" = 4 ]
	check "$p: the picture is XML" $python -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$dir/$p.svg"
	check "$p: with a rectangle for each state" [ "$(grep -c '<rect' "$dir/$p.svg")" -gt 100 ]
done
# The first collective of the bench stores the file; all of its 1 MB, in blocks of 8 KB.
check "the whole file was written" [ "$(awk '{ n += $4 } END { print n }' "$dir/wb.seen")" = 1048576 ]
check "no message or disk request is missing" [ "$(awk '{ n += $2 } END { print n }' "$dir/wb.seen")" = 128 ]
check "a later one reads" eval '"$ddio" trace -k 4 -o "$dir/k.json" -- "$ddio" bench --conf "$DDIO_CONF" --cps 4 --size 1M \
	--patterns rb --records 1024 --methods dd --quiet >/dev/null && seen "$dir/k.json" | grep -q " read "'
check "several" "$ddio" trace -n 2 -o "$dir/n.json" -- "$ddio" bench --conf "$DDIO_CONF" --cps 4 --size 1M --patterns rb \
	--records 1024 --methods dd --quiet
check "... one after the other" [ "$(seen "$dir/n.json" | awk '{ printf "%s ", $3 }')" = "write read write read write read write read " ]
check "bench does it, too" bench rb --trace "$dir/bench.json"
check "... of what it measures" eval 'seen "$dir/bench.json" | grep -q " read "'

# ways FILE.json: the ways of its messages
ways() { grep -o '"way":"[^"]*"' "$1" | sort -u | tr '\n' ' '; }
check "messages went through memory" grep -q '"way":"memory"' "$dir/bench.json"
sed '/^\[cluster\]/a channels = no' "$DDIO_CONF" >"$dir/tcp.conf"
DDIO_CONF=$dir/tcp.conf bench rb --trace "$dir/tcp.json"
check "channels = no: by TCP" [ "$(ways "$dir/tcp.json")" = '"way":"TCP" ' ]

# The next one, of a job, on a file; nobody else's.
"$ddio" trace --job mine --wait 60 -o "$dir/next.json" &
next=$!
for _ in 1 2 3 4 5 6; do
	sleep 0.5
	DDIO_JOB=another bench wb
	DDIO_JOB=mine bench wb
	kill -0 $next 2>/dev/null || break
done
check "the next one of a job" wait $next
check "... is its" eval 'seen "$dir/next.json" >"$dir/next.seen" && ! grep -v " mine " "$dir/next.seen"'
fails "nothing comes" "no collective has ended within 1 s" "$ddio" trace --file nobody --wait 1 -o "$dir/none.json"
fails "a program without a collective" "no collective was recorded" "$ddio" trace -o "$dir/none.json" -- true
check "... leaves nothing" test ! -e "$dir/none.json"
"$ddio" trace -o "$dir/none.json" -- sh -c 'exit 7' 2>/dev/null
check "the program's status" [ $? = 7 ]
"$ddio" trace --wait 30 -o "$dir/none.json" 2>/dev/null &
sleep 1
fails "one at a time" "being traced already" "$ddio" trace --wait 1 -o "$dir/second.json"
kill $!
wait $!
check "one that was killed is no hindrance" bench wb --trace "$dir/after.json"
fails "a file that cannot be written" "cannot write" "$ddio" trace -o "$dir/no/such.json" -- \
	"$ddio" bench --conf "$DDIO_CONF" --cps 2 --size 64K --patterns wb --records 1024 --methods dd --quiet
if command -v gnuplot >/dev/null; then
	check "a PNG" "$ddio" trace -o "$dir/t.png" -- "$ddio" bench --conf "$DDIO_CONF" --cps 2 --size 256K --patterns wb \
		--records 1024 --methods dd --quiet
	check "... is one" eval '[ "$(head -c 8 "$dir/t.png" | od -An -tx1 | tr -d " ")" = 89504e470d0a1a0a ]'
else
	skipped=$((skipped + 1))
	echo "skipped: a PNG: no gnuplot here"
fi

# In virtual time, on the papers' disks: the arm has a place, and the times are the simulation's.
check "simulated" "$ddio" sim --patterns rb --records 8192 --methods dds --iops 2 --cps 4 --size 1M --quiet --trace "$dir/sim.json"
check "... events are what was counted" eval 'seen "$dir/sim.json" >"$dir/sim.seen"'
check "... all blocks" [ "$(awk '{ n += $2 } END { print n }' "$dir/sim.seen")" = 128 ]
"$ddio" sim --patterns rb --records 8192 --methods dds --iops 2 --cps 4 --size 1M --quiet --trace "$dir/again.json" >/dev/null
check "... the same again" cmp "$dir/sim.json" "$dir/again.json"
check "stop" stop_cluster c
