#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# A short run of one fuzzer: the seed corpus, every input that ever failed, then
# a fixed number of mutations.  FUZZ_RUNS makes it longer, FUZZ_SECONDS ends it by the clock.  A whole I/O processor takes its time.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/patience.sh
name=$1
bin=build/fuzz/tests/fuzz/$name
dir=$(mktemp -d "build/fuzz/$name.XXXXXX") || exit 2
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/corpus"
# The trap also removes what the fuzzer writes.
export TMPDIR=$PWD/$dir
if [ -x build/fuzz/tests/fuzz/make_corpus ]; then
	build/fuzz/tests/fuzz/make_corpus "$name" "$dir/corpus" || exit 1
fi
[ -d "tests/fuzz/seeds/$name" ] && cp "tests/fuzz/seeds/$name"/* "$dir/corpus/"
if [ -d "tests/fuzz/regress/$name" ]; then
	"$bin" "tests/fuzz/regress/$name"/* || exit 1
fi
seed=${DDIO_SEED:-1}
runs=60000
[ "$name" = fuzz_server ] && runs=3000
[ -n "${FUZZ_SECONDS:-}" ] && runs=-1
echo "$name: seed $seed"
"$bin" -seed="$seed" -runs="${FUZZ_RUNS:-$runs}" -max_len=8192 -timeout=$((20 * DDIO_PATIENCE)) -rss_limit_mb=2048 \
	${FUZZ_SECONDS:+-max_total_time="$FUZZ_SECONDS"} -artifact_prefix="$dir/" -print_final_stats=1 "$dir/corpus" || {
	for f in "$dir"/crash-* "$dir"/leak-* "$dir"/oom-* "$dir"/timeout-*; do
		[ -e "$f" ] && { echo "$f:"; base64 "$f"; }
	done
	exit 1
}
