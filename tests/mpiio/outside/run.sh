#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh SUITE...: called by ../outside.sh, in a network of its own.  Runs what build.sh has listed in $BIN, and counts.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
build=$top/build
. "$here/../launch.sh"
below=/tmp
[ -w /dev/shm ] && below=/dev/shm
dir=$(mktemp -d "$below/ddio-outside.XXXXXX") || exit 2
finish() {
	cd / || exit 2
	"$build/ddio" umount -z "$dir/m" 2>/dev/null
	"$build/ddio" stop --dir "$dir/c" >/dev/null 2>&1
	rm -rf --one-file-system "$dir"
}
trap finish EXIT
export TMPDIR=$dir
"$build/ddio" start --dir "$dir/c" --iops 2 --disks 2 --engine mem --disk-size 1G >/dev/null || exit 2
export DDIO_CONF=$dir/c/ddio.conf
mkdir "$dir/m" "$dir/plain" "$dir/out"
"$build/ddio" mount "$dir/m" >/dev/null || exit 2

# one WAY NAME SAYS RANKS [ARGUMENT...]: runs a test in a directory of its own; sets verdict to pass, FAIL, TIME, or - if it
# has no such way
one() {
	local way=$1 name=$2 says=$3 ranks=$4 where rc args
	shift 4
	args=("$@")
	out=$dir/out/$mpi.$suite.$name.$way
	case $way in
	alone | beside) where=$dir/plain/$name ;;
	mount) where=$dir/m/$name ;;
	prefix)
		[[ " $* " = *" FILE"* ]] || { verdict=-; return; }
		where=$dir/plain/$name
		;;
	esac
	mkdir -p "$where" && cd "$where" || exit 2
	if [ "$way" = prefix ]; then
		args=("${args[@]/FILE/ddio:outside.$name}")
	else
		args=("${args[@]/FILE/$where/file}")
		args=("${args[@]/PLACE/$where/file}")
	fi
	PRELOAD=$build/libddio_mpiio.so
	[ "$way" = alone ] && PRELOAD=
	N=$((ranks < ${RANKS:-4} ? ranks : ${RANKS:-4}))
	BOUND=${BOUND:-60} launch "$BIN/$mpi/$suite/$name" "${args[@]}" >"$out" 2>&1 </dev/null
	rc=$?
	verdict=pass
	[ $rc = 0 ] || verdict=FAIL
	[ "$says" = says ] && ! grep -aqi 'no errors' "$out" && verdict=FAIL
	[ $rc = 124 ] && verdict=TIME
	cd "$dir" && rm -rf "$where"
	[ "$way" = prefix ] && rm -rf "$dir/m/outside.$name"*
}

ways=${WAYS:-alone beside mount prefix}
ours=0
for suite; do
	for mpi in $MPIS; do
		list=$BIN/$mpi/$suite/list
		[ -s "$list" ] || { echo "$mpi $suite: skipped, not built"; continue; }
		declare -A count=()
		while read -r -a line; do
			# shellcheck disable=SC2053
			[[ ${line[0]} = ${ONLY:-*} ]] || continue
			first=
			for way in $ways; do
				one "$way" "${line[@]}"
				first=${first:-$verdict}
				count[$way.$verdict]=$((${count[$way.$verdict]:-0} + 1))
				[ "$verdict" = "$first" ] || [ "$verdict" = - ] && continue
				echo "$mpi $suite ${line[0]}: $first alone, $verdict $way: $(grep -av '^$' "$out" | grep -avi "^mpiexec\|^---" |
					head -n 2 | cut -c -200 | tr '\n' ' ')"
				[ "$first" = pass ] && ours=$((ours + 1))
			done
		done <"$list"
		printf '%-8s %-8s' "$mpi" "$suite"
		for way in $ways; do
			n=$((${count[$way.pass]:-0} + ${count[$way.FAIL]:-0} + ${count[$way.TIME]:-0}))
			printf '  %s %d of %d' "$way" "${count[$way.pass]:-0}" $n
		done
		echo
	done
done
[ -z "${KEEP:-}" ] || cp -r "$dir/out" "$KEEP"
[ $ours = 0 ]
