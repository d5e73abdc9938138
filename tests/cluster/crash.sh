#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Kills every daemon (SIGKILL) at a random moment under load, 100 times over the
# same store: synced data are there, and fsck finds the store consistent.  ROUNDS
# and DDIO_SEED repeat a run.
. "$(dirname "$0")/lib.sh"
rounds=${ROUNDS:-100}
seed=${DDIO_SEED:-1}
RANDOM=$seed
echo "seed $seed, $rounds rounds"
check "start" start_cluster c --iops 3 --engine aio --files --disk-size 16M --block-size 32K \
	--timeout-ms 4000

restart_all() {
	local n p=()
	for n in 0 1 2; do
		"$build/ddiod" --conf "$DDIO_CONF" --node io$n --pid-file "$dir/c/io$n.pid" \
			--log-file "$dir/c/io$n.log" &
		p+=($!)
	done
	for n in "${p[@]}"; do wait "$n" || return 1; done
}

for ((r = 1; r <= rounds; r++)); do
	"$helpers/scribe" write $((seed * 1000 + r)) "$dir/ledger" >"$dir/scribe" 2>&1 &
	scribe=$!
	ms=$((RANDOM % 350 + 30))
	sleep "0.$(printf %03d $ms)"
	cat "$dir"/c/io*.pid | xargs kill -9
	wait $scribe
	if ! restart_all; then
		tail -n 3 "$dir"/c/io*.log
		not_ok "round $r (after $ms ms): a daemon does not start again"
		break
	fi
	out=$("$helpers/scribe" check "$dir/ledger" 2>&1) || {
		not_ok "round $r (after $ms ms): $out"
		break
	}
	out=$("$ddio" fsck 2>&1) || {
		not_ok "round $r (after $ms ms): fsck: $out"
		break
	}
	passed=$((passed + 1))
done
"$helpers/scribe" check "$dir/ledger"
"$ddio" fsck
check "the load got through between the kills" [ "$(grep -c "done" "$dir/ledger")" -gt "$rounds" ]
