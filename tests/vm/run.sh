#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Boots a virtual machine with one of the test kernels, loads the modules, runs
# a command or tests there, unloads, scans the kernel's log, and reports.
#
#   tests/vm/run.sh [OPTION ...] --cmd 'SHELL COMMAND'
#   tests/vm/run.sh [OPTION ...] SCRIPT [ARGUMENT ...]   of tests/vm/ or tests/kselftest/
#   tests/vm/run.sh [OPTION ...] --shell                 a terminal in the machine
#
#   --kernel K      6.1 (default), 6.12, 7.x or debug
#   --mod LIST      modules to load first: all (default), none, 'hp97560' ...
#   --timeout S     seconds that the whole machine takes at most where nothing else runs (300);
#                   $DDIO_PATIENCE times as long is waited (tests/patience.sh), and $debug_slow times
#                   that for the debug kernel.  Booting and the search for leaks count
#   --name N        of the logs, build/log/vm/N.{out,console,verdict} (default KERNEL)
#   --mem M, --smp N
#   --append 'WORDS'   more kernel parameters
#   --qemu 'WORDS'     more arguments for QEMU (e.g. '-s -S' for a debugger)
#   --icount        the machine's time is the number of instructions that it executed, so that
#                   a busy host does not show; always TCG
#   --no-build      use the modules in build/kmod/ as they are
#   --no-disks      without the two scratch disks /dev/vda and /dev/vdb (1 GB each)
#   --switch        the command prepares a root directory, /mnt/root, which then becomes the machine's
#                   with a process 1 of its own; that has to write the verdict
#   --keep          keep the initial file system and print the command
#   --log-ok ERE    kernel messages that are no complaint
#
# In the machine the project is /ddio (build/, tests/), modules are found by
# modprobe, debugfs, tracefs and configfs are mounted.  Exits with the command's code,
# or 1 if it left anything behind, 77 if this machine cannot do it.
set -u
. "$(dirname "$0")/lib.sh"
. "$vm_dir/qemu.sh"

kernel=6.1 mods=all bound=300 name= mem= smp=2 append= extra= build=1 disks=1 keep= shell=
cmd= log_ok= icount= switch=
args=()

parse_options() {
	while [ $# -gt 0 ]; do
		case $1 in
		--kernel) kernel=$2; shift 2 ;;
		--mod) mods=$2; shift 2 ;;
		--timeout) bound=$2; shift 2 ;;
		--name) name=$2; shift 2 ;;
		--mem) mem=$2; shift 2 ;;
		--smp) smp=$2; shift 2 ;;
		--append) append=$2; shift 2 ;;
		--qemu) extra=$2; shift 2 ;;
		--log-ok) log_ok=$2; shift 2 ;;
		--icount) icount=1; shift ;;
		--switch) switch=1; shift ;;
		--no-build) build=; shift ;;
		--no-disks) disks=; shift ;;
		--debug-kernel) kernel=debug; shift ;;
		--keep) keep=1; shift ;;
		--shell) shell=1; shift ;;
		--cmd) cmd=$2; shift 2 ;;
		-h | --help) sed -n '3,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
		-*) die "unknown option $1" ;;
		*) break ;;
		esac
	done
	args=("$@")
	label=$(kernel_label "$kernel") || exit 1
	# On a busy host its reading of ACPI's interrupt tables meets the kernel's own limit of 30 s, over and over.
	[ "$label" != debug ] || { bound=$((bound * debug_slow)); append="acpi=noirq $append"; }
	# KASAN's shadow takes a part of the memory.
	[ -n "$mem" ] || { mem=1536; [ "$label" != debug ] || mem=2560; }
	[ -n "$cmd$shell" ] || [ $# -gt 0 ] || die "nothing to run: --cmd, --shell or a script"
}

# The script's path as the machine sees it.
guest_command() {
	local f
	[ -n "$cmd" ] && { printf '%s\n' "$cmd"; return; }
	for f in "$vm_dir/$1" "$vm_dir/t_$1.sh" "$top/$1" "$top/build/kselftest/$1"; do
		[ -f "$f" ] || continue
		f=/ddio/${f#"$top"/}
		shift
		printf '%q ' "$f" "$@"
		return
	done
	die "no test $1"
}

mods_to_load() {
	local m
	case $mods in
	none) ;;
	all)
		for m in hp97560 ddio; do
			[ -e "$top/build/kmod/$label/$m.ko" ] && echo $m
		done
		;;
	*) printf '%s\n' "$mods" | tr ' ,' '\n\n' ;;
	esac
}

make_job() {
	mkdir -p "$work/job"
	[ -z "$shell" ] || : >"$work/job/shell"
	[ -z "$switch" ] || : >"$work/job/switch"
	{
		echo "export DDIO_KERNEL=$label DDIO_VM_ACCEL=$accel DDIO_PATIENCE=$DDIO_PATIENCE"
		printf 'export DDIO_LOG_OK=%q\n' "$log_ok"
		env | sed -n 's/^\(DDIO_VMENV_[A-Z_]*\)=.*/\1/p' | while read -r v; do
			printf 'export %s=%q\n' "${v#DDIO_VMENV_}" "${!v}"
		done
	} >"$work/job/env"
	mods_to_load >"$work/job/modules"
	[ -n "$shell" ] || guest_command "$@" >"$work/job/cmd" || exit 1
}

get_kernel() {
	need qemu-system-x86_64 qemu-system-x86
	if [ "$label" = debug ]; then
		"$vm_dir/debug-kernel.sh" || exit $?
	else
		"$vm_dir/fetch.sh" "$label" || exit $?
	fi
	[ -z "$build" ] || "$vm_dir/build.sh" "$label" >&2 || exit $?
}

