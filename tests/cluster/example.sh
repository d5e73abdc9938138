#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 60
# Runs the example program, which is built only from what a user has.
. "$(dirname "$0")/lib.sh"
hello=$top/build/tests/examples/hello_collective

check "start a cluster" start_cluster a --iops 3 --engine mem --disk-size 32M
for n in 1 4 7; do
	"$hello" "$DDIO_CONF" "127.0.0.1:$((20000 + RANDOM % 20000))" $n >"$dir/out"
	check "hello_collective with $n processes" [ $? -eq 0 ]
	check "... each says that all is well" [ "$(grep -c ' 0 wrong; 3 I/O processors got 3 requests' "$dir/out")" = $n ]
done
check "the file is there" [ "$("$ddio" ls)" = hello ]
check "in full" grep -q '^ *4194304 ' <("$ddio" ls -l)
fails "a wrong configuration" "nowhere" "$hello" "$dir/nowhere" 127.0.0.1:7600 1
check "stop" stop_cluster a
