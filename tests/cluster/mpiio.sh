#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 360
# MPI programs as they are, with libddio_mpiio in front of their MPI: by a path below a mount and by "ddio:".
. "$(dirname "$0")/lib_mount.sh"
. "$(dirname "$0")/lib_mpiio.sh"
# The MPIs lose memory, so leaks are not looked for.
sanitized="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so) $build/libddio_mpiio.so"
# What has been freed is kept for a while, but not so much of it that a copy would not be noticed (memory/no_copy).
asan=detect_leaks=0:exitcode=99:quarantine_size_mb=16

check "start" start_cluster c --iops 2 --disks 2 --engine mem --disk-size 2G
check "mount" mount_at m

# How many collective requests the nodes have had.
collectives() {
	"$ddio" status --nodes | awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^collective/) n += $(i - 1) } END { print n }'
}
# How many requests of all kinds.
requests() {
	"$ddio" status --nodes | awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^request/) n += $(i - 1) } END { print n }'
}
# Bytes that the disks have read and written.
moved() {
	"$ddio" status --csv | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i }
		NR > 1 { r += $col["read_bytes"]; w += $col["write_bytes"] } END { print r + 0, w + 0 }'
}
# IO500's ior-hard, 16 ranks: each block is written once, but for those where one collective request ends and the next
# begins, and none is read.  It has a cluster of its own: what other tests wrote is not written back while it counts.
ior_hard() {
	local others=$DDIO_CONF r0 w0 r1 w1 c0 file=$((16 * 47008 * 60)) block=131072
	check "$1, ior-hard: start" start_cluster "hard.$1" --iops 2 --disks 2 --engine mem --disk-size 256M
	c0=$(collectives)
	read -r r0 w0 < <(moved)
	programs "$1, ior-hard, written by 16 ranks" N=16 OPTIONS='--ddio --only behind/hard-written' $run "$1" ddio:hard functions
	read -r r1 w1 < <(moved)
	echo "$(($(collectives) - c0)) collective requests, $((w1 - w0)) bytes written for $file, $((r1 - r0)) read"
	check "... reads nothing" test $((r1 - r0)) -eq 0
	check "... writes each block at most 1.02 times" test $((100 * (w1 - w0))) -le $((102 * block * ((file + block - 1) / block)))
	check "... writes all" test $((w1 - w0)) -ge $file
	check "... in fewer requests than calls" test $(($(collectives) - c0)) -le 24
	programs "$1, ior-hard, read" OPTIONS='--ddio --only behind/hard-read' $run "$1" ddio:hard functions
	stop_cluster "hard.$1"
	export DDIO_CONF=$others
}
run=tests/mpiio/run.sh
for mpi in mpich openmpi; do
	if ! command -v "mpiexec.$mpi" >/dev/null || [ ! -x "build/tests/mpiio/$mpi/functions" ]; then
		skipped=$((skipped + 1))
		echo "skipped: $mpi is not installed"
		continue
	fi
	check "$mpi: the library has all names of it" tests/mpiio/exports.sh "$library" $mpi
	for program in functions random_views patterns starved hdf5 pnetcdf netcdf fortran_f08 fortran_large fortran_mpi fortran_h cxx mpi4py_io h5py_io; do
		# The diagonal multi-partitioning and the tiles want a square of ranks.
		ranks=2
		[ $program != patterns ] || ranks=4
		programs "$mpi, mount, $program" DDIO_JOB=$mpi.$program N=$ranks OPTIONS='--ddio --threads' TYPES=1200 $run $mpi "$dir/m" $program
		grep -aq '^skip' "$dir/said" && continue
		check "... is served by ddio" test "$(moved_by "$mpi.$program")" -gt 0
	done
	programs "$mpi, ddio:" OPTIONS='--ddio --threads' TYPES=300 SEED=2 N=3 PRELOAD="$sanitized" ASAN_OPTIONS="$asan" \
		$run $mpi ddio: functions random_views
	before=$(collectives)
	programs "$mpi, write-behind" OPTIONS='--ddio --only behind/many' $run $mpi ddio: functions
	check "... makes few requests of 64 calls" test "$(($(collectives) - before))" -le 24
	programs "$mpi, atomic writes" OPTIONS='--ddio --only whole/calls' $run $mpi ddio: functions
	check "... are decided by the name space" test "$("$ddio" status --bounds | awk '$2 == "epochs/connection" && $5 > m { m = $5 } END { print +m }')" -ge 1
	before=$(requests)
	programs "$mpi, 300 views" OPTIONS='--ddio --only views/set_often' $run $mpi ddio: functions
	check "... of which no node hears" test "$(($(requests) - before))" -lt 20
	ior_hard $mpi
	# Files of others are the MPI's own.
	before=$(collectives)
	programs "$mpi, files that are not ddio's" $run $mpi "$dir/plain" patterns
	check "... are not served by it" test "$(collectives)" -eq "$before"
	check "... are where they were made" test -n "$(ls -A "$dir/plain")"
	rm -r "$dir/plain"
	VERBOSE=1 PRELOAD=$library $run $mpi ddio:none/ functions >"$dir/said" 2>&1
	check "$mpi, no such folder: ddio's text" grep -q 'none/functions.*no such' "$dir/said"