qemu_pid=
cleanup() {
	# timeout passes it on to QEMU.
	[ -z "$qemu_pid" ] || { kill "$qemu_pid" && wait "$qemu_pid"; } 2>/dev/null
	if [ -n "$keep" ]; then say "kept: $work"; else rm -rf "$work"; fi
}

prepare() {
	name=${name:-$label}
	logs=$top/build/log/vm
	mkdir -p "$logs" "$top/build/vm"
	# Keeps two machines from writing to the same log.
	exec {name_lock}>"$top/build/vm/lock.$name"
	flock -n "$name_lock" || name=$name.$$
	work=$(mktemp -d "$top/build/vm/run.XXXXXX") || exit 1
	trap cleanup EXIT
	trap 'exit 130' INT TERM HUP
	accel=$(qemu_accel) || exit 1
	make_job "${args[@]}"
	"$vm_dir/initramfs.sh" "$label" "$work/initramfs" "$work/job" || exit $?
	qemu_words
}

# Shows the command's output as it comes.
boot() {
	[ -z "$disks" ] || { rm -f "$work"/vd[ab]; truncate -s 1G "$work/vda" "$work/vdb"; }
	rm -f "$logs/$name".{out,console,verdict,reset}
	: >"$logs/$name.out"
	began=$(date +%s)
	timeout -k 5 $((bound * DDIO_PATIENCE)) qemu-system-x86_64 "${words[@]}" \
		-serial "file:$logs/$name.console" -d cpu_reset -D "$logs/$name.reset" >"$logs/$name.qemu" 2>&1 </dev/null &
	qemu_pid=$!
	tail -n +1 -s 0.3 -f --pid=$qemu_pid "$logs/$name.out" 2>/dev/null
	wait "$qemu_pid"
	qrc=$?
	qemu_pid=
	took=$(($(date +%s) - began))
	[ -s "$logs/$name.qemu" ] || rm -f "$logs/$name.qemu"
}

# Prints what a kernel said that died, where it was, and who had called, in one line; of one that said nothing whether the processor has
# given up (a triple fault), or how QEMU has ended.
died_of() {
	local silent="QEMU has ended with $qrc"
	! grep -q '^Triple fault' "$logs/$name.reset" 2>/dev/null || silent="a triple fault"
	sed 's/^\[ *[0-9.]*\] *//; s/\r$//' "$logs/$name.console" | awk -v silent=": $silent" '
		!what && /BUG:|Oops|general protection|kernel BUG|Kernel panic/ { what = ": " $0 }
		what && !at && /^RIP: / { at = "; at " $2 }
		what && /Call Trace:/ { calls++ }
		calls == 1 && /^ *[?]? ?[a-zA-Z_][a-zA-Z0-9_.]*\+0x/ && n < 12 { n++; sub(/\+0x.*/, ""); by = by " <" $0 }
		/Kernel panic/ { last = "; " $0 }
		END { print what ? what at by last : silent }'
}

# old_emulator: several processors by a QEMU before 8.1, which may run what it translated of an instruction that has been replaced
# (QEMU's commit deba78709a, "Always lock pages before translation").  Linux replaces its own at run time.
old_emulator() {
	local major minor
	read -r major minor < <(qemu-system-x86_64 --version | sed -n '1s/.*version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
	[ "$accel" = tcg ] && [ -z "$icount" ] && [ $((major * 100 + minor)) -lt 801 ]
}

# emulator_died: where such an emulator is at fault for certain.  While Linux replaces an instruction a breakpoint is there, and nothing
# else makes a kernel die of one: a loop that writes 1 and 0 to /proc/sys/kernel/sched_schedstats shows it within seconds, and not with
# thread=single.  And a kernel that dies before process 1 (init says that it is there) has met nothing of the project yet.
emulator_died() {
	[ "$qrc" -ne 124 ] && [ "$qrc" -ne 137 ] && old_emulator || return
	grep -aqE '(^|[] ])int3: 0000 \[#1\]' "$logs/$name.console" || ! grep -aq '^ddio: the machine is up' "$logs/$name.console"
}

fail() {
	say "kernel $label: $* (after $took s; build/log/vm/$name.console)"
	exit 1
}

judge() {
	local rc verdict=$logs/$name.verdict
	if [ "$qrc" -eq 124 ] || [ "$qrc" -eq 137 ]; then
		tail -n 15 "$logs/$name.console" | sed 's/^/    | /' >&2
		fail "the machine was still running after $took s"
	fi
	if [ "$(tail -n 1 "$verdict" 2>/dev/null)" != end ]; then
		tail -n 60 "$logs/$name.console" | sed 's/^/    | /' >&2
		[ -s "$logs/$name.qemu" ] && tail -n 5 "$logs/$name.qemu" >&2
		fail "the machine ended without a verdict$(died_of)"
	fi
	if grep '^bad: ' "$verdict" >&2; then
		fail "the tests left this behind"
	fi
	rc=$(sed -n 's/^exit //p' "$verdict")
	say "kernel $label ($accel): exit $rc after $took s; log, unloading and leaks are clean"
	exit "$rc"
}

# Everything is in functions, so that the script may be changed while a machine runs.
main() {
	parse_options "$@"
	get_kernel
	prepare
	if [ -n "$shell" ]; then
		qemu-system-x86_64 "${words[@]}" -serial mon:stdio
		exit $?
	fi
	boot
	for _ in 1 2; do
		emulator_died || break
		say "kernel $label$(died_of), after $took s: begun again, since it may be the emulation's (QEMU before 8.1)"
		boot
	done
	judge
}

main "$@"
