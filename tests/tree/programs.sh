#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the user's programs carry: ddio and ddiofs have no symbol of the I/O processor, the
# simulator or the fault tester; ddio-lab, which ddio runs for the laboratory's commands, has.
set -u
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0
check() {
	local what=$1
	shift
	if "$@"; then passed=$((passed + 1)); else
		echo "programs: $what"
		failed=$((failed + 1))
	fi
}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT

# defined OPTION FOLDER...: symbols that the objects below the folders define, with -g global ones only
defined() {
	local option=$1
	shift
	find "$@" -name '*.o' -exec nm --defined-only "$option" {} + 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u
}
inner=(build/userlib/iop build/userlib/sim build/tools/lab)
user=(build/userlib/base build/userlib/conf build/userlib/map build/userlib/proto build/userlib/conn build/userlib/mux
	build/userlib/env build/userlib/cp build/kmod/shared build/tools/common build/tools/ddio build/fuse)
defined -g "${inner[@]}" >"$tmp/inner"
defined -a "${user[@]}" >"$tmp/user"
comm -23 "$tmp/inner" "$tmp/user" >"$tmp/secret"
check "no symbols of the I/O processor in build/" [ "$(wc -l <"$tmp/secret")" -gt 100 ]

# carries PROGRAM: the symbols of the inner rooms that it has
carries() { nm --defined-only "$1" | awk 'NF == 3 { print $3 }' | sort -u | comm -12 - "$tmp/secret"; }
for p in ddio ddiofs; do
	carries build/$p >"$tmp/found"
	check "build/$p links $(head -3 "$tmp/found" | tr '\n' ' ')..." [ ! -s "$tmp/found" ]
done
carries build/ddio-lab >"$tmp/found"
check "build/ddio-lab has no simulator" grep -q '^ddio_sim_new$' "$tmp/found"

# ddio runs each command of ddio-lab, from any directory.
for c in $(build/ddio-lab --list names); do
	check "ddio does not list $c" grep -q "^  $c " <(build/ddio help)
	check "ddio does not run $c" grep -q "^Usage: ddio $c " <(cd / && "$OLDPWD/build/ddio" "$c" --help)
	check "completion does not know $c" grep -q "^	$c) .*--help" <(build/ddio completion bash)
done
check "a command that neither has" bash -c "build/ddio nonsense 2>/dev/null; [ \$? = 2 ]"
# Without ddio-lab, ddio has all its own commands.
cp build/ddio "$tmp/"
check "ddio alone" grep -q "ddio-lab is not installed" <(PATH=/nowhere "$tmp/ddio" help)
check "ddio alone, asked for more" grep -q "ddio-lab is not installed" <(PATH=/nowhere "$tmp/ddio" bench 2>&1)
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