done
check "nothing is left in TMPDIR" test -z "$(ls -d "$dir"/ddio-mpiio.* 2>/dev/null)"
check "fsck" "$ddio" fsck

# without_conf MPI CONF: one rank has no configuration, or one that cannot be read: all hear of it, and none of a missing file.
without_conf() {
	local program=build/tests/mpiio/$1/functions preload=(-x "LD_PRELOAD=$library") none=(-x "DDIO_CONF=$2")
	local only=(--ddio --only 'lives: a request' ddio:noconf)
	[ "$1" = openmpi ] || preload=(-env LD_PRELOAD "$library") none=(-env DDIO_CONF "$2")
	local rc
	job $((30 * DDIO_PATIENCE)) "mpiexec.$1" -n 1 "${preload[@]}" "$program" "${only[@]}" : \
		-n 1 "${preload[@]}" "${none[@]}" "$program" "${only[@]}" >"$dir/said" 2>&1
	rc=$?
	[ $rc != 124 ] && grep -q 'cannot reach the cluster' "$dir/said"
}

# killed_job MPI RANKS ARGUMENTS...: a job of $PROGRAM whose launcher leaves the others alone when one process is killed: to it each
# process ends well.
killed_job() {
	local mpi=$1 n=$2 launcher
	shift 2
	# MPICH's tells the others by a signal.
	set -- bash -c 'trap "" USR1; "$@"; exit 0' killed "build/tests/mpiio/$mpi/${PROGRAM:-killed}" "$@"
	launcher=(mpiexec.openmpi --enable-recovery -n "$n" -x "LD_PRELOAD=$library")
	[ "$mpi" = openmpi ] || launcher=(mpiexec.mpich -disable-auto-cleanup -iface lo -n "$n" -genv LD_PRELOAD "$library")
	job $((20 * DDIO_PATIENCE)) "${launcher[@]}" "$@" 2>&1
}
# told_of FILE CALL RANK: both that are left hear that one has died, and by ddio.
told_of() {
	killed_job mpich 3 "$@" >"$dir/said"
	[ "$(grep -c '^told: .*\(is lost\|has gone away\)' "$dir/said")" = 2 ] || { cat "$dir/said"; return 1; }
}
# The nodes stop while a job writes: each process has an error, and ends.
stop_under_job() {
	local others=$DDIO_CONF rc=0
	start_cluster "under.$1" --iops 2 --disks 2 --engine mem --disk-size 256M || return
	: >"$dir/said" # the last job was running, too
	killed_job "$1" 2 ddio:under stop >"$dir/said" &
	soon grep -q running "$dir/said" || rc=1
	stop_cluster "under.$1"
	wait $! 2>/dev/null
	[ "$(grep -c '^told: .' "$dir/said")" = 2 ] || { cat "$dir/said"; rc=1; }
	export DDIO_CONF=$others
	return $rc
}
if [ -x build/tests/mpiio/mpich/killed ]; then
	rank=0 before=$failed
	for call in write_small write_large read_large write_atomic write_ordered write_nonblocking write_split set_view set_size \
		preallocate set_atomicity seek_shared sync read_ordered write_shared set_info close between with_child; do
		check "mpich, rank $rank is killed, the others are in $call" told_of "$dir/m/killed" $call $rank
		# Where one hangs, others may: one is enough.
		[ "$failed" = "$before" ] || break
		rank=$(((rank + 1) % 3))
	done
