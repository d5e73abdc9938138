#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 180
# Live daemons that are sent anything, by those that have the key, and by others that have none, while somebody works: all that
# works as if they were not there.  No daemon dies, none takes more memory or descriptors than its bounds say.
#
#   DDIO_HOSTILE=600 SEED=17 tests/cluster/hostile.sh      for ten minutes
. "$(dirname "$0")/lib_mount.sh"
seconds=${DDIO_HOSTILE:-15} seed=${SEED:-1}
# What is freed stays in AddressSanitizer's quarantine, of this size; it is no memory that somebody holds.
export ASAN_OPTIONS=$ASAN_OPTIONS:quarantine_size_mb=16
m=$dir/m
# Who has the key may take what a disk has: as much as 24 files can be given there is left over.
check "start" start_cluster a --iops 2 --disks 4 --engine aio --files --disk-size 64G --block-size 32K --cache 8M \
	--timeout-ms 3000
mount_at m hard,cache=none || exit 1

# The inodes that the hostile may do with as they like; others have greater numbers.
for ((i = 0; i < 24; i++)); do
	if ((i % 4)); then echo "$i" >"$m/given$i"; else mkdir "$m/given$i"; fi
done
mkdir "$m/own"
check "they have their inodes" [ "$(stat -c %i "$m/given0")" = 16 ]
check "... and none of others" [ "$(stat -c %i "$m/own")" -ge 40 ]

# memory: of all daemons together, in KB; descriptors: the most of one
daemons() { cat "$dir/a/io0.pid" "$dir/a/io1.pid"; }
memory() { for p in $(daemons); do awk '/^RssAnon/ { print $2 }' "/proc/$p/status"; done | awk '{ n += $1 } END { print n + 0 }'; }
descriptors() { for p in $(daemons); do find "/proc/$p/fd" 2>/dev/null | wc -l; done | sort -n | tail -n 1; }
bound() { # name, column: the most of all nodes
	"$ddio" status --bounds | awk -v b="$1" -v c="$2" '$2 == b && $c > n { n = $c } END { print n + 0 }'
}
before=$(daemons) first=$(memory) most=0 fds=0

"$helpers/honest" "$m/own" "$seconds" "$seed" >"$dir/honest.out" 2>&1 &
honest=$!
"$helpers/scribe" write "$seed" "$dir/scribe.ledger" >"$dir/scribe.out" 2>&1 &
scribe=$!
hostile=()
for n in 0 1; do
	"$helpers/hostile" "$DDIO_CONF" "io$n" "$seconds" $((2 * seed + n)) >"$dir/hostile$n.out" 2>&1 &
	hostile+=($!)
done
while kill -0 "$honest" 2>/dev/null; do
	now=$(memory) open=$(descriptors)
	((now > most)) && most=$now
	((open > fds)) && fds=$open
	sleep 0.5
done

wait "$honest"
check "who works notices nothing of them" [ $? = 0 ]
cat "$dir/honest.out"
check "nor who uses the library" kill -0 "$scribe"
kill -9 "$scribe"
wait "$scribe" 2>/dev/null
check "... and finds all that was acknowledged" "$helpers/scribe" cut "$dir/scribe.ledger"
for n in 0 1; do
	wait "${hostile[n]}"
	check "the hostile have come to their end" [ $? = 0 ]
	cat "$dir/hostile$n.out"
	said=$(awk '/^messages/ { print $2 }' "$dir/hostile$n.out") got=$(awk '/^messages/ { print $4 }' "$dir/hostile$n.out")
	check "they were heard: $said" [ "${said:-0}" -gt $((10 * seconds)) ]
	check "... and answered: $got" [ "${got:-0}" -gt $((2 * seconds)) ]
done
check "no daemon has died" [ "$(daemons)" = "$before" ]
echo "space left: $(df --output=avail "$m" | tail -n 1) KB"
echo "memory $first KB before, $most KB at most, $(memory) KB after; descriptors $fds at most"
check "memory is bounded" [ "$most" -lt $((first + 400000)) ]
check "descriptors are bounded" [ "$fds" -lt 200 ]
check "nobody had more replies unread than may" [ "$(bound unread/connection 5)" -lt $(((1 << 20) + (256 << 10))) ]
for b in groups/connection waits/mount holds/disk unproved carried/connection held/connection; do
	left() { [ "$(bound "$b" 4)" = 0 ]; }
	check "nothing is left of $b" soon left
done
listed() { "$ddio" ls / >"$dir/ls" && grep -q own "$dir/ls"; }
check "a new program is served" listed
unmount m || not_ok "unmount"
stop_cluster a
