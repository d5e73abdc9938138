#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# Compute processes on the storage node: blocks go straight between the disks and their memory.
# Every pattern, read and written, every byte compared, with the module's and the processes'
# own accounts of what went that way; the same bytes without scattering; a process that
# may not pin memory; the traditional path on the same blocks; processes killed in
# mid-transfer; wrong bits on disks; failing disks; and nothing left in the module.
#
#   t_scatter.sh          all of that
#   t_scatter.sh times    the time of a read of 8-byte records, both ways
. "$(dirname "$0")/t_lib.sh"
crowd=build/tests/vm/crowd
need $ddio $ddiod $crowd
chmod 755 "$dir" # one of the processes is nobody

clean_up() {
	stop_daemon
	rmmod null_blk 2>/dev/null
}

# configure [OPTIONS]: of the engine
configure() {
	local i
	: >"$dir/log"
	{
		conf_node 'block = 8K' 'timeout = 20s'
		for i in 0 1; do
			conf_disk $i kmod /dev/nullb$i "${1:-}"
		done
	} >"$DDIO_CONF"
}

# disks [PARAMETER ...]: two new ones
disks() {
	rmmod null_blk 2>/dev/null
	rm -rf "$dir/meta"
	modprobe null_blk nr_devices=2 gb=1 memory_backed=1 bs=512 "$@" ||
		{ not_ok "disks"; exit 1; }
}

# Prints how many bytes the module has scattered.
scattered() { awk '$1 == "scattered_bytes" { print $2 }' /sys/kernel/debug/ddio/stats; }
# live WHAT: prints how many such objects the module has
live() { awk -v k="live_$1" '$1 == k { print $2 }' /sys/kernel/debug/ddio/stats; }

