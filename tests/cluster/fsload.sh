#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# fsload itself, on a local directory: it accepts correct files, also where an operation that was not
# fsync'ed is missing, and finds a wrong byte, name or length.
. "$(dirname "$0")/lib.sh"
load=$helpers/fsload
seed=${DDIO_SEED:-1}

# loaded NAME OPERATIONS [PROCESSES]: makes a directory and its log
loaded() {
	rm -rf "${dir:?}/$1" "$dir/$1.log".*
	mkdir "$dir/$1" && "$load" run "$dir/$1" "$dir/$1.log" "$seed" "${3:-1}" "$2"
}
wrong() {
	"$load" check "$@" >"$dir/said" && return 1
	grep -q WRONG "$dir/said"
}

check "a load of three processes" loaded a 2000 3
check "all is there" "$load" check "$dir/a" "$dir/a.log" all
check "... also if nothing is assumed" "$load" check "$dir/a" "$dir/a.log"

for r in 1 2 3 4 5; do
	rm -rf "$dir/k" "$dir/k.log".*
	mkdir "$dir/k"
	setsid "$load" run "$dir/k" "$dir/k.log" $((seed + r)) 2 1000000 &
	pid=$!
	in_time 20 sh -c 'until [ -s "$1" ]; do sleep 0.01; done' _ "$dir/k.log.0"
	sleep 0.$((RANDOM % 5 + 1))
	kill -9 -$pid
	wait $pid 2>/dev/null
	check "killed: all is there" "$load" check "$dir/k" "$dir/k.log"
done

f=$(find "$dir/a" -type f -size +20k | sort | head -1)
cp "$f" "$dir/saved"
printf '\0' | dd of="$f" bs=1 seek=20000 conv=notrunc status=none
cmp -s "$f" "$dir/saved" && printf 'x' | dd of="$f" bs=1 seek=20000 conv=notrunc status=none
check "a byte that is wrong is found" wrong "$dir/a" "$dir/a.log" all
check "... and named" grep -q "$(basename "$f").*byte 20000" "$dir/said"
cp "$dir/saved" "$f"
check "with the fault undone, the check passes" "$load" check "$dir/a" "$dir/a.log" all
truncate -s -1 "$f"
check "a byte too few is found" wrong "$dir/a" "$dir/a.log" all
cp "$dir/saved" "$f"
mv "$f" "$dir/moved"
check "a name that is gone is found" wrong "$dir/a" "$dir/a.log" all
mv "$dir/moved" "$f"
touch "$dir/a/p0/d0/stranger"
check "a name too many is found" wrong "$dir/a" "$dir/a.log" all
rm "$dir/a/p0/d0/stranger"
check "with the fault undone, the check passes" "$load" check "$dir/a" "$dir/a.log" all

# Runs fewer operations of the same seed, as if a crash had lost the last ones.  That is accepted between a write and
# the next fsync of anything, but not once the file was fsync'ed.
loaded b 3000 >/dev/null
may=$(awk '/^B/ { if ($3 == 7 || $3 == 14) n = 0; else if ($3 == 1 && !n) n = $2
	if (n && $2 >= n + 3) { print n; exit } }' "$dir/b.log.0")
# Finds a WRITE and an FSYNC of the same name with nothing between them that matters.
lost=$(awk '/^B/ { if ($3 == 1) { n = $2; a = $4 } else if ($3 == 7 && n && $4 == a) { print n, $2; exit }
	else if ($3 != 15) n = 0 }' "$dir/b.log.0")
check "the log has both cases" [ -n "$may" -a -n "$lost" ]
loaded short $((may - 1))
loaded long $((may + 3))
check "what was not fsync'ed may be lost" "$load" check "$dir/short" "$dir/long.log"
loaded short $((${lost% *} - 1))
loaded long ${lost#* }
check "what was fsync'ed may not" wrong "$dir/short" "$dir/long.log"
check "... and is there" "$load" check "$dir/long" "$dir/long.log"
