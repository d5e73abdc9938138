#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# The papers' figures in virtual time: the cells that are quick, asserted.  make paper has all.
plain=1
. "$(dirname "$0")/lib.sh"

sim() { "$ddio" sim --quiet --no-verify --csv "$@"; }
tr94() { sim --outstanding 1 --fcfs --cache 256K --no-batch "$@"; }

# Tables 3 and 4, disk-directed: within 10 % of the published cell, wn on contiguous blocks within 15.
cells() {
	awk -F, '/^[#l]/ || $7 == 0 { next }
		{ off = 100 * ($6 - $7) / $7; n++; lim = $1 == "contiguous" && $2 == "wn" ? 15 : 10
		if (off > lim || off < -lim) { print; bad = 1 } }
		END { exit bad || n < '"$1"' }'
}
patterns=ra,rn,rb,rc,rnb,rbb,rcb,rbc,rcc,rcn,wn,wb,wc,wnb,wbb,wcb,wbc,wcc,wcn
for l in random-blocks contiguous; do
	check "Tables 3 and 4, DD and DDs, $l" cells 76 < <(tr94 -p $patterns -m dd,dds -l $l)
done
if cells 1 <<<"contiguous,rb,8,DD,0,40,30" >/dev/null; then not_ok "a cell 33 % off passes"; else ok "a cell that is off is seen"; fi

# Kotz and Cai 1995: CPU left, without and with barriers, within 10 points.
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a / 1000 - b; exit !(d <= 10 && d >= -10) }'; }
left() { # PATTERN RECORD METHOD PUBLISHED PUBLISHED-WITH-BARRIERS
	local r
	r=$(tr94 --cpu-left -p "$1" -r "$2" -m "$3" | awk -F, '/^layout/ {
			for (i = 1; i <= NF; i++) c[$i] = i }
		/^contiguous/ { print $c["iop_left"], $c["iop_left_barriers"] }')
	check "CPU left, $1 $2 $3: ${r% *} ($4 %)" near "${r% *}" "$4"
	check "CPU left at barriers, $1 $2 $3: ${r#* } ($5 %)" near "${r#* }" "$5"
}
left rc 8192 tc 95 92
left rc 8192 dds 95 93
left wc 8192 tc 90 85
left wc 8192 dds 95 92
left rbc 8 dds 3.4 2.0
left wbc 8 dds 5.1 2.3

# TOCS 1997: 6.3 and 7.3 MB/s of DDIO on random blocks, 31.4 contiguous, whatever the pattern.
within() { awk -F, -v lo="$1" -v hi="$2" '/^[#l]/ { next } { n++; if ($6 < lo || $6 > hi) bad = 1 } END { exit bad || !n }'; }
check "random-blocks: reads of all patterns" within 6.0 6.6 < <(sim -l random-blocks -p ra,rn,rb,rbb,rcb,rcn -r 8192 -m dds)
check "random-blocks: writes of all patterns" within 7.0 7.7 < <(sim -l random-blocks -p wn,wb,wbb,wcb -r 8192 -m dds)
check "contiguous: reads of all patterns" within 31.4 33.8 < <(sim -p ra,rn,rb,rc,rbb,rcb,rcc -r 8192 -m dds)

# Sixteen disks behind one bus of 10 MB/s, whatever was read before: caches are dropped on all of them.
check "one bus bounds its disks: TC, DDs" within 8 9.54 < <(sim -i 1 -d 16 --shared-bus -p rn,rb,rc -r 8192 -m tc,dds)

mbps() { sim "$@" | grep -v '^[#l]' | cut -d, -f6; }
gain() { # TEXT LEAST MOST A B: B is LEAST to MOST % above A
	check "$1: $4, $5 MB/s" awk -v a="$4" -v b="$5" -v lo="$2" -v hi="$3" 'BEGIN { g = 100 * b / a - 100; exit !(g >= lo && g <= hi) }'
}
# Table III: the most that DDIO gains on SPFS, 12 to 25 times (18.1 published).
gain "DDIO over SPFS, wc 8" 1100 2400 "$(mbps -p wc -r 8 -m tc)" "$(mbps -p wc -r 8 -m dds)"

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
