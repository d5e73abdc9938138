#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# Beyond 4 GiB: arrays that lie there or cross it, by every method; the rest of
# the file is a hole and costs nothing.
. "$(dirname "$0")/lib.sh"
check "start" start_cluster c --iops 2 --disks 2 --engine mem --disk-size 6G
for at in 4294901760 5368709121 21474836480; do
	for m in tc 2p dd dds; do
		"$helpers/crowd" -n 4 -m $m -s 1048576 -b 65536 -o $at -f far -w >"$dir/out" 2>&1
		"$helpers/crowd" -n 4 -m $m -s 1048576 -b 65536 -o $at -f far >>"$dir/out" 2>&1
		check "4 processes at byte $at by $m" [ "$(grep -c ' ok 1' "$dir/out")" = 8 ]
		grep -v ' ok ' "$dir/out" | head -3
	done
done
check "the file is as long as it must be" grep -q '^size: *21475885056$' <("$ddio" stat far)
used=$("$ddio" status --csv | awk -F, 'NR > 1 { n += $5 - $6 } END { print n }')
check "holes take no space ($used bytes used)" [ "$used" -lt 16777216 ]
"$ddio" export far - 2>/dev/null | head -c 65536 | cmp -s - <(head -c 65536 /dev/zero)
check "a hole reads as zeros" [ "${PIPESTATUS[2]}" = 0 ]
check "fsck" "$ddio" fsck
check "rm" "$ddio" rm far
