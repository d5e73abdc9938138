#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Buffers shared by the I/O processors and the processes of one machine: every pattern moves the same bytes with them as by
# TCP, what was moved which way is said, and whoever dies or stops in the middle holds up nobody.  A member that tampers with
# what it was sent sees and changes nothing of another group's.  What a hostile member can say is test_coll_share's.
. "$(dirname "$0")/lib.sh"
crowd=$helpers/crowd
bound=$((15000 * DDIO_PATIENCE)) # ms: timeouts below are 3 s
all=ra,rn,rb,rc,rnn,rnb,rnc,rbn,rbb,rbc,rcn,rcb,rcc,wn,wb,wc,wnn,wnb,wnc,wbn,wbb,wbc,wcn,wcb,wcc

check "start" start_cluster c --iops 2 --engine mem --block-size 8K --timeout-ms 3000

# Small collectives go with the members' agreement, and their messages through memory.
few() {
	in_time 60 "$crowd" -n 4 -f "few$$" -s 65536 "$@" >"$dir/out" 2>&1
}
# channels COLUMN: of the nodes' bound; by a configuration that says that this process and its nodes use none themselves
sed '/^\[cluster\]/a channels = no' "$dir/c/ddio.conf" >"$dir/tcp.conf"
channels() {
	"$ddio" status --conf "$dir/tcp.conf" --bounds | awk -v c="$1" '$2 == "channels/reactor" { n += $c } END { print +n }'
}
DDIO_CONF=$dir/tcp.conf few -w
DDIO_CONF=$dir/tcp.conf few -c 20
check "channels = no: small collectives work" [ "$(grep -c ' ok 20' "$dir/out")" = 4 ]
check "channels = no: by TCP" [ "$(channels 5)" = 0 ]
few -c 20
check "the same, through memory" [ "$(grep -c ' ok 20' "$dir/out")" = 4 ]
check "status says so" [ "$(channels 5)" -ge 1 ]
check "and that it is given back" soon eval '[ "$(channels 4)" = 0 ]'

# bench OPTIONS...: rows "pattern record bytes shared verified" of disk-directed runs
bench() {
	"$build/ddio" bench -q -n 4 -s 2M -m dd,dds -p "$all" --csv "$@" 2>"$dir/said" | awk -F, '
		$2 == "pattern" { for (i = 1; i <= NF; i++) c[$i] = i }
		c["shared"] && $2 != "pattern" { print $2, $3, $c["bytes"], $c["shared"], $c["verified"] }'
}
# One process has all in rn, wn, rnn and wnn; elsewhere each has a fourth, and with ra all of it.
right() {
	awk -v on="$1" '{ want = $1 == "ra" || $1 ~ /^[rw]nn?$/ ? $3 : $3 / 4
		if (!$5 || $4 != on * want) { print "# " $0; bad = 1 } }
		END { exit bad || NR != '"$2"' }' "$dir/rows"
}
for record in 8 8192; do
	bench -r $record >"$dir/rows"
	check "records of $record: all through shared buffers, every byte verified" right 1 50
	bench -r $record --no-share >"$dir/rows"
	check "records of $record, --no-share: none, every byte verified" right 0 50
done

# Shares that go past the processors' caches.
bench -r 8192 -s 8M -p ra,rb,rc,rcn,rnn >"$dir/rows"
check "8 MB, records of 8192: every byte verified" right 1 10

