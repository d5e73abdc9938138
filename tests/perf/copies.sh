#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What copies cost that share their blocks:
#
#   tests/perf/copies.sh [ROUNDS [MEGABYTES]]
#
# ROUNDS (5) in turns over a cluster of two I/O processors with disks in memory, and a mount of it: a file of MEGABYTES (256) is copied
# below the mount by dd(1), which moves the bytes, and by cp(1), which shares the blocks; "ddio clone" and "ddio snap" of it.
# Meanwhile another process reads 4 KB of the file again and again, past the caches, and notes the longest that one read took: without a
# clone, and with one.  Prints medians in ms, with the least and greatest round, and those of the rounds' ratios to the
# copy of bytes.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/perf/lib.sh
rounds=${1:-5} size=${2:-256}
want_numbers "$rounds" "$size"
alone "$@"
mkdir "$dir/m"
"$build/ddio" start --dir "$dir/c" --engine mem --iops 2 --disk-size $((3 * size))M --cache 64M >/dev/null || exit 1
export DDIO_CONF=$dir/c/ddio.conf
"$build/ddiofs" "$DDIO_CONF" "$dir/m" || exit 1
head -c "${size}M" /dev/urandom >"$dir/m/f" && sync -f "$dir/m/f" || exit 1

# took WHAT COMMAND...: prints what, and how many ms the command took
took() {
	local what=$1 from
	shift
	from=$(date +%s%N)
	"$@" >/dev/null || exit 1
	echo "$what $((($(date +%s%N) - from) / 1000))" | awk '{ printf "%s %.3f\n", $1, $2 / 1000 }'
}
# longest WHAT FILE: until FILE appears, reads; then prints the longest read in ms
longest() {
	perl -MTime::HiRes=time -MFcntl -e '
		my ($what, $until, $name) = @ARGV;
		my ($most, $buf, $n) = (0, "", 0);
		sysopen(my $f, $name, O_RDONLY | 040000) or die "$name: $!";
		until (-e $until) {
			my $t = time;
			sysseek($f, 4096 * int(rand(4096)), 0);
			sysread($f, $buf, 4096) or die "read: $!";
			$t = time - $t;
			$most = $t if $t > $most;
		}
		printf "%s %.3f\n", $what, $most * 1000;' "$1" "$2" "$dir/m/f"
}
bytes() { dd if="$dir/m/f" of="$dir/m/copy" bs=1M status=none && sync -f "$dir/m/copy"; }
shared() { cp "$dir/m/f" "$dir/m/copy" && sync -f "$dir/m/copy"; }
# beside WHAT COMMAND...: the command, beside the reader
beside() {
	rm -f "$dir/until"
	longest "$1" "$dir/until" &
	sleep 0.3
	"${@:2}" >/dev/null || exit 1
	sleep 0.2
	: >"$dir/until"
	wait $!
}
for ((i = 0; i < rounds; i++)); do
	took bytes bytes
	rm "$dir/m/copy"
	took cp shared
	rm "$dir/m/copy"
	took clone "$build/ddio" clone f g
	"$build/ddio" rm g
	took snap "$build/ddio" snap f now
	"$build/ddio" snap --remove f now >/dev/null || exit 1
	beside "longest-read" true
	beside "longest-read-beside-clone" "$build/ddio" clone f g
	"$build/ddio" rm g
done >"$dir/rows"
medians '%-26s %9.2f ms (%.2f to %.2f)' "$size MB:" <"$dir/rows"
awk '$1 == "bytes" { b = $2; next } /^(cp|clone|snap) / { print $1, $2 / b }' "$dir/rows" |
	medians '%-26s %9.4f of the copy of bytes (%.4f to %.4f)' "$size MB:"
