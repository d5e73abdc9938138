#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# The state of nodes as OpenMetrics: what it says, who can hold it up, Prometheus that reads it.
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
	check "it is OpenMetrics" $scrape parse "$dir/all"
else
	skipped=$((skipped + 1))
	echo "skipped: it is OpenMetrics: no python3-prometheus-client here"
fi
kill "$(cat "$dir/c/io1.pid")"
while [ -e "$dir/c/io1.pid" ]; do sleep 0.05; done
"$ddio" status --metrics >"$dir/one"
check "a node that is down is a failure" [ $? = 1 ]
check "... and told" grep -q '^ddio_node_up{node="io1",.*} 0$' "$dir/one"
check "... without figures" test "$(grep -c 'io1' "$dir/one")" = 1

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
	check "promtool: the rules" "$bin/promtool" check rules $alerts
	"$bin/prometheus" --config.file="$dir/p.yml" --storage.tsdb.path="$dir/tsdb" --web.listen-address=127.0.0.1:$at \
		>"$dir/p.log" 2>&1 &
	p=$!
	check "Prometheus has read the node" scraped
	check "... and no alert cannot be computed" eval '! asked "http://127.0.0.1:$at/api/v1/rules" | grep -q "\"health\":\"err\""'
	kill $p
	wait $p
else
	skipped=$((skipped + 3))
	echo "skipped: Prometheus cannot be fetched here"
fi
# The connection above is still open.
kill "$(cat "$dir/c/io1.pid")"
ended() { for _ in $(seq $((50 * DDIO_PATIENCE))); do [ -e "$dir/c/io1.pid" ] || return 0; sleep 0.1; done; return 1; }
check "a daemon stops with somebody connected" ended
check "stop" stop_cluster c
