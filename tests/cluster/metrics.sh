#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# The state of nodes as Prometheus reads it: what it says, who can hold it up, Prometheus that reads it.
. "$(dirname "$0")/lib.sh"
python=/usr/bin/python3
scrape="$python tests/helpers/scrape.py"
alerts=tools/monitoring/ddio-alerts.yml dashboard=tools/monitoring/ddio-grafana.json

check "start" start_cluster c --iops 2 --engine mem --disk-size 64M
check "something to count" eval 'head -c 1000000 /dev/urandom >"$dir/f" && "$ddio" import "$dir/f" && "$ddio" export f "$dir/g"'
"$ddio" status --metrics >"$dir/all"
# sum FILE METRIC: of all nodes
sum() { awk -v m="$2" 'index($1, m "{") == 1 { n += $2 } END { printf "%d\n", n }' "$1"; }
csv() {
	"$ddio" status --csv | awk -F, -v c="$1" 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i }
		NR > 1 { n += $col[c] } END { printf "%d\n", n }'
}
check "both nodes answer" test "$(sum "$dir/all" ddio_node_up)" = 2
for pair in write_bytes:ddio_disk_written_bytes_total writes:ddio_disk_writes_total objects:ddio_disk_objects \
	size:ddio_disk_size_bytes cache_misses:ddio_disk_cache_misses_total; do
	check "${pair#*:} is what --csv says" test "$(csv "${pair%:*}")" = "$(sum "$dir/all" "${pair#*:}")"
done
check "... and not 0" test "$(sum "$dir/all" ddio_disk_writes_total)" -gt 0
check "seconds are seconds" grep -qE '^ddio_node_serving_seconds_total\{node="io0"\} [0-9]{1,3}\.[0-9]{9}$' "$dir/all"
check "each column of --csv is told" test "$(grep -c '^# TYPE ddio_disk_' "$dir/all")" = \
	"$("$ddio" status --csv | head -n 1 | tr , '\n' | sed 1,4d | wc -l)"
check "all that rules and dashboard ask for is told" $scrape known "$dir/all" $alerts $dashboard
if $python -c 'import prometheus_client' 2>/dev/null; then
	check "it is Prometheus' text" $scrape parse "$dir/all"
else
	skipped=$((skipped + 1))
	echo "skipped: it is Prometheus' text: no python3-prometheus-client here"
fi

# Whose they are.
export DDIO_JOB="job 4711"
"$ddio" import "$dir/f" f2 && "$ddio" export f2 - >/dev/null
DDIO_JOB='' SLURM_JOB_ID=99 "$ddio" export f2 - >/dev/null
"$ddio" bench --conf "$DDIO_CONF" --cps 2 --size 1M --patterns rb,wb --records 8192 --methods dd >"$dir/bench"
unset DDIO_JOB
"$ddio" status --jobs >"$dir/jobs"
check "a job is counted under its name, made harmless" grep -qE '^io0 +job_4711 +0 +[1-9]' "$dir/jobs"
check "so is who has none" grep -qE '^io0 +\(none\) ' "$dir/jobs"
"$ddio" status --metrics >"$dir/all"
# job NAME METRIC: of all nodes
job() { awk -v j="$1" -v m="ddio_job_$2" 'index($1, m "{") == 1 && index($0, "job=\"" j "\"") { n += $NF } END { printf "%d\n", n }' "$dir/all"; }
check "what it read through the caches" [ "$(job job_4711 read_bytes_total)" -ge 1000000 ]
check "... and wrote" [ "$(job job_4711 written_bytes_total)" -ge 1000000 ]
check "what it read together" [ "$(job job_4711 collective_read_bytes_total)" -ge 1048576 ]
check "... and wrote" [ "$(job job_4711 collective_written_bytes_total)" -ge 1048576 ]
check "DDIO_JOB that is empty is no job" [ "$(job 99 read_bytes_total)" = 0 ]
SLURM_JOB_ID=99 "$ddio" export f2 - >/dev/null
"$ddio" status --metrics >"$dir/all"
check "what Slurm calls it" [ "$(job 99 read_bytes_total)" = 1000000 ]
"$ddio" top --jobs --count 1 >"$dir/top"
check "top shows jobs" grep -qE '^job_4711 +0 +[0-9.]+ ' "$dir/top"

# The same for people.
"$ddio" top --all --delay 100ms --count 2 >"$dir/top"
check "top looks twice" [ "$(grep -c '2 of 2 nodes up, 2 disks:' "$dir/top")" = 2 ]
check "... at all disks" [ "$(grep -cE '^d[0-9]+ +io[01] +mem +[0-9]+% ' "$dir/top")" = 4 ]
check "... with an empty line between" [ "$(grep -c '^$' "$dir/top")" = 1 ]
check "idle disks are left out" [ "$("$ddio" top --delay 100ms --count 2 | sed '1,/^$/d' | grep -c ' mem ')" = 0 ]
fails "a delay of nothing" "delay" "$ddio" top --delay 0s
check "q ends it" [ "$($python tests/helpers/keys.py q "$ddio" top)" = "exit 0, terminal as before" ]
check "an interrupt ends it" [ "$($python tests/helpers/keys.py SIGINT "$ddio" top)" = "signal 2, terminal as before" ]
for size in "--cols 20" "--cols 1 --rows 2" "--rows 30 --cols 100 --resize 5x20" "--rows 5 --cols 20 --resize 40x200"; do
	for what in --all --jobs; do
		# shellcheck disable=SC2086
		check "nothing goes beyond a terminal, with $size: $what" [ "$($python tests/helpers/keys.py $size q "$ddio" top $what --delay 300ms)" = \
			"exit 0, terminal as before" ]
	done
done
check "a terminal of three lines" [ "$($python tests/helpers/keys.py --rows 3 q "$ddio" top --all)" = "exit 0, terminal as before" ]

kill "$(cat "$dir/c/io1.pid")"
while [ -e "$dir/c/io1.pid" ]; do sleep 0.05; done
"$ddio" status --metrics >"$dir/one"
check "a node that is down is a failure" [ $? = 1 ]
check "... and told" grep -q '^ddio_node_up{node="io1",.*} 0$' "$dir/one"
check "... without figures" test "$(grep -c 'io1' "$dir/one")" = 1
check "top says which" eval '"$ddio" top --count 1 >"$dir/top" && grep -q "^io1 is down: " "$dir/top"'
check "... and how many" grep -q ' 1 of 2 nodes up' "$dir/top"

# The daemon itself.
port=$((20000 + RANDOM % 20000))
daemon() {
	"$build/ddiod" --conf "$DDIO_CONF" --node io1 --pid-file "$dir/c/io1.pid" --log-file "$dir/c/io1.log" --metrics "$@"
}
taken=$(sed -n '/node io0/,/^\[disk/s/^address = //p' "$DDIO_CONF")
fails "an address in use" "cannot tell metrics at $taken: Address already in use" daemon "$taken"
fails "what is no address" "cannot tell metrics at nonsense" daemon nonsense
check "a daemon with --metrics" daemon 127.0.0.1:$port
status_of() { [ "$($scrape get $port "$1")" = "HTTP/1.1 $2" ]; }
check "GET /metrics" status_of /metrics "200 OK"
check "GET /metrics?x" status_of '/metrics?x' "200 OK"
check "GET /" status_of / "404 Not Found"
check "GET /metricsandmore" status_of /metricsandmore "404 Not Found"
check "POST /metrics" status_of 'POST /metrics' "405 Method Not Allowed"
for c in "crowd $port 100" "slow $port" "stopped $port" "long $port"; do
	# shellcheck disable=SC2086
	check "others get an answer beside: ${c%% *}" in_time 60 $scrape $c
done
lines=$(wc -l <"$dir/c/io1.log")
for _ in 1 2 3 4 5; do $scrape get $port / >/dev/null; done
check "nothing of it is logged" test "$(wc -l <"$dir/c/io1.log")" = "$lines"
exec 3<>/dev/tcp/127.0.0.1/$port

# A real Prometheus, of Debian, which is not installed here: it would start, and listen everywhere.
prometheus() {
	local cache=${DDIO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ddio}/prometheus
	[ -x "$cache/usr/bin/prometheus" ] && return
	mkdir -p "$cache" && (cd "$cache" && in_time 30 apt-get -qq download prometheus >/dev/null 2>&1) &&
		dpkg -x "$cache"/prometheus_*.deb "$cache" && rm -f "$cache"/*.deb
}
asked() { $python -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=10).read().decode())' "$1"; }
scraped() {
	local i
	for ((i = 0; i < 150 * DDIO_PATIENCE; i++)); do
		asked "http://127.0.0.1:$at/api/v1/query?query=ddio_node_up" 2>/dev/null | grep -q '"node":"io1".*"1"\]' && return
		sleep 0.1
	done
	return 1
}
if prometheus; then
	bin=${DDIO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ddio}/prometheus/usr/bin
	at=$((port + 1))
	printf 'global: { scrape_interval: 200ms }\nrule_files: ["%s"]\nscrape_configs:\n- job_name: ddio\n  static_configs: [{ targets: ["127.0.0.1:%s"] }]\n' \
		"$top/$alerts" $port >"$dir/p.yml"
	check "promtool: the metrics" "$bin/promtool" check metrics <"$dir/all"
	$scrape text $port >"$dir/told"
	check "... and those that a daemon tells" "$bin/promtool" check metrics <"$dir/told"
	check "promtool: the rules" "$bin/promtool" check rules $alerts
	check "... and each alert when it is due" "$bin/promtool" test rules tests/data/monitoring/alerts.yml
	check "... of which none is left out" diff <(sed -n 's/.*- alert: //p' $alerts | sort) \
		<(sed -n 's/.*alertname: \([A-Za-z]*\).*/\1/p' tests/data/monitoring/alerts.yml | sort -u)
	"$bin/prometheus" --config.file="$dir/p.yml" --storage.tsdb.path="$dir/tsdb" --web.listen-address=127.0.0.1:$at \
		>"$dir/p.log" 2>&1 &
	p=$!
	check "Prometheus has read the node" scraped
	check "... and no alert cannot be computed" eval '! asked "http://127.0.0.1:$at/api/v1/rules" | grep -q "\"health\":\"err\""'
	check "... and it computes each panel of the dashboard" $scrape panels $at $dashboard
	DDIO_JOB=watched "$ddio" status >"$dir/out"
	named() { asked "http://127.0.0.1:$at/api/v1/query?query=ddio_job_requests_total" | grep -q '"exported_job":"watched"'; }
	check "... with jobs by their names, beside Prometheus's own" soon named
	kill $p
	wait $p
else
	skipped=$((skipped + 9))
	echo "skipped: Prometheus cannot be fetched here"
fi
# The connection above is still open.
kill "$(cat "$dir/c/io1.pid")"
ended() { for _ in $(seq $((50 * DDIO_PATIENCE))); do [ -e "$dir/c/io1.pid" ] || return 0; sleep 0.1; done; return 1; }
check "a daemon stops with somebody connected" ended
check "stop" stop_cluster c
