#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What make quick and make unit do: builds what is asked for, runs it, counts.
#
#   tests/quick.sh BUILD [PATTERN ...]     BUILD: quick, asan, tsan or '' (the plain one)
#
# Patterns are names as "cp_ops" or "unit/cp_ops".  Only in the build "quick" a test that passed is not
# run again until something that it needs is new.
set -u
cd "$(dirname "$0")/.." || exit 2
build=$1 out=build${1:+/$1}
shift
patterns=("$@")
begin=$(date +%s)
mk() { make --no-print-directory -s -j"$(nproc)" D="$build" "$@"; }

echo '#include <CUnit/Basic.h>' | "${CC:-gcc}" -E -o /dev/null - 2>/dev/null || {
	echo 'quick.sh: the unit tests need CUnit (libcunit1-dev); "make deps" installs all that building and testing need' >&2
	exit 2
}

chosen() {
	local p
	[ ${#patterns[@]} -gt 0 ] || return 0
	for p in "${patterns[@]}"; do
		# shellcheck disable=SC2254
		case $1 in $p | */$p) return 0 ;; esac
	done
	return 1
}

# unchanged OK TEST: since that test of the tree passed, no file or folder of those has changed that the test's
# head names after "# quick", or none at all where it names none
unchanged() {
	local paths
	[ "$build" = quick ] && [ -e "$1" ] || return 1
	read -ra paths < <(sed -n '1,5s/^# quick *//p' "$2")
	[ ${#paths[@]} -eq 0 ] || paths+=(tests/tree)
	[ -z "$(find "${paths[@]:-.}" \( -path ./build -o -path ./.git \) -prune -o -newer "$1" -print -quit)" ]
}

# Programs to build, files that say that a test has passed, and those of them that make is asked for.
bins=() oks=() wanted=()
while read -r f; do
	n=${f##*/} n=${n%.c}
	chosen "unit/${n#test_}" || continue
	bins+=("$out/${f%.c}")
	oks+=("$out/${f%.c}.ok")
	wanted+=("$out/${f%.c}.ok")
done < <(find tests/unit -name 'test_*.c' | sort)
tree=
for f in $(grep -lE '^# quick' tests/tree/*.sh tests/tree/*.pl); do
	n=${f##*/}
	chosen "tree/${n%.*}" || continue
	tree=all
	oks+=("$out/tree/$n.ok")
	unchanged "$out/tree/$n.ok" "$f" || wanted+=("$out/tree/$n.ok")
done
[ ${#oks[@]} -gt 0 ] || { echo "quick.sh: no test has such a name: ${patterns[*]}" >&2; exit 2; }

mk $tree ${bins[@]+"${bins[@]}"} || exit
if [ "$build" = quick ]; then
	perl tests/unit/needs.pl "$out" ${bins[@]+"${bins[@]}"} >"$out/needs.mk" || exit
else
	rm -f "${oks[@]}"
fi
touch "$out/began"
[ ${#wanted[@]} -eq 0 ] || mk -k "${wanted[@]}" >"$out/quick.out" 2>&1

# counts: of each log the passed, failed and skipped of its last count; nothing starts a process for each
counts() {
	awk '
		BEGIN { for (i = 1; i < ARGC; i++) log_of[i] = ARGV[i] }
		match($0, /[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/) { line[FILENAME] = substr($0, RSTART) }
		END {
			for (i = 1; i in log_of; i++) {
				split((log_of[i] in line) ? line[log_of[i]] : "0 passed, 0 failed", n, " ")
				print n[1], n[3] + 0, n[5] + 0
			}
		}' "$@"
}

passed=0 failed=0 skipped=0 kept=0 i=0
logs=("${oks[@]/%.ok/.log}")
for log in "${logs[@]}"; do [ -e "$log" ] || : >"$log"; done
while read -r p f s; do
	ok=${oks[i]} log=${logs[i]} i=$((i + 1))
	if [ ! -e "$ok" ] || [ "$f" != 0 ]; then
		f=$((f ? f : 1)) name=${ok#"$out"/}
		echo "${name%.ok} failed:"
		grep -aE -B 3 'FAIL|runtime error|Sanitizer|^ +[0-9]+\. .*:[0-9]+ |^[a-z]+: ' "$log" |
			tail -n 40 | cut -c1-300 | sed 's/^/    /'
		[ -s "$log" ] || tail -n 5 "$out/quick.out"
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	[ "$log" -nt "$out/began" ] || kept=$((kept + 1))
done < <(counts "${logs[@]}")
echo "${#oks[@]} tests, $kept of them kept, $(($(date +%s) - begin)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
