#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
# Out-of-core LU: on a cluster, beside LAPACK; in virtual time, beside Figure 10 of TR95-251.
plain=1
. "$(dirname "$0")/lib.sh"

# lapack OPTIONS...: the result on a real cluster is LAPACK's
lapack() {
	"$ddio" lu --order 200 --slab 8 --cps 4 --iops 3 --engine mem --disk-size 16M \
		--matrix "$dir/a" --result "$dir/lu" "$@" >"$dir/lu.out" &&
		"$helpers/lu_lapack" "$dir/a" "$dir/lu" 200
}
for m in tc dd dds; do
	check "LAPACK's factors: $m" lapack --method $m
done
check "LAPACK's factors: columns of part of a block" lapack --method tc --block-size 8K --install
check "LAPACK's factors: random blocks of 512 bytes" lapack --layout random-blocks --block-size 512
# Makes sure that the comparison can fail.
if "$helpers/lu_lapack" "$dir/a" "$dir/a" 200 >/dev/null; then not_ok "the matrix itself passes"; else ok "a wrong result is seen"; fi

fails "no such method" "method" "$ddio" lu --method 2p
fails "no such block" "block-size" "$ddio" lu --block-size 1000
fails "no columns" "slab" "$ddio" lu --slab 0

# Virtual time: 1/4 of the paper's order.  The traffic of a disk-directed run follows from the loop.
sim() { "$ddio" lu --sim --csv --prompt --fcfs --late-ahead --no-batch --install "$@"; }
small() { sim --order 256 --slab 4 "$@"; }
traffic() { # prints the MB that the program asks for
	awk -v n=256 -v held=32 'BEGIN {
		for (i = 0; i + held < n; i++)
			cols += n - i
		printf "%.1f", 2 * (cols + held) * n * 4 / 1048576 }'
}
want=$(traffic)
for l in contiguous random-blocks; do
	for b in 512 1024; do
		got=$(small --layout $l --block-size $b --method dds | cut -d, -f7,10,12)
		check "DDs, $l, $b: traffic $want MB, nothing wrong: $got" [ "$got" = "$want,$want,0" ]
		got=$(small --layout $l --block-size $b --method tc | cut -d, -f7,9,12)
		check "TC, $l, $b: every byte once to the disks: $got" \
			[ "${got%,0}" = "$want,$(awk -v w="$want" 'BEGIN { printf "%.1f", w / 2 }')" ]
	done
done
check "virtual time repeats" [ "$(small --method tc)" = "$(small --method tc)" ]
thin() {
	"$ddio" lu --sim --csv --fcfs --late-ahead --no-batch --order 256 --slab 8 --block-size 2K --cache 16K \
		--method tc "$@" | cut -d, -f8
}
without=$(thin)
with=$(thin --install)
check "installing a block reads more: $with, $without MB" awk "BEGIN { exit !($with > 1.2 * $without) }"

# The cells of Figure 10 that are quick: 64 columns in blocks of 4 KB, and the whole matrix in memory.
near() { # VALUE PUBLISHED PERCENT
	awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { d = 100 * (a - b) / b; exit !(d <= p && d >= -p) }'
}
for c in contiguous,64,4096,tc,3093.9,339.0 contiguous,64,4096,dds,3078.0,336.4 \
	random-blocks,64,4096,tc,3093.9,2451.9 random-blocks,64,4096,dds,3078.0,1719.4 \
	contiguous,128,8192,dds,8.0,55.1 random-blocks,128,1024,dds,8.0,68.2; do
	IFS=, read -r l s b m mb sec <<<"$c"
	r=$(sim --layout "$l" --slab "$s" --block-size "$b" --method "$m")
	got=$(cut -d, -f10 <<<"$r")
	check "Figure 10, $l $s $b $m: traffic $got ($mb)" near "$got" "$mb" 2
	got=$(cut -d, -f11 <<<"$r")
	check "Figure 10, $l $s $b $m: $got s ($sec)" near "$got" "$sec" 6
done
