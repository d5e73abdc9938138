#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# mixed.sh [COMMIT]: MPI jobs in which one rank has the library of an earlier commit, and the others this tree's: each rank in turn, of
# two and of four, with both MPIs.  Without a commit it is the last that knew no orders of files.
#
# A case of "functions" that does not pass there counts as failed, unless it does not pass either where all ranks have the earlier
# library: then it is skipped.  Each subject is a job of its own.  The commit is built in the cache, $DDIO_CACHE (~/.cache/ddio), the
# first time.  Of the environment:
#
#   MPIS="mpich openmpi"  RANKS="2 4"  some of these;  SUBJECTS="collective/ orders/in_one"  beginnings of cases' names
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/patience.sh
commit=$(git rev-parse -q --verify "${1:-78180ba815cddd19f1ce6623882e1bb924bba92a}^{commit}") || {
	echo "mixed.sh: that commit is not here"
	exit 77
}
cache=${DDIO_CACHE:-$HOME/.cache/ddio}/mixed
dir=$(mktemp -d "${TMPDIR:-/tmp}/ddio-mixed.XXXXXX") || exit 2
trap 'build/ddio stop --dir "$dir/c" >/dev/null 2>&1; rm -rf --one-file-system "$dir"' EXIT
die() {
	echo "mixed.sh: $*" >&2
	exit 2
}
build_earlier() {
	local new=$cache/$commit.new
	rm -rf --one-file-system "$new" && mkdir -p "$new" && git archive "$commit" | tar -x -C "$new" &&
		make -s -C "$new" all mpiio >"$dir/log" 2>&1 && mv "$new" "$cache/$commit"
}
[ -e "$cache/$commit" ] || build_earlier || die "no build of $commit: $(tail -n 3 "$dir/log")"
make --no-print-directory -s all mpiio mpiio-tests || die "no build"

. tests/mpiio/launch.sh
export TMPDIR=$dir DDIO_CONF=$dir/c/ddio.conf BOUND=$((60 * DDIO_PATIENCE))
export EARLIER=$cache/$commit/build/libddio_mpiio.so LATER=$PWD/build/libddio_mpiio.so SLEEPS=$PWD/build/tests/mpiio/patient.so
build/ddio start --dir "$dir/c" --iops 2 --disks 2 --engine mem --disk-size 1G >/dev/null || die "no cluster"

# What a rank does: those in $OLD have the earlier library.
# shellcheck disable=SC2016 # it is for the rank's shell
as_rank='rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK} library=$LATER
case " $OLD " in *" $rank "*) library=$EARLIER ;; esac
LD_PRELOAD="$library $SLEEPS" exec "$@"'

# cases OLD...: the subject's cases with these ranks; $dir/passed and $dir/others are those that passed, and that did not
cases() {
	OLD="$*" launch bash -c "$as_rank" rank "build/tests/mpiio/$mpi/functions" --ddio --only "$subject" "ddio:$mpi.$N.$#.$1." \
		>"$dir/said" 2>&1 </dev/null
	sed -n 's/^ok - //p' "$dir/said" >"$dir/passed"
	awk '/^not ok - / { sub(/: rank [0-9]+: .*/, ""); print substr($0, 10) }' "$dir/said" >"$dir/others"
	grep -aq '^[0-9]* passed, [0-9]* failed' "$dir/said"
}
passed=0 failed=0 skipped=0
# one OLD: the job in which that rank is the old one
one() {
	local name ended=yes
	cases "$1" || ended=no
	while read -r name; do
		if grep -qxF "$name" "$dir/known"; then
			skipped=$((skipped + 1))
			continue
		fi
		failed=$((failed + 1))
		grep -aF "not ok - $name" "$dir/said" | sed "s|^not ok - |not ok - $mpi, rank $1 of $N is old: |"
	done <"$dir/others"
	passed=$((passed + $(wc -l <"$dir/passed")))
	[ $ended = no ] || return
	failed=$((failed + 1))
	echo "not ok - $mpi, rank $1 of $N is old: $subject: no end"
	tail -n 3 "$dir/said" | sed 's/^/# /'
}
# The rest of orders/ is what the earlier library could not do, and waits for what does not come.
subjects_of() { N=1 launch "$1" --list | sed 's|^orders/.*|orders/in_one|; /^orders/!s|\([/:]\).*|\1|' | uniq; }
for mpi in ${MPIS:-mpich openmpi}; do
	[ -x "build/tests/mpiio/$mpi/functions" ] || continue
	subjects=${SUBJECTS:-$(subjects_of "build/tests/mpiio/$mpi/functions")}
	for N in ${RANKS:-2 4}; do
		for subject in $subjects; do
			# shellcheck disable=SC2046 # they are several
			if ! cases $(seq 0 $((N - 1))); then
				echo "skip - $mpi, $N ranks: $subject: where all have the earlier library the job does not end"
				skipped=$((skipped + 1))
				continue
			fi
			mv "$dir/others" "$dir/known"
			for old in $(seq 0 $((N - 1))); do one "$old"; done
		done
		echo "# $mpi, $N ranks: $passed passed, $failed failed, $skipped skipped so far"
	done
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
