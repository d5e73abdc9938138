#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# Runs every command of Documentation/quickstart.rst on machines of tests/machines.sh, and looks for what they print.
. "$(dirname "$0")/lib_machines.sh"
page=$top/Documentation/quickstart.rst

# steps: "command", "output" and "end" lines of the page's blocks with prompts
steps() {
	awk '
		function close_step() { if (open) print "end"; open = 0 }
		/^    (io[0-9]|cp|node|each)# / {
			close_step()
			line = substr($0, 5); where = line; sub(/#.*/, "", where); sub(/^[a-z0-9]*# /, "", line)
			print "on " where; print "command " line; open = 1; next
		}
		open && /^    > ?/ { sub(/^    > ?/, ""); print "command " $0; next }
		open && /^    / { print "output " substr($0, 5); next }
		open && /^$/ { close_step() }
		END { close_step() }' "$page"
}
# outside: lines of the page's blocks that are no part of a step, and commands in its text
outside() {
	awk '
		/^    (io[0-9]|cp|node|each)# / { open = 1; next }
		/^    / { if (!open) print substr($0, 5); next }
		/^$/ { open = 0; next }
		{ for (n = split($0, part, "``"); n > 1; n--) if (n % 2 == 0 && part[n] ~ /^[a-z]+ [^=]/) print part[n] }' "$page"
}
# as_said EXPECTED SAID: each line of the first file is one of the second's, in that order; "..." is anything
as_said() {
	awk '
		function ends(s, t) { return substr(s, length(s) - length(t) + 1) == t }
		function like(s, pattern,  n, part, i, at) {
			n = split(pattern, part, /\.\.\./)
			if (n == 1) return s == pattern
			if (substr(s, 1, length(part[1])) != part[1]) return 0
			s = substr(s, length(part[1]) + 1)
			for (i = 2; i < n; i++) {
				at = index(s, part[i])
				if (!at) return 0
				s = substr(s, at + length(part[i]))
			}
			return ends(s, part[n])
		}
		{ gsub(/[ \t]+/, " "); sub(/ $/, "") }
		NR == FNR { if ($0 != "...") want[++wants] = $0; next }
		met < wants && like($0, want[met + 1]) { met++ }
		END { exit met < wants }' "$1" "$2"
}
# run_on WHERE: the command in $dir/command; what it prints is in $dir/said
run_on() {
	local m list=("$1")
	case $1 in
	node) list=(io0 io1 io2) ;;
	each) list=(io0 io1 io2 cp) ;;
	esac
	: >"$dir/said"
	for m in "${list[@]}"; do
		in_time 30 "$top/tests/machines.sh" run "$machines" "$m" "$(cat "$dir/command")" </dev/null >>"$dir/said" 2>&1 || return
	done
}
# try WHERE: a command that is followed by what it prints may fail, if that is what it says
try() {
	local rc
	run_on "$1"
	rc=$?
	if [ -s "$dir/output" ]; then as_said "$dir/output" "$dir/said"; else [ $rc = 0 ]; fi && return
	echo "status $rc, said:"
	tail -n 15 "$dir/said"
	return 1
}

# These three this test runs itself; packages have tests of their own, as have logs under systemd (vm/packages, vm/systemd).
cat >"$dir/known" <<K
tests/machines.sh start /tmp/machines io0 io1 io2 cp
tests/machines.sh run /tmp/machines io0             # a shell on one of them
tests/machines.sh stop /tmp/machines                # at the end
make debs
journalctl -u ddiod@io0
ddio status
K
check "no command of the page is outside its steps" diff "$dir/known" <(outside)

PATH=$PATH:/usr/sbin
for p in mpicc mpiexec curl munged; do
	command -v $p >/dev/null || { echo "skipped: no $p here"; exit 77; }
done
check "four machines" machines_start io0 io1 io2 cp
while IFS= read -r line; do
	case $line in
	"on "*) where=${line#on } && : >"$dir/command" && : >"$dir/output" ;;
	"command "*) printf '%s\n' "${line#command }" >>"$dir/command" ;;
	"output "*) printf '%s\n' "${line#output }" >>"$dir/output" ;;
	end)
		check "$where# $(head -n 1 "$dir/command")" try "$where"
		[ "$failed" = 0 ] || exit 1
		;;
	esac
done < <(steps)
check "the page has commands" [ "$passed" -gt 30 ]
