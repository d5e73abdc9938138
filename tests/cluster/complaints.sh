#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 200
# "Three complaints" of operating.rst: what its commands show of a job that is held up, a slow disk, and who fills the cache.
. "$(dirname "$0")/lib.sh"

check "start" start_cluster c --iops 2 --engine mem --files --disk-size 64M --cache 4M
check "stop" stop_cluster c
# A disk that takes 20 ms for each request: the second of the two.
awk '/^\[disk/ { n++ } { print } /^\[disk/ && n == 2 { print "options = delay_us=20000" }' "$DDIO_CONF" >"$dir/conf" &&
	cat "$dir/conf" >"$DDIO_CONF"
check "start with a slow disk" start_cluster c
slow=$(awk '/^\[disk/ { gsub(/[][]/, ""); d = $2 } END { print d }' "$DDIO_CONF")
head -c 16M /dev/urandom >"$dir/f"
check "a file" "$ddio" import "$dir/f" f

# again JOB COMMAND...: for as long as $dir/go exists
again() {
	local job=$1
	shift
	while [ -e "$dir/go" ]; do DDIO_JOB=$job "$@" >/dev/null 2>&1; sleep 0.1; done
}
touch "$dir/go"
again greedy "$ddio" export f - &
again busy "$ddio" bench --conf "$DDIO_CONF" --cps 2 --size 2M --patterns wc --records 8192 --methods dd --no-verify &
# What the last of three looks says from the header on.
last_look() { "$ddio" top "$@" --delay 1s --count 3 | awk '/^$/ { text = ""; next } { text = text $0 "\n" } END { printf "%s", text }' | sed 1d; }
slow_first() { last_look --all >"$dir/top" && [ "$(awk 'NR == 2 { print $1 }' "$dir/top")" = "$slow" ]; }
check "one disk is slow: it is the first, and far busier than its bytes explain" soon slow_first
by_job() {
	last_look --jobs >"$dir/top" &&
		awk '$1 == "greedy" && $4 != "0" && $6 == "0" { g = 1 } $1 == "busy" && $7 != "0" { b = 1 } END { exit !(g && b) }' "$dir/top"
}
check "my job is slow: both jobs are there, what goes through the caches apart from collectives" soon by_job
fills() { "$ddio" status --jobs >"$dir/jobs" && [ "$(sort -h -k5,5 -r "$dir/jobs" | awk '$2 != "job" { print $2; exit }')" = greedy ]; }
check "who fills the cache: the job that reads most through it" soon fills
rm "$dir/go"
wait
check "what a job asked for stays counted when it is gone" grep -q '^io[01] *greedy ' "$dir/jobs"
# As it stands there.
sed -n '/^Three complaints$/,/^Settings$/s/^    //p' Documentation/operating.rst >"$dir/page"
check "the page has a command" grep -q '^ddio status --csv |' "$dir/page"
PATH=${ddio%/*}:$PATH bash "$dir/page" >"$dir/per"
check "... which tells each disk's time for a request" [ "$(grep -cE '^d[0-9]+ [0-9]+ us$' "$dir/per")" = 2 ]
check "a request to the slow disk takes longest" [ "$(sort -n -k2,2 "$dir/per" | tail -n 1 | cut -d' ' -f1)" = "$slow" ]
