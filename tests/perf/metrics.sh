#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What "ddiod --metrics" costs in processor time:
#
#   tests/perf/metrics.sh [ROUNDS [MB]]
#
# "scrape": what a daemon with two disks, that has nothing else to do, used of a processor for each of 500 requests.  "load": ROUNDS (5)
# in turns, a daemon that is scraped each second and one without --metrics, while 4 processes read MB (20000) together: seconds that
# the daemon used of the processors for a GB (10^9 bytes).  Medians, with the least and greatest round, and of the rounds' ratios.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/perf/lib.sh
rounds=${1:-5} mb=${2:-20000}
want_numbers "$rounds" "$mb"
alone "$@"
port=19900 size=100

# All threads' time on processors, in ns.
used() { cat "/proc/$(<"$dir/c/io0.pid")"/task/*/schedstat | awk '{ n += $1 } END { printf "%d\n", n }'; }
# begin [OPTION...]: a new cluster, whose daemon has these options
begin() {
	"$build/ddio" start --dir "$dir/c" --engine mem --iops 1 --disks 2 --disk-size 256M >/dev/null || exit 1
	kill "$(<"$dir/c/io0.pid")"
	while [ -e "$dir/c/io0.pid" ]; do sleep 0.05; done
	"$build/ddiod" --conf "$dir/c/ddio.conf" --node io0 --pid-file "$dir/c/io0.pid" --log-file "$dir/c/io0.log" "$@" || exit 1
}
end() { "$build/ddio" stop --clean --dir "$dir/c" >/dev/null; }
# scrape TIMES SECONDS: asks, so long after each answer, and checks that it is one
scrape() {
	python3 -c 'import sys, time, urllib.request as u
for i in range(int(sys.argv[2])):
    assert u.urlopen(sys.argv[1], timeout=20).read().endswith(b"# EOF\n")
    time.sleep(float(sys.argv[3]))' "http://127.0.0.1:$port/metrics" "$1" "$2"
}
reads() { "$build/tests/perf/bench_calls" --repeat "$dir/c/ddio.conf" 127.0.0.1:19000 4 $((size << 20)) read "$1" >/dev/null || exit 1; }

for ((r = 0; r < rounds; r++)); do
	begin --metrics 127.0.0.1:$port
	before=$(used)
	scrape 500 0 || exit 1
	echo "scrape: us $((($(used) - before) / 500000))"
	end
	for how in without scraped; do
		if [ $how = scraped ]; then begin --metrics 127.0.0.1:$port; else begin; fi
		reads 1
		before=$(used)
		if [ $how = scraped ]; then
			scrape 100000 1 2>/dev/null &
			asker=$!
		fi
		reads $((mb / size))
		[ $how = without ] || { kill $asker; wait $asker 2>/dev/null; }
		awk -v ns=$(($(used) - before)) -v mb="$mb" -v how=$how 'BEGIN { printf "load, %s: s/GB %.4f\n", how, ns / 1e9 / (mb * 1048576 / 1e9) }'
		end
	done | awk '{ print; x[NR] = $NF } END { printf "load, scraped by without: ratio %.4f\n", x[2] / x[1] }'
done | medians '%-34s %9.4f  (%.4f to %.4f)'