fi
# leave MPI HOW STATUS...: a job leaves with its file open: it ends, with one of the statuses, and not by a crash
leave() {
	local mpi=$1 how=$2 file=$dir/m/leaves.$1.$2 N=2 PRELOAD=$library BOUND=$((20 * DDIO_PATIENCE)) rc
	shift 2
	launch "build/tests/mpiio/$mpi/leaves" "$file" "$how" >"$dir/said" 2>&1
	rc=$?
	[[ " $* " == *" $rc "* ]] && ! grep -qi 'signal 11\|segmentation\|signal 6' "$dir/said" || { cat "$dir/said"; return 1; }
	[ "$how" != finalize ] || [ "$(tr '\n' ' ' <"$file")" = "000,000 001,000 000,001 001,001 000,002 001,002 " ]
}
for mpi in mpich openmpi; do
	[ -x "build/tests/mpiio/$mpi/leaves" ] || continue
	check "$mpi, a file is open in MPI_Finalize: what was gathered is written" leave $mpi finalize 0
	check "$mpi, a process exits with open files" leave $mpi exit 0 1
	check "$mpi, MPI_Abort with a transfer under way" leave $mpi abort 7
	check "$mpi, MPI_Abort in an error handler" leave $mpi handler 7
done
# One dies in the first open of a communicator, at several steps of it: before and after there is a group.
first_open() {
	PROGRAM=killed_open DDIO_MPIIO_TIMEOUT=$DDIO_PATIENCE killed_job mpich 3 ddio:first "$@" >"$dir/said.$1.$2"
	[ "$(grep -c '^told: .*\(is lost\|has gone away\)' "$dir/said.$1.$2")" = 2 ] &&
		[ "$(grep -c '^again: .*gone away (0 s)' "$dir/said.$1.$2")" = 2 ] || { cat "$dir/said.$1.$2"; return 1; }
}
# One dies before it has come to the first open, MPI RANK: some of the others wait for it then, and some come later.
before_open() {
	PROGRAM=killed_open killed_job "$1" 4 ddio:before "$2" before >"$dir/said.$1.$2"
	[ "$(grep -c '^told: .*has gone away' "$dir/said.$1.$2")" = 3 ] &&
		[ "$(grep -c '^again: .*gone away (0 s)' "$dir/said.$1.$2")" = 3 ] || { cat "$dir/said.$1.$2"; return 1; }
}
# One that does not open the file may die: the others wait for each other.
outside_open() {
	PROGRAM=killed_open killed_job "$1" 3 "ddio:outside.$1" 2 outside >"$dir/said.$1.outside"
	[ "$(grep -c '^opened' "$dir/said.$1.outside")" = 2 ] || { cat "$dir/said.$1.outside"; return 1; }
}
for mpi in mpich openmpi; do
	[ -x "build/tests/mpiio/$mpi/killed_open" ] || continue
	before_open $mpi 0 & first=$!
	before_open $mpi 3 & second=$!
	check "$mpi, one is killed that does not open the file" outside_open $mpi
	check "$mpi, rank 0 is, before the first open" wait $first
	check "$mpi, rank 3 is" wait $second
done
if [ -x build/tests/mpiio/mpich/killed_open ]; then
	others=$DDIO_CONF
	check "first opens: start" start_cluster first --iops 2 --disks 2 --engine mem --disk-size 256M --timeout-ms 3000
	for at in "0 2" "1 4" "2 7" "1 10" "0 11" "2 14"; do
		# shellcheck disable=SC2086
		first_open $at &
		begun="${begun:-} $!:${at/ /:}"
	done
	# Here others wait two seconds, too, before they give up.
	for mpi in mpich openmpi; do
		DDIO_MPIIO_TIMEOUT=2 programs "$mpi, one writes while others wait elsewhere" N=3 OPTIONS='--ddio --only differ/elsewhere' \
			$run $mpi ddio: functions
		check "... which they hear" grep -q '^1 passed, 0 failed, 0 skipped' "$dir/said"
	done
	for at in $begun; do
		check "mpich, rank and step ${at#*:}: a process is killed in the first open" wait "${at%%:*}"
	done
	check "first opens: stop" stop_cluster first
	export DDIO_CONF=$others
