# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests of hp97560.ko share; sourced by bash.  Each test defines functions
# case_NAME and ends with "hp_run".  A case that returns has passed; "fail" ends it
# as failed and "skip" as skipped.  Every disk goes when its case ends.
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin
hp_root=/sys/kernel/config/hp97560
hp_tmp=

skip_all() {
	echo "TAP version 13"
	echo "1..0 # SKIP $*"
	exit 4
}

fail() {
	echo "# $*"
	exit 1
}

skip() {
	echo "# SKIP $*"
	exit 4
}

# want PROGRAM ...: skips the case if a program that it needs is missing
want() {
	local p
	for p; do
		command -v "$p" >/dev/null 2>&1 || skip "no $p here"
	done
}

same() { [ "$1" = "$2" ] || fail "$3: '$1' instead of '$2'"; }

hp_load() {
	modprobe -q configfs
	[ -d /sys/kernel/config ] && mountpoint -q /sys/kernel/config 2>/dev/null ||
		mount -t configfs config /sys/kernel/config 2>/dev/null
	[ -d $hp_root ] || modprobe -q hp97560 nr_devices=0
	[ -d $hp_root ]
}

# hp_set NAME ATTRIBUTE VALUE: writes the attribute and returns the write's status
hp_set() { printf '%s' "$3" 2>/dev/null >"$hp_root/$1/$2"; }

# hp_read FILE: sets REPLY to its text, without a process: on an emulated processor each takes long
hp_read() {
	IFS= read -r -d '' REPLY <"$1"
	REPLY=${REPLY%$'\n'}
}

hp_get() {
	hp_read "$hp_root/$1/$2"
	printf '%s\n' "$REPLY"
}

# hp_has NAME ATTRIBUTE VALUE: the attribute has this value
hp_has() {
	hp_read "$hp_root/$1/$2"
	same "$REPLY" "$3" "$2"
}

# refused NAME ATTRIBUTE VALUE REASON: the write fails for this reason, and the old value stays
refused() {
	local before
	hp_read "$hp_root/$1/$2"
	before=$REPLY
	{ printf '%s' "$3" >"$hp_root/$1/$2"; } 2>"$hp_tmp/why" && fail "$2 took '$3'"
	hp_read "$hp_tmp/why"
	case $REPLY in
	*"$4"*) ;;
	*) fail "$2 refused '$3' otherwise than by '$4': $REPLY" ;;
	esac
	hp_read "$hp_root/$1/$2"
	same "$REPLY" "$before" "$2 after refusing '$3'"
}

# hp_stat NAME COUNTER
hp_stat() { awk -v k="$2" '$1 == k { print $2 }' "$hp_root/$1/statistics"; }

hp_dev() { echo "/dev/hp97560_$1"; }

# hp_make NAME [ATTRIBUTE=VALUE ...]: makes a disk without power
hp_make() {
	local name=$1 a
	mkdir "$hp_root/$name" || fail "no directory $name"
	shift
	for a; do
		hp_set "$name" "${a%%=*}" "${a#*=}" || fail "$name does not take $a"
	done
}

hp_on() {
	hp_set "$1" power 1 || fail "$1 gets no power"
	for _ in {1..100}; do
		[ -b "/dev/hp97560_$1" ] && return
		sleep 0.05
	done
	fail "no $(hp_dev "$1")"
}

# hp_new NAME [ATTRIBUTE=VALUE ...]: makes a disk with power
hp_new() {
	hp_make "$@"
	hp_on "$1"
}

hp_off() { hp_set "$1" power 0 || fail "$1 keeps its power"; }

hp_remove() {
	local d
	for d in $hp_root/*/; do
		[ -e "$d/power" ] || continue
		echo 0 >"$d/power"
		rmdir "$d" 2>/dev/null
	done
}

now_ms() {
	local t=${EPOCHREALTIME/./}
	echo $((t / 1000))
}

# io OP OFFSET-SECTORS COUNT NAME: reads or writes past the page cache, the error on stdout
io() {
	local args="bs=512 count=$3 iflag=fullblock"
	case $1 in
	read) dd if="/dev/hp97560_$4" of=/dev/null skip="$2" $args iflag=direct,fullblock 2>&1 ;;
	write) dd if=/dev/zero of="/dev/hp97560_$4" seek="$2" $args oflag=direct conv=notrunc,nocreat 2>&1 ;;
	esac >"$hp_tmp/io.log"
	hp_io=$?
	return $hp_io
}

# fails OP SECTOR NAME REASON
fails() {
	io "$1" "$2" 1 "$3" && fail "$1 of sector $2 worked"
	hp_read "$hp_tmp/io.log"
	case $REPLY in
	*"$4"*) ;;
	*) fail "$1 of sector $2 failed otherwise: $REPLY" ;;
	esac
}

works() {
	io "$1" "$2" 1 "$3" || fail "$1 of sector $2 failed: $(cat "$hp_tmp/io.log")"
}

# within_seconds S COMMAND ...: runs the command, which must end in time
within_seconds() {
	local limit=$1
	shift
	timeout -k 1 "$limit" "$@"
	case $? in
	124 | 137) fail "no end in $limit s: $*" ;;
	esac
	return 0
}

hp_end() {
	hp_remove
	rm -rf "$hp_tmp"
}

hp_run() {
	local cases n=0 c failed=0
	[ "$(id -u)" = 0 ] || skip_all "only root may make disks"
	hp_load || skip_all "no hp97560 module here"
	hp_tmp=$(mktemp -d) || exit 1
	trap hp_end EXIT
	trap 'exit 130' INT TERM
	cases=$(grep -o '^case_[a-z_0-9]*' "$0" | sed 's/^case_//')
	echo "TAP version 13"
	echo "1..$(echo "$cases" | wc -l)"
	for c in $cases; do
		n=$((n + 1))
		(case_"$c") >"$hp_tmp/log" 2>&1
		case $? in
		0) echo "ok $n $c" ;;
		4) echo "ok $n $c # SKIP $(sed -n 's/^# SKIP //p' "$hp_tmp/log")" ;;
		*)
			sed 's/^#* */# /' "$hp_tmp/log"
			echo "not ok $n $c"
			failed=$((failed + 1))
			;;
		esac
		hp_remove
	done
	[ $failed = 0 ] || exit 1
	exit 0
}
