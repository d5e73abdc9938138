#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Reactors and progress threads under ThreadSanitizer: nodes with several
# reactors, every method, a member that is killed, an orderly stop under load.
BUILD=$(cd "$(dirname "$0")/../.." && pwd)/build/tsan
. "$(dirname "$0")/lib.sh"
export TSAN_OPTIONS=exitcode=66:halt_on_error=0
crowd=$helpers/crowd

"$ddio" bench --quiet --engine mem --cps 4 --iops 2 --disks 4 --reactors 2 --size 256K \
	--patterns ra,rb,rcc,wb,wcc --records 8,8192 >"$dir/out" 2>"$dir/bench.log"
rc=$?
check "every method over nodes of two reactors: $(tail -1 "$dir/bench.log")" [ $rc -eq 0 ]
check "start" start_cluster c --iops 2 --disks 3 --reactors 3 --engine mem --disk-size 32M \
	--block-size 8K --timeout-ms 10000
head -c 3000000 /dev/urandom >"$dir/in"
check "import" "$ddio" import "$dir/in" f
check "export" cmp "$dir/in" <("$ddio" export f -)
"$crowd" -n 4 -s 1048576 -w >"$dir/crowd.log" 2>&1
check "collective writes" [ "$(grep -c ' ok 1' "$dir/crowd.log")" = 4 ]
"$crowd" -n 4 -c 400 -s 1048576 -k kill -v 1 -a 300 >"$dir/killed.log" 2>&1
check "a member killed" [ "$(grep -c ' err -103 ' "$dir/killed.log")" = 3 ]
"$crowd" -n 4 -c 4000 -s 1048576 -w >"$dir/stopped.log" 2>&1 &
sleep 0.5
check "an orderly stop under load" stop_cluster c
wait $!
check "... is told to every process" [ "$(grep -c ' err -' "$dir/stopped.log")" = 4 ]
check "no report of ThreadSanitizer" bash -c "! grep -l 'WARNING: ThreadSanitizer' '$dir'/*.log '$dir'/*/*.log"