fi
for mpi in mpich openmpi; do
	[ ! -x "build/tests/mpiio/$mpi/killed" ] || check "$mpi, \"ddio stop\" while a job writes" stop_under_job $mpi
done
# restarted MPI HOW NODE...: nodes are restarted between two calls of a job, by "ddio stop" or killed (then of these): the job
# goes on with its open file, hears what may be lost, and loses nothing else.
restarted() {
	local mpi=$1 how=$2 others=$DDIO_CONF n job said=$dir/said.$1.$2 mark=$dir/mark.$1.$2 name=again.$1.$2 rc=0
	shift 2
	start_cluster "$name" --iops 2 --disks 2 --engine aio --disk-size 256M || return
	: >"$said"
	N=3 PRELOAD=$library BOUND=$((20 * DDIO_PATIENCE)) launch "build/tests/mpiio/$mpi/restarted" ddio:restarted "$mark" >"$said" 2>&1 &
	job=$!
	soon grep -q ready "$said" || rc=1
	for n; do kill_node "$name" "$n"; done
	for n; do start_node "$name" "$n" || rc=1; done
	[ "$how" != stop ] || { stop_cluster "$name" && start_cluster "$name"; } || rc=1
	touch "$mark"
	wait $job || rc=1
	stop_cluster "$name"
	export DDIO_CONF=$others
	[ $rc = 0 ] && [ "$(tail -n 1 "$said")" = whole ] && ! grep -q 'others differ\|of no use' "$said" &&
		[ "$(grep -c '^told: sync: .* was restarted: data written before' "$said")" = $(($# > 0)) ] || { cat "$said"; return 1; }
}
reloaded() {
	local mpi=$1 N=2 BOUND=$((20 * DDIO_PATIENCE))
	launch "build/tests/mpiio/$mpi/reloaded" "$library" "ddio:reloaded.$mpi" >"$dir/said" 2>&1 &&
		grep -qx reloaded "$dir/said" || { cat "$dir/said"; return 1; }
}
# More than 2^31 bytes in one call, on disks in memory, where there is enough of it.
huge() {
	local mpi=$1 others=$DDIO_CONF N=1 PRELOAD=$library BOUND=$((30 * DDIO_PATIENCE)) rc
	start_cluster huge --iops 2 --disks 2 --engine mem --disk-size 2G || return
	launch "build/tests/mpiio/$mpi/huge" ddio:huge >"$dir/said" 2>&1 && grep -qx huge "$dir/said"
	rc=$?
	stop_cluster huge
	export DDIO_CONF=$others
	[ $rc = 0 ] || { cat "$dir/said"; return 1; }
}
if [ ! -x build/tests/mpiio/mpich/huge ] || [ "$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)" -lt 12 ]; then
	skipped=$((skipped + 1))
	echo "skipped: transfers of more than 2^31 bytes want MPICH, and 12 GB of memory"
else
	check "mpich, transfers of more than 2^31 bytes" huge mpich
fi
for mpi in mpich openmpi; do
	[ -x "build/tests/mpiio/$mpi/restarted" ] || continue
	check "$mpi, the nodes are stopped and started between two calls" restarted $mpi stop
	check "$mpi, they are killed" restarted $mpi killed io0 io1
	check "$mpi, one of them is" restarted $mpi one io1
	check "$mpi, the library is loaded and unloaded by a plug-in" reloaded $mpi
done

# The example, as the README has it.
# example MPI "what it prints" PROGRAM...
example() {
	local mpi=$1 want=$2 said
	shift 2
	said=$(job $((30 * DDIO_PATIENCE)) "$top/build/ddio" mpi "mpiexec.$mpi" -n 4 "$@" | grep doubles) && [ "$said" = "$want" ]
}
for mpi in mpich openmpi; do
	[ -x "build/tests/mpiio/$mpi/darray" ] || continue
	check "$mpi, a rank without configuration" without_conf $mpi /nowhere
	check "$mpi, a rank with a directory for its configuration" without_conf $mpi "$dir"
	before=$(collectives)
	check "$mpi, the example in C" example $mpi "512 x 512 doubles written and read" \
		"build/tests/mpiio/$mpi/darray" "$dir/m/matrix.$mpi"
	check "... is one request to each of four reactors for each of two calls" test "$(collectives)" -eq $((before + 8))
	[ ! -x "build/tests/mpiio/$mpi/columns" ] || check "$mpi, the example in Fortran" example $mpi \
		"256 x 256 doubles written and read, 0 wrong" "build/tests/mpiio/$mpi/columns" "$dir/m/transpose.$mpi"
done
# Debian builds h5py for Open MPI, beside one without an MPI, and takes it where an MPI has started the program.
h5py_has_mpi() {
	/usr/bin/python3 - 2>/dev/null <<-'PY'
		import importlib.util, sys, h5py
		sys.exit(not (h5py.get_config().mpi or importlib.util.find_spec("h5py._debian_h5py_mpi")))
	PY
}
if h5py_has_mpi; then
	check "openmpi, the example in Python" example openmpi "128 x 192 doubles written and read, 0 wrong" \
		/usr/bin/python3 tests/examples/mpi/columns.py "$dir/m/matrix.h5"
else
	skipped=$((skipped + 1))
	echo "skipped: h5py for MPI is not installed"
fi

# Read by setting it, it would be another for what other threads make meanwhile.
check "no back end sets the umask" eval '! nm -D --undefined-only build/ddio-mpiio/*.so | grep -w umask'

# The word that stands before a program.
check "ddio mpi hands options on" test "$("$top/build/ddio" mpi sh -c 'echo "$0 $1"' -h --help)" = "-h --help"
check "... and keeps what else is loaded" grep -q 'libddio_mpiio.so:/nowhere.so$' \
	<(LD_PRELOAD=/nowhere.so "$top/build/ddio" mpi printenv LD_PRELOAD 2>/dev/null)
fails "no such program" "cannot run" "$top/build/ddio" mpi "$dir/none"
check "no program" eval '"$top/build/ddio" mpi 2>/dev/null; [ $? = 2 ]'
check "umount" unmount m

# without_backend MPI: the library, where no back end lies beside it: names of ddio's fail, and are no local files; all others are the MPI's
without_backend() {
	local mpi=$1 N=2 BOUND=$((30 * DDIO_PATIENCE)) PRELOAD=$dir/bare/libddio_mpiio.so said=$dir/said.bare.$1 class=15
	[ "$mpi" = mpich ] || class=16
	mkdir -p "$dir/bare" && cp "$library" "$dir/bare/" || return 1
	(cd "$dir/bare" && launch "$top/build/tests/mpiio/$mpi/opens" ddio:x plain.x) >"$said" 2>"$said.text"
	grep -qx "$class $class $class $class $class" "$said" && grep -q ' ok$' "$said" && [ ! -e "$dir/bare/ddio:x" ] &&
		grep -q "no back end for.*libddio-mpiio-$mpi" "$said.text" || { cat "$said" "$said.text"; return 1; }
}
# unserved PROGRAM...: "ddio mpi" of an installation without back ends runs nothing
unserved() {
	mkdir -p "$dir/bare" && cp "$library" "$ddio" "$dir/bare/" && ! "$dir/bare/ddio" mpi "$@" >"$dir/said" 2>&1 &&
		grep -q 'there is no back end for .*install libddio-mpiio-' "$dir/said" && ! grep -q ran "$dir/said"
}
for mpi in mpich openmpi; do
	[ -x "build/tests/mpiio/$mpi/opens" ] || continue
	check "$mpi, no back end: names of ddio's fail" without_backend $mpi
	check "$mpi, no back end: ddio mpi says what is missing" unserved mpiexec.$mpi -n 1 echo ran
done
check "no back end at all: ddio mpi says so" unserved echo ran

# The cluster is gone: an open of a file below its mount says so, and not what an MPI makes of it.
silent_mount() {
	local mpi=$1 N=2 BOUND=$((60 * DDIO_PATIENCE)) PRELOAD=$library said=$dir/said.silent.$1
	launch "$top/build/tests/mpiio/$mpi/opens" "$dir/silent/file" >"$said" 2>"$said.text"
	grep -q 'below a mount of ddio that does not answer' "$said.text" && ! grep -qi 'romio\|ADIO\|ompio' "$said.text" ||
		{ cat "$said" "$said.text"; return 1; }
}
check "another mount" mount_at silent
"$ddio" stop --dir "$dir/c" >/dev/null 2>&1
for mpi in mpich openmpi; do
	[ ! -x "build/tests/mpiio/$mpi/opens" ] || check "$mpi, the cluster is gone: ddio says so" silent_mount $mpi
done
