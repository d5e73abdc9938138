#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# quick tools fuse userlib/base userlib/conf userlib/env userlib/libddio.map Documentation/man
# Options in the tables and in the manual pages agree, both ways; pages are well formed.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${O:-build}
ddio=$build/ddio
passed=0 failed=0 skipped=0
bad() {
	echo "manpages: $*"
	failed=$((failed + 1))
}
# compare PAGE PROGRAM-TEXT-WITH-OPTIONS
compare() {
	local page=$1 have want
	if [ ! -e "$page" ]; then
		bad "$page: missing"
		return
	fi
	have=$(grep -oE 'Fl -[a-z0-9][a-z0-9-]*' "$page" | sed 's/Fl -/--/' | sort -u)
	want=$(grep -E '^--' <<<"$2" | grep -v '^--help$' | sort -u)
	have=$(grep -v '^--help$' <<<"$have")
	if [ "$have" = "$want" ]; then passed=$((passed + 1)); else
		bad "$page: differs from the option table:"
		diff <(echo "$want") <(echo "$have") | sed 's/^</  table only:/;s/^>/  page only:/' | grep only
	fi
}
for c in $($ddio completion options); do
	compare "Documentation/man/ddio-$c.1" "$($ddio completion options "$c")"
	grep -q "ddio-$c" Documentation/man/ddio.1 || bad "ddio.1 does not name ddio-$c"
done
for c in $("$build"/ddio-lab --list names); do
	grep -q "ddio-$c" Documentation/man/ddio-lab.1 || bad "ddio-lab.1 does not name ddio-$c"
done
compare Documentation/man/ddiod.8 "$("$build"/ddiod --help | grep -oE -- '--[a-z][a-z-]*')"
compare Documentation/man/ddiofs.8 "$("$build"/ddiofs --help | grep -oE -- '--[a-z][a-z-]*')"
# The mount options: each has an .It Cm of its own, or is in one with commas.
have=$(sed -n '/^.Sh MOUNT OPTIONS/,/^.Sh SIGNALS/s/^\.It Cm //p' Documentation/man/ddiofs.8 |
	sed 's/ Ns = Ns Cm .*//; s/Ns = Ns Ar [A-Z]*//g; s/ Cm / /g; s/[ ,][ ,]*/\n/g' |
	sed '/^$/d' | grep -vE '^(none|always)$' | sort -u)
want=$("$build"/ddiofs --list-options | sort -u)
# "auto" is a mode of the cache, too.
if [ "$have" = "$want" ]; then passed=$((passed + 1)); else
	bad "ddiofs.8: differs from the table of options:"
	diff <(echo "$want") <(echo "$have") | grep '^[<>]'
fi
# Symbolic links share a page.
mapfile -t pages < <(find Documentation/man -type f -name '*.[1-8]' | sort)
if command -v mandoc >/dev/null; then
	mapfile -t said < <(mandoc -T lint -W warning "${pages[@]}" 2>&1 |
		grep -vE 'unusual Xr|referenced manual not found|STYLE')
	for line in ${said[@]+"${said[@]}"}; do bad "$line"; done
	[ ${#said[@]} -gt 0 ] || passed=$((passed + ${#pages[@]}))
else
	skipped=1
fi
# named NAMES WHAT: each name that comes in is one of NAMES, which have a space before and after each; WHAT is
# said of one that is not
named() {
	local f
	while read -r f; do
		case $1 in
		*" $f "*) passed=$((passed + 1)) ;;
		*) bad "$f$2" ;;
		esac
	done
}
# Every function of the library is named by a page of its name.
paged=" $(awk '$1 == ".Nm" && FILENAME ~ "/" $2 "[.]3$" { print $2 }' Documentation/man/ddio_*.3 | xargs) "
named "$paged" " has no manual page" < <(grep -oE '\<ddio_[a-z_]+;' userlib/libddio.map | tr -d ';')
# Every option of the configuration is in its page; unit/env_manual checks the engines' options.
items=" $(sed -n 's/^\.It Cm \([^ ]*\).*/\1/p' Documentation/man/ddio.conf.5 | xargs) "
named "$items" " is missing in ddio.conf.5" < <("$build"/ddiod --list-conf)
if $ddio completion bash | bash -n; then passed=$((passed + 1)); else bad "the completion script"; fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
