#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# The papers' figures in virtual time: the cells that are quick, asserted.  make paper has all.
plain=1
. "$(dirname "$0")/lib.sh"

sim() { "$ddio" sim --quiet --no-verify --csv "$@"; }
era() { sim --prompt --calls "$@"; }
tr94() { era --outstanding 1 --fcfs --late-ahead --cache 256K --no-batch "$@"; }
patterns=ra,rn,rb,rc,rnb,rbb,rcb,rbc,rcc,rcn,wn,wb,wc,wnb,wbb,wcb,wbc,wcc,wcn
for l in random-blocks contiguous; do
	tr94 --cpu-left -p $patterns -m tc,dd,dds -l $l >"$dir/$l.csv" &
done
wait

# Tables 3 and 4, disk-directed: within 10 % of the published cell, wn on contiguous blocks within 15.
cells() {
	awk -F, '/^[#l]/ || $7 == 0 || $4 == "TC" { next }
		{ off = 100 * ($6 - $7) / $7; n++; lim = $1 == "contiguous" && $2 == "wn" ? 15 : 10
		if (off > lim || off < -lim) { print; bad = 1 } }
		END { exit bad || n < '"$1"' }'
}
# Traditional caching: 35 cells each, within 3 % of what they were when tests/data/papers/tc.csv was made, or 10 % where seeds
# differ by more.  A change that means to move them makes the file again: OUT=FILE tests/cluster/papers.sh.
stay() { # LAYOUT
	awk -F, 'NR == FNR { if (!/^#/) { was[$1, $2, $3] = $4; lim[$1, $2, $3] = $5 } next }
		/^[#l]/ || $4 != "TC" || !(($1, $2, $3) in was) { next }
		{ off = 100 * ($6 / was[$1, $2, $3] - 1); n++
		if (off > lim[$1, $2, $3] || off < -lim[$1, $2, $3]) { print $0, "was", was[$1, $2, $3]; bad = 1 } }
		END { exit bad || n != 35 }' "$top/tests/data/papers/tc.csv" "$1"
}
if [ "${OUT:-}" ]; then
	{
		echo "# Traditional caching in the system of TR94-226, seed 1: layout,pattern,record,MB/s,tolerance in per cent"
		awk -F, '/^[#l]/ || $4 != "TC" || $2 ~ /^(ra|rn|wn)$/ && $3 == 8 { next }
			{ print $1 "," $2 "," $3 "," $6 "," ($2 ~ /^w(bc|nb)$/ ? 10 : 3) }' "$dir/random-blocks.csv" "$dir/contiguous.csv"
	} >"$OUT"
	exit 0
fi
for l in random-blocks contiguous; do
	check "Tables 3 and 4, DD and DDs, $l" cells 76 <"$dir/$l.csv"
	check "Tables 3 and 4, TC, $l" stay "$dir/$l.csv"
done
if cells 1 <<<"contiguous,rb,8,DD,0,40,30" >/dev/null; then not_ok "a cell 33 % off passes"; else ok "a cell that is off is seen"; fi
sed 's/^\(contiguous,wbb,8,TC,0,\)[0-9.]*/\17.5/' "$dir/contiguous.csv" >"$dir/moved.csv"
if stay "$dir/moved.csv" >/dev/null; then not_ok "a moved cell passes"; else ok "a cell that moves is seen"; fi

# Kotz and Cai 1995, in the runs of Table 4: CPU left, without and with barriers, within 10 points, and the rate within
# 30 %.  Not reproduced: TC's hard write (wbc 8), which is too fast.
left() { # PATTERN RECORD METHOD LEFT LEFT-WITH-BARRIERS MBPS
	check "CPU left, $1 $2 $3 ($4, $5 %; $6 MB/s)" awk -F, -v p="$1" -v r="$2" -v m="$3" -v a="$4" -v b="$5" -v f="$6" '
		function near(x, y, d) { return x - y <= d && y - x <= d }
		/^layout/ { for (i = 1; i <= NF; i++) c[$i] = i }
		$2 == p && $3 == r && $4 == m { n++
			ok = near($c["iop_left"] / 1000, a, 10) && near($c["iop_left_barriers"] / 1000, b, 10) && near($6, f, 0.3 * f)
			print $6, $c["iop_left"], $c["iop_left_barriers"] }
		END { exit !(n == 1 && ok) }' "$dir/contiguous.csv"
}
left rc 8192 TC 95 92 32.2
left rc 8192 DDs 95 93 33.5
left wc 8192 TC 90 85 32.4
left wc 8192 DDs 95 92 32.2
left rbc 8 TC 60 3.2 2.2
left rbc 8 DDs 3.4 2.0 16.2
left wbc 8 DDs 5.1 2.3 14.2

# TOCS 1997: 6.3 and 7.3 MB/s of DDIO on random blocks, 31.4 contiguous, whatever the pattern.
within() { awk -F, -v lo="$1" -v hi="$2" '/^[#l]/ { next } { n++; if ($6 < lo || $6 > hi) bad = 1 } END { exit bad || !n }'; }
check "random-blocks: reads of all patterns" within 6.0 6.6 < <(sim -l random-blocks -p ra,rn,rb,rbb,rcb,rcn -r 8192 -m dds)
check "random-blocks: writes of all patterns" within 7.0 7.7 < <(sim -l random-blocks -p wn,wb,wbb,wcb -r 8192 -m dds)
check "contiguous: reads of all patterns" within 31.4 33.8 < <(sim -p ra,rn,rb,rc,rbb,rcb,rcc -r 8192 -m dds)

# The exchange of two-phase I/O pays for its 8-byte pieces, 5.2 us each, on all processes at once.
check "two-phase I/O pays for pieces" within 10 14.1 < <(sim -p rc,wc -r 8 -m 2p)

# Each process by itself: every byte of its share, of all patterns, and nothing from beyond the group.
check "alone: every byte" "$ddio" sim --quiet --alone -p all -s 1M -m tc,dds
check "alone: chunks in turn" "$ddio" sim --quiet --alone --calls -p rc,wcc -r 8192 -s 1M -m tc
fails "alone: two-phase I/O" "--alone takes" "$ddio" sim --alone -m 2p
# All wait for the one that comes last, by up to 0.1 s; 10 MB take 0.32 s.
check "late processes: DDs" within 23 28 < <(sim -p rb -r 8192 -m dds --skew 100000)

# Rank 0 tells the others that a transfer has ended, so they return a little later; behind it they wait for one another.
later() {
	local plain last
	plain=$(sim -p "$1" -r 8192 -m dd -s 1M | awk -F, 'END { print $9 }')
	last=$(sim -p "$1" -r 8192 -m dd -s 1M --until-last | awk -F, 'END { print $9 }')
	awk -v a="$last" -v b="$plain" 'BEGIN { exit !(a > b && a < 1.01 * b) }'
}
check "until the last has returned: reads" later rb
check "until the last has returned: writes" later wc

# Sixteen disks behind one bus of 10 MB/s, whatever was read before: caches are dropped on all of them.
check "one bus bounds its disks: TC, DDs" within 8 9.54 < <(sim -i 1 -d 16 --shared-bus -p rn,rb,rc -r 8192 -m tc,dds)

mbps() { sim "$@" | grep -v '^[#l]' | cut -d, -f6; }
gain() { # TEXT LEAST MOST A B: B is LEAST to MOST % above A
	check "$1: $4, $5 MB/s" awk -v a="$4" -v b="$5" -v lo="$2" -v hi="$3" 'BEGIN { g = 100 * b / a - 100; exit !(g >= lo && g <= hi) }'
}
# Table III: the most that DDIO gains on SPFS, 15 to 24 times (18.1 published).
gain "DDIO over SPFS, wbc 8" 1400 2300 "$(mbps --prompt --calls -p wbc -r 8 -m tc)" "$(mbps -p wbc -r 8 -m dds)"

# Checks what the papers suggest without measuring it.
gain "Memputs in batches, rc 8" 8 26 "$(mbps -p rc -r 8 -m dds --no-batch)" "$(mbps -p rc -r 8 -m dds)"
gain "Memgets in batches, wbc 8" 8 60 "$(mbps -p wbc -r 8 -m dds --no-batch)" "$(mbps -p wbc -r 8 -m dds)"
a=$(mbps -l random-blocks -p rn -r 8192 -m dds)
gain "shortest access time first, rn on random blocks" 15 60 "$a" "$(mbps -l random-blocks -p rn -r 8192 -m dds --satf)"

# Planner work of an I/O processor does not grow with the processes.
runs() { sim --stats -N switched -i 8 -n "$1" -s 8M -p rc -r 8192 -m dds 2>&1 | sed -n 's/.* sorted, \([0-9]*\) runs.*/\1/p'; }
few=$(runs 4)
many=$(runs 64)
check "planner work with 4 and 64 processes: $few, $many runs" test "${few:-0}" -gt 0 -a "$few" = "$many"