whole() {
	"$crowd" -n 4 -s 4194304 -w >"$dir/out" 2>&1
	check "a file of 4 MB" [ "$(grep -c ' ok 1' "$dir/out")" = 4 ]
}
# judge WHAT ERRNO MIN: at least MIN processes fail, all with ERRNO, in time, and name rank 2
judge() {
	check "$1: at least $3 processes fail" [ "$(grep -c ' err ' "$dir/out")" -ge "$3" ]
	check "$1: all with the same error" [ "$(grep -o ' err -[0-9]*' "$dir/out" | sort -u)" = " err -$2" ]
	check "$1: rank 2 is named" grep -q "rank 2" "$dir/out"
	check "$1: in bounded time" awk -v b=$bound '{ for (i = 1; i < NF; i++)
		if ($i == "ms" && $(i + 1) > b) exit 1 }' "$dir/out"
	check "$1: no wrong bytes" bash -c "! grep -q WRONG '$dir/out'"
}
whole
for op in "" -w; do
	for after in 50 150 400; do
		"$crowd" -n 4 -c 20000 -s 4194304 $op -k kill -v 2 -a $after >"$dir/out" 2>&1
		judge "killed after $after ms${op:+ (write)}" 103 3
	done
done
whole
"$crowd" -n 4 -c 20000 -s 4194304 -k stop -v 2 -a 200 >"$dir/out" 2>&1
check "stopped: the others fail" [ "$(grep -c ' err ' "$dir/out")" -ge 3 ]
check "stopped: rank 2 is named" grep -q "rank 2" "$dir/out"
members_in_memory() {
	local maps n=0
	for maps in $(pgrep -f "crowd .*few$$" | sed 's|.*|/proc/&/maps|'); do
		grep -qs memfd:ddio-shared "$maps" && n=$((n + 1))
	done
	[ $n -ge 4 ]
}
few -w
for op in "" -w; do
	few -c 100000000 $op -k kill -v 2 -a 1500 &
	check "small collectives${op:+ (write)}: each process shares memory with its neighbours" soon members_in_memory
	wait $!
	judge "killed among small collectives${op:+ (write)}" 103 3
	few -c 100000000 $op -k stop -v 2 -a 300
	check "stopped among small collectives${op:+ (write)}: the others fail" [ "$(grep -c ' err ' "$dir/out")" -ge 3 ]
done
few -w
few
check "and all is there after small collectives" [ "$(grep -c ' ok 1' "$dir/out")" = 4 ]

whole
"$crowd" -n 4 -s 4194304 >"$dir/out" 2>&1
check "and what it wrote is there" [ "$(grep -c ' ok 1' "$dir/out")" = 4 ]

# Rank 1 of a group fills what it shares and looks for bytes of others, while an honest group writes and reads its own file.
honest() {
	"$crowd" -n 4 -f honest -s 2097152 "$@" >>"$dir/honest" 2>&1
}
honest -w
TAMPER_AT=127.0.0.1:19473 in_time 100 "$helpers/tamper" tampered 4 20 >"$dir/tampered" 2>&1 &
tamper=$!
rounds=0
while kill -0 $tamper 2>/dev/null; do
	honest
	honest -w
	rounds=$((rounds + 1))
done
wait $tamper
check "all processes of a group that tampers end" [ $? = 0 ]
honest
echo "# $(tail -1 "$dir/tampered"); $rounds rounds beside"
read -r _ sent _ writable _ broken _ foreign _ filled <"$dir/tampered"
check "the tamperer was sent buffers of both I/O processors for both directions" [ "${sent:-0}" = 4 ]
check "it may write to those for writing only, and did" [ "${writable:-0}" = 2 -a "${filled:-0}" -gt 2 ]
check "nothing that is forbidden succeeded" [ "${broken:-1}" = 0 ]
check "it has seen no byte of another group" [ "${foreign:-1}" = 0 ]
check "the honest group read what it wrote, each time, beside it" \
	[ "$rounds" -ge 1 -a "$(grep -c ' ok 1' "$dir/honest")" = $((4 * (2 * rounds + 2))) ]
check "both I/O processors live" eval '"$ddio" status >/dev/null'

# With "share = no" in its configuration a process shares with nobody.
sed '/^\[cluster\]/a share = no' "$dir/c/ddio.conf" >"$dir/no.conf"
bench -r 8192 --conf "$dir/no.conf" >"$dir/rows"
check "share = no: none, every byte verified" right 0 50
