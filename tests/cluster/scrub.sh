#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# ddio scrub finds every wrong bit on the disks and names it, also after a death in its middle, and says nothing of what is right.
. "$(dirname "$0")/lib.sh"

N=2000

# flipped: a bit in each block, of all disks; prints how many
flipped() {
	local image n all=0
	for image in "$dir"/bits/*; do
		case $image in *.img | *.disk | */disk*) [ -f "$image" ] || continue ;; *) continue ;; esac
		n=$("$helpers/wrong_bits" flip "$image" 512 5) || return 1
		all=$((all + n))
	done
	echo $all
}

# column N: the sum of a column of what ddio scrub printed
column() {
	awk -v at="$1" 'NR > 1 { n += $at } END { print n + 0 }' "$dir/out"
}

scrub() {
	in_time 30 "$ddio" scrub "$@" >"$dir/out" 2>"$dir/err"
}

start_cluster bits --iops 2 --engine aio --files --disk-size 16M || not_ok "no cluster"
check "an empty one" scrub
check "$N blocks are written" "$helpers/wrong_bits" make bits 512 $N
check "all of them are right" scrub
check "they were read" [ "$(awk 'NR > 1 && $4 > 0 && $5 > 0' "$dir/out" | wc -l)" = 2 ]
check "nothing is wrong" [ "$(column 6)$(column 7)$(column 8)" = 000 ]
check "two disks" [ "$(awk '$3 == "ended"' "$dir/out" | wc -l)" = 2 ]
stop_cluster bits
check "a bit is turned in each" [ "$(flipped)" = $N ]
"$ddio" start --dir "$dir/bits" >/dev/null || not_ok "does not start again"
fails "scrub finds them" "" scrub
check "all of them" [ "$(column 6)" = $N ]
check "the log names the first" [ "$(cat "$dir"/bits/*.log | grep -c 'does not match its checksum')" = 200 ]
check "and says that there are more" [ "$(cat "$dir"/bits/*.log | grep -c 'only counts them from here')" = 2 ]
check "the status counts them" [ "$("$ddio" status --csv | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) if ($i == "errors") at = i }
	NR > 1 { n += $at }
	END { print n }')" = $N ]
told() { [ "$("$ddio" status --metrics | awk '/^ddio_disk_scrub_mismatches{/ { n += $2 } END { print n + 0 }')" = "$1" ]; }
check "the metrics tell them" soon told $N

# In the middle of one, a node dies: it goes on where it was, and finds the rest.
check "slowly" scrub --detach --rate 20K
check "both are running" [ "$(grep -c running "$dir/out")" = 2 ]
kill -9 "$(cat "$dir/bits/io1.pid")"
"$build/ddiod" --conf "$DDIO_CONF" --node io1 --pid-file "$dir/bits/io1.pid" --log-file "$dir/bits/io1.log" ||
	not_ok "io1 does not start again"
running() {
	"$ddio" scrub --status 2>/dev/null | grep -c running
}
check "both are running again" [ "$(running)" = 2 ]
check "stopped" scrub --stop
fails "fsck tells what they have found" "checksums did not match.*INCONSISTENT" bash -c "'$ddio' fsck | tr '\\n' ' ' >&2; exit \${PIPESTATUS[0]}"
check "nothing is running" [ "$(grep -c running "$dir/out")" = 0 ]
fails "all round from there" "" scrub
check "all are found again" [ "$(column 6)" = $N ]
stop_cluster bits
check "turned back" [ "$(flipped)" = $N ]
"$ddio" start --dir "$dir/bits" >/dev/null
check "nothing is wrong" scrub
check "the metrics tell that, too" soon told 0
check "fsck" "$ddio" fsck
fails "two words that exclude each other" "only one of" "$ddio" scrub --stop --detach
stop_cluster bits

# Without checksums there is nothing to compare with.
sed -i 's/^\[cluster\]/&\nchecksums = no/' "$dir/bits/ddio.conf"
export DDIO_CONF=$dir/bits/ddio.conf
"$ddio" start --dir "$dir/bits" >/dev/null
fails "no checksums" "no checksums to compare with" "$ddio" scrub
stop_cluster bits
sed -i '/^checksums = no/d' "$dir/bits/ddio.conf"
"$ddio" start --dir "$dir/bits" >/dev/null
convert() {
	"$ddio" fsck --convert >"$dir/out"
}
check "then they get theirs" convert
check "each" [ "$(awk '/^io/ { n += $8 } END { print n }' "$dir/out")" = $N ]
check "once" scrub
check "no more" [ "$(column 8)" = 0 ]
