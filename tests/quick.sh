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

chosen() {
	local p
	[ ${#patterns[@]} -gt 0 ] || return 0
	for p in "${patterns[@]}"; do
		# shellcheck disable=SC2254
		case $1 in $p | */$p) return 0 ;; esac
	done
	return 1
}

# unchanged OK: since that test of the tree passed, no file or folder of the tree has changed
unchanged() {
	[ "$build" = quick ] && [ -e "$1" ] &&
		[ -z "$(find . \( -path ./build -o -path ./.git \) -prune -o -newer "$1" -print -quit)" ]
}

# Programs to build, files that say that a test has passed, and those of them that make is asked for.
bins=() oks=() wanted=()
while read -r f; do
	n=$(basename "$f" .c)
	chosen "unit/${n#test_}" || continue
	bins+=("$out/${f%.c}")
	oks+=("$out/${f%.c}.ok")
	wanted+=("$out/${f%.c}.ok")
done < <(find tests/unit -name 'test_*.c' | sort)
tree=
for f in $(grep -lE '^# quick' tests/tree/*.sh tests/tree/*.pl); do
	n=$(basename "$f")
	chosen "tree/${n%.*}" || continue
	tree=all
	oks+=("$out/tree/$n.ok")
	unchanged "$out/tree/$n.ok" || wanted+=("$out/tree/$n.ok")
done
[ ${#oks[@]} -gt 0 ] || { echo "quick.sh: no test has such a name: ${patterns[*]}" >&2; exit 2; }

mk $tree ${bins[@]+"${bins[@]}"} || exit
if [ "$build" = quick ]; then
	perl tests/unit/needs.pl "$out" ${bins[@]+"${bins[@]}"} >"$out/needs.mk" || exit
else
	rm -f "${oks[@]}"
fi
before=$(date +%s.%N)
[ ${#wanted[@]} -eq 0 ] || mk -k "${wanted[@]}" >"$out/quick.out" 2>&1

passed=0 failed=0 skipped=0 kept=0
for ok in "${oks[@]}"; do
	log=${ok%.ok}.log name=${ok#"$out"/}
	line=$(grep -aoE '[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log" 2>/dev/null | tail -n 1)
	read -r p _ f _ s _ <<<"${line:-0 passed, 0 failed}"
	[ -e "$ok" ] && [ "${f%,}" = 0 ] || {
		f=$((${f%,} ? ${f%,} : 1))
		echo "${name%.ok} failed:"
		grep -aE -B 3 'FAIL|runtime error|Sanitizer|^ +[0-9]+\. .*:[0-9]+ |^[a-z]+: ' "$log" 2>/dev/null |
			tail -n 40 | cut -c1-300 | sed 's/^/    /'
		[ -s "$log" ] || tail -n 5 "$out/quick.out"
	}
	passed=$((passed + p)) failed=$((failed + ${f%,})) skipped=$((skipped + ${s:-0}))
	[ "$(stat -c %.Y "$log")" \> "$before" ] || kept=$((kept + 1))
done
echo "${#oks[@]} tests, $kept of them kept, $(($(date +%s) - begin)) s"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
