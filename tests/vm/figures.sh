#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# In a machine whose clock counts its instructions (timing.sh): a daemon with the kernel
# engine on sixteen hp97560 disks at their own speed, sixteen processes, and TR94-226's Tables 3
# and 4 for records of 8 KB: each DD and DDs cell within 10 % of the published figure.
#
# DDIO_FIGURES=all: every pattern, else four of them
set -u
cd "$(dirname "$0")/../.." || exit 2
ddio=build/ddio ddiod=build/ddiod
[ -x $ddio ] && [ -x $ddiod ] || { echo "SKIP build/ddio is not there"; exit 77; }
dir=$(mktemp -d)
daemon=
patterns=rb,rcc,wb,wcc
[ "${DDIO_FIGURES:-}" = all ] &&
	patterns=rn,rb,rc,rnb,rbb,rcb,rbc,rcc,rcn,wn,wb,wc,wnb,wbb,wcb,wbc,wcc,wcn

finish() {
	[ -z "$daemon" ] || { kill "$daemon" && wait "$daemon"; } 2>/dev/null
	rmmod hp97560 ddio 2>/dev/null
	rm -rf "$dir"
}
trap finish EXIT
give_up() { echo "not ok figures # $*"; sed 's/^/# /' "$dir/log" 2>/dev/null; exit 1; }
rmmod hp97560 2>/dev/null
modprobe ddio && modprobe hp97560 nr_devices=16 || give_up "no modules"
{
	printf '[cluster]\nname = vm\nblock = 8K\n'
	printf '[node io0]\naddress = 127.0.0.1:7400\nmeta = %s/meta\nreactors = 1\n' "$dir"
	for i in $(seq 0 15); do
		printf '[disk d%d]\nnode = io0\nengine = kmod\npath = /dev/hp97560_%d\n' "$i" "$i"
	done
} >"$dir/ddio.conf"
$ddiod --conf "$dir/ddio.conf" --node io0 --foreground 2>"$dir/log" &
daemon=$!
for i in $(seq 100); do
	$ddio ls --conf "$dir/ddio.conf" >/dev/null 2>&1 && break
	[ "$i" = 100 ] && give_up "no daemon"
	sleep 0.2
done
$ddio bench --quiet --csv --output "$dir/csv" --conf "$dir/ddio.conf" --cps 16 --methods dd,dds \
	--layouts contiguous,random-blocks --records 8192 --patterns $patterns 2>>"$dir/log" ||
	give_up "bench"
awk -F, '
	/^#/ { next }
	!n++ { for (i = 1; i <= NF; i++) c[$i] = i; next }
	{
		off = 100 * ($c["mbps"] / $c["paper_mbps"] - 1)
		what = sprintf("%s %s %s: %.2f MB/s, published %.1f (%+.1f %%)", $c["layout"],
			$c["pattern"], $c["method"], $c["mbps"], $c["paper_mbps"], off)
		good = $c["verified"] == 1 && off >= -10 && off <= 10
		print (good ? "ok " : "not ok ") ++k " " what
		bad += !good
	}
	END { exit bad || !k }' "$dir/csv"