# judge MORE ROWS: there are at least ROWS, every one was verified, and of its bytes MORE (0 or 1) went past the messages
judge() {
	awk -F, -v more="$1" -v rows="$2" '
		/^#/ { next }
		!n++ { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["verified"] != 1 { print "not verified: " $0; bad = 1 }
		more && $c["scattered"] == 0 && $c["pattern"] != "rn" && $c["pattern"] != "wn" {
			print "# messages only: " $c["pattern"] " " $c["method"]; few++ }
		!more && $c["scattered"] { print "scattered: " $0; bad = 1 }
		END { exit bad || n <= rows || few > n / 4 }' "$dir/out.csv"
}

# members FILE: "rank scattered share" of each that ended well
members() { sed -n 's/^rank \([0-9]*\) ok [0-9]* scattered \([0-9]*\) of \([0-9]*\)$/\1 \2 \3/p' "$1"; }
all_scattered() { [ "$(members "$1" | awk '$2 == $3' | wc -l)" = "$2" ]; }

run() { # FILE ARGUMENT ...
	local out=$1
	shift
	$crowd "$@" >"$out" 2>&1
}

disks

if [ "${1:-}" = times ]; then
	configure
	start_daemon || exit
	for m in "" --no-scatter; do
		bench --cps 4 --records "${2:-8}" --size "${3:-4M}" --patterns "${4:-rcc}" --methods dds --trials 5 $m
		sed -n '/^[^#]/p' "$dir/out.csv" | cut -d, -f 1-6,9-16,19-20
	done
	exit
fi

# 1. Every pattern, or $DDIO_PATTERNS.
patterns=${DDIO_PATTERNS:-all}
[ "$patterns" = all ] && nr=10 || nr=$(tr , '\n' <<<"$patterns" | wc -l)
configure
check "daemon" start_daemon || exit
for r in 8 8192; do
	before=$(scattered)
	check "records of $r: bench" \
		bench --cps 4 --records $r --size "$([ $r = 8 ] && echo 256K || echo 512K)" --methods dd,dds \
			--patterns "$patterns"
	check "records of $r: $(rows) rows, scattered" judge 1 $((2 * nr))
	check "records of $r: the module scattered $(($(scattered) - before)) bytes" \
		[ "$(scattered)" -gt "$before" ]
done
check "records of 8, messages" bench --cps 4 --records 8 --size 256K --methods dds \
	--patterns "$patterns" --no-scatter
check "records of 8, messages: every byte, nothing scattered" judge 0 "$nr"

# 2. A whole share without a message; then other processes read what was written.
for w in "" -w; do
	run "$dir/out" -n 4 -s 2097152 -r 8 -f all -c 3 -P -w ${w:+-m dd} ||
		shows "$dir/out"
	check "four processes write: all is scattered" all_scattered "$dir/out" 4
	run "$dir/out" -n 4 -s 2097152 -r 8 -f all -P -A
	check "and read it: all is scattered" all_scattered "$dir/out" 4
done
$ddio export all "$dir/all"
run "$dir/out" -n 3 -s 2097152 -r 1000 -f odd -c 2 -P -w
check "records that cross blocks, three processes, written" [ "$(grep -c ' ok 2 ' "$dir/out")" = 3 ]
run "$dir/out" -n 3 -s 2097152 -r 1000 -f odd -P -A
check "and read" [ "$(grep -c ' ok 1 ' "$dir/out")" = 3 ]

# 3. A process that may not pin memory.
run "$dir/out" -n 4 -s 2097152 -r 8192 -f poor -P -w -p -v 1
check "one may not pin: written" [ "$(grep -c ' ok 1 ' "$dir/out")" = 4 ]
check "one may not pin: his bytes go by messages" [ "$(members "$dir/out" | awk '$1 == 1 && !$2')" ]
check "one may not pin: the others' do not" all_scattered "$dir/out" 3
run "$dir/out" -n 4 -s 2097152 -r 8 -f poor2 -P -w -p -v 1
run "$dir/out" -n 4 -s 2097152 -r 8 -f poor2 -P -p -v 2
check "one may not pin, all have bytes of each block: right" [ "$(grep -c ' ok 1 ' "$dir/out")" = 4 ]

# 4. The traditional path on the same blocks.
run "$dir/tc" -n 2 -s 1048576 -r 8192 -f both -w -m tc -c 8 &
rival=$!
run "$dir/out" -n 4 -s 1048576 -r 8192 -f both -w -c 12 -P
wait $rival
check "both ways write the same blocks" [ "$(cat "$dir/out" "$dir/tc" | grep -c ' ok ')" = 6 ]
run "$dir/tc" -n 2 -s 1048576 -r 8192 -f both -w -m tc -c 8 &
rival=$!
run "$dir/out" -n 4 -s 1048576 -r 8192 -f both -A -c 12 -P
wait $rival
check "a scattered read meanwhile: each block is of one write" \
	[ "$(cat "$dir/out" "$dir/tc" | grep -c ' ok ')" = 6 ]
check "and blocks were scattered" [ "$(members "$dir/out" | awk '{ s += $2 } END { print (s > 0) }')" = 1 ]
run "$dir/out" -n 4 -s 1048576 -r 8192 -f both -A -m tc
check "the traditional path reads each block of one write" [ "$(grep -c ' ok ' "$dir/out")" = 4 ]
$ddio export both "$dir/both"
check "no joint is left" [ "$(live joints)$(live memberships)" = 00 ]
stop_daemon

# 5. Wrong bits on the disks: the module compares each block with its checksum before a member gets a byte of it.
turn_bits() {
	local i at byte
	for i in 0 1; do
		for at in {1..15}; do
			at=$((at * 65536 + 12345))
			byte=$(od -An -tu1 -j $at -N 1 /dev/nullb$i)
			printf "\\x$(printf %02x $((byte ^ 4)))" |
				dd of=/dev/nullb$i bs=1 seek=$at conv=notrunc,fsync 2>/dev/null
		done
	done
}
turn_bits
configure
check "wrong bits: daemon" start_daemon || exit
run "$dir/out" -n 4 -s 2097152 -r 8 -f all -P -A
check "wrong bits: all get an error that names the place" [ "$(grep -c \
	'err -5 .*node io0, disk d[01]: block [0-9]* of file "all" (byte [0-9]*) does not match its checksum' \
	"$dir/out")" = 4 ]
grep -v 'err -5' "$dir/out" | shows
check "wrong bits: the log names it" grep -q 'does not match its checksum' "$dir/log"
check "wrong bits: the status counts it" [ "$($ddio status --csv | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) if ($i == "errors") at = i }
	NR > 1 { n += $at }
	END { print (n > 0) }')" = 1 ]
stop_daemon
turn_bits
configure
check "turned back: daemon" start_daemon || exit
run "$dir/out" -n 4 -s 2097152 -r 8 -f all -P -A
check "turned back: right, and scattered" all_scattered "$dir/out" 4
stop_daemon

# 6. The same bytes without.
configure scatter=no
check "scatter=no: daemon" start_daemon || exit
check "scatter=no: the same bytes" cmp "$dir/all" <($ddio export all -)
check "scatter=no: the same bytes of both ways" cmp "$dir/both" <($ddio export both -)
run "$dir/out" -n 4 -s 2097152 -r 8 -f all -P -A
check "scatter=no: nothing is scattered" [ "$(members "$dir/out" | awk '$2 == 0' | wc -l)" = 4 ]
stop_daemon

# 7. A disk that fails.
configure fail_after=200
check "fail_after: daemon" start_daemon || exit
run "$dir/out" -n 4 -s 1048576 -r 8 -f bad -w -c 20
check "a disk fails: all get the same error" \
	[ "$(grep -c 'err -5 .*disk d[01]: writing block [0-9]* of file "bad"' "$dir/out")" = 4 ]
grep -v 'err -5' "$dir/out" | shows
check "a disk fails: no membership is left" [ "$(live memberships)" = 0 ]
stop_daemon

# 8. Members killed in mid-transfer, on disks that take their time.
disks irqmode=2 completion_nsec=2000000
configure
check "slow disks: daemon" start_daemon || exit
run "$dir/out" -n 4 -s 2097152 -r 8 -f slow -w -P
check "slow disks: written" all_scattered "$dir/out" 4
for w in "" -w; do
	for after in 700 1100; do
		run "$dir/out" -n 4 -c 200 -s 2097152 -r 8 -f slow $w -A -k kill -v 2 -a $after
		check "killed after $after ms${w:+ (writing)}: the others hear of it" \
			[ "$(grep -c 'err -103 .*rank 2' "$dir/out")" = 3 ]
		grep -v 'err -103 .*rank 2' "$dir/out" | shows
	done
done
run "$dir/out" -n 4 -s 2097152 -r 8 -f slow -w -P
check "the daemon goes on" all_scattered "$dir/out" 4
check "nothing is left: $(live joints) joints, $(live memberships) memberships" \
	[ "$(live joints)$(live memberships)$(live collectives)" = 000 ]
