#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the unit tests do not see: changes one source in small ways, one at a time, builds the unit
# programs that link it, and reports the changes that all of them let pass.
#
#   make mutants F=userlib/map/place.c [T='map_* cp_methods'] [N=50]
#
# T: only these programs; N: that many of the mutants, spread over the file.  Works on a copy of the
# tree in build/mutants.  A survivor is a test that is missing, or a change that changes nothing.
set -u
cd "$(dirname "$0")/../.." || exit 2
file=${1:-} most=${2:-0}
shift 2
patterns=("$@")
[ -f "$file" ] || { echo "usage: make mutants F=FILE [T=TESTS] [N=NUMBER]" >&2; exit 2; }
copy=build/mutants
mkdir -p $copy
find . -path ./build -prune -o -path ./.git -prune -o -type f -print0 |
	tar --null -T - -cf - | tar -C $copy -xf - || exit 1
# Objects of make quick are new enough; programs are not, for they know where their library is.
[ ! -d build/quick ] || [ -d $copy/build ] ||
	find build/quick -name '*.[od]' -print0 | tar --null -T - -cf - | tar -C $copy -xf -
list=$PWD/$copy/mutants.list
perl tests/mutants/make.pl "$file" >"$list" || exit 1
if [ "$most" -gt 0 ]; then
	awk -v want="$most" '{ l[NR] = $0 } END { for (i = 0; i < want && i < NR; i++) print l[int(i * NR / (want < NR ? want : NR)) + 1] }' \
		"$list" >"$list.some" && mv "$list.some" "$list"
fi
cp "$file" $copy/original.c
cd $copy || exit 1
mk() { make --no-print-directory -s -j"$(nproc)" D=quick UNIT_BOUND=60 "$@" >out.log 2>&1; }

echo "building, and the tests as they are"
tests/quick.sh quick "${patterns[@]:-unit/*}" >out.log 2>&1 || { tail -n 20 out.log; exit 1; }
oks=()
while read -r ok; do
	[ ! -e "$ok" ] || oks+=("$ok")
done < <(grep -F " build/quick/${file%.c}.o" build/quick/needs.mk | cut -d: -f1)
[ ${#oks[@]} -gt 0 ] || { echo "no unit program links $file"; exit 1; }
echo "$(wc -l <"$list") mutants, ${#oks[@]} programs: $(printf '%s ' "${oks[@]}" | sed 's|[^ ]*/test_||g; s|\.ok||g')"
killed=0 survived=0 stillborn=0
while IFS=$'\t' read -r line what text; do
	printf '%s\n' "$text" >text.tmp
	awk -v n="$line" 'NR == n { while ((getline t <"text.tmp") > 0) print t; next } { print }' original.c >"$file"
	if ! mk build/quick/libddio-all.so "${oks[@]%.ok}"; then
		stillborn=$((stillborn + 1))
	elif mk "${oks[@]}"; then
		survived=$((survived + 1))
		echo "survived: $file:$line: $what:$(sed 's/^[ \t]*/ /' <<<"$text")"
	else
		killed=$((killed + 1))
	fi
done <"$list"
cp original.c "$file"
echo "$killed killed, $survived survived, $stillborn did not compile"
