#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# Mounts of users' own: what Alice has, Mallory, who has the cluster's key and mounts, too, neither reads nor writes, lists or removes; what she may do by her mount is what she may do by any other.
. "$(dirname "$0")/lib_users.sh"
if [ ! -e /dev/fuse ] || ! command -v fusermount3 >/dev/null; then
	echo "skipped: users' mounts need /dev/fuse, and fusermount3"
	exit 77
fi
# Where only root may open the device, there is another one for this test.
[ "$(stat -c %a /dev/fuse)" = 666 ] || { mknod -m 666 "$dir/fuse" c 10 229 && mount --bind "$dir/fuse" /dev/fuse; } || exit 1
# fusermount3 asks for the names of users.
cat /etc/passwd - >"$dir/passwd" <<P
alice:x:$alice:$alice::/:/bin/sh
mallory:x:$mallory:$mallory::/:/bin/sh
P
mount --bind "$dir/passwd" /etc/passwd || exit 1
mine() { # USER: mounts the cluster as that user, on $dir/USER/mnt
	install -d -o "$1" -g "$1" "$dir/$1/mnt"
	as "$1" ddiofs -f -o hard "$dir/$1/conf" "$dir/$1/mnt" >"$dir/$1/log" 2>&1 &
	mounted+=("$!")
	soon grep -q " $dir/$1/mnt fuse.ddio " /proc/self/mounts || {
		cat "$dir/$1/log"
		return 1
	}
}
mounted=()
mounts_end() {
	local u
	umount /dev/fuse /etc/passwd 2>/dev/null
	umount -l "$dir/root" 2>/dev/null
	for u in $alice $mallory; do
		umount -l "$dir/$u/mnt" 2>/dev/null
	done
	for u in ${mounted[@]+"${mounted[@]}"}; do
		kill "$u" 2>/dev/null
	done
	munge_stop
}
trap 'mounts_end; finish' EXIT
# run USER COMMAND: a shell command of that user
run() {
	setpriv --reuid "$1" --regid "$1" --clear-groups env -C "$dir/$1/mnt" A="$dir/$alice/mnt" sh -c "$2"
}
cp "$build/ddiofs" "$dir/bin"
check "root makes a directory for all" "$ddio" mkdir --mode 777 scratch
check "Alice mounts" mine $alice
check "Mallory mounts" mine $mallory
[ "$failed" = 0 ] || exit 1
seq 100000 >"$dir/in"
chmod 644 "$dir/in"

check "she has a directory, and one that is hers alone" run $alice "mkdir scratch/a scratch/a/open && mkdir -m 700 scratch/a/private"
check "... with files" run $alice "cp '$dir/in' scratch/a/open/f && cp '$dir/in' scratch/a/private/f && sync"
check "which are hers" [ "$(run $alice 'stat -c %u:%a scratch/a/open/f')" = "$alice:644" ]
check "she reads them" run $alice "cmp '$dir/in' scratch/a/private/f"
check "he reads what is open to all" run $mallory "cmp '$dir/in' scratch/a/open/f"
denied() { # "what" COMMAND of Mallory
	fails "$1" "permi" run $mallory "$2"
}
denied "he does not read the secret" "cat scratch/a/private/f"
denied "... nor list where it is" "ls scratch/a/private/"
denied "... nor learn of it" "stat scratch/a/private/f"
denied "he does not write hers" "echo x >>scratch/a/open/f"
denied "... nor cut it" "truncate -s 0 scratch/a/open/f"
denied "... nor beside it" "echo x >scratch/a/open/g"
denied "... nor remove it" "rm -f scratch/a/open/f"
denied "... nor rename it" "mv scratch/a/open/f scratch/taken"
denied "... nor a directory of hers" "mv scratch/a/open scratch/taken"
denied "... nor change its mode" "chmod 666 scratch/a/open/f"
denied "... nor its times" "touch -d 2001-01-01 scratch/a/open/f"
denied "... nor link to it" "ln scratch/a/open/f scratch/link"
denied "... nor set attributes" "setfattr -n user.a -v x scratch/a/open/f"
denied "... nor lock what he may not open" "flock -x 9 9>>scratch/a/private/f"
check "hers is as it was" run $alice "cmp '$dir/in' scratch/a/open/f"

# What people do with a file system, as one who is not root: all of it by numbers of inodes.
cat >"$dir/work" <<'W'
set -e
mkdir -p tree/a/b && cd tree
umask 077
for i in $(seq 300); do echo "$i" >"a/b/$i"; done
[ "$(cat a/b/* | wc -l)" = 300 ]
(umask 333; echo made >shut); cat shut >a/copy
ln a/copy a/linked && ln -s a/copy soft && cat soft >/dev/null
mv a/b c && ls -lR >/dev/null && rm c/1??
exec 5<>a/copy && rm a/copy a/linked && echo unseen >&5 && exec 5>&-
cp c/7 c/0 && truncate -s 5000000 c/0 && truncate -s 3 c/0
setfattr -n user.k -v v c/7 && getfattr -n user.k c/7 >/dev/null
cp -a c d && diff -r c d && touch -d 2001-01-01 d/7 && chmod 750 d
flock -x c/8 true
cd .. && rm -rf tree && [ ! -e tree ]
W
chmod 644 "$dir/work"
check "she works there" run $alice "mkdir scratch/a/work && cd scratch/a/work && sh '$dir/work'"
check "... and finds her way back after grants have expired" run $alice \
	"cd scratch/a/open && exec 5<f 6>>h && sleep 5 && cat <&5 | cmp - '$dir/in' && echo x >&6 && stat f >/dev/null && cat f | wc -l"
run $alice "exec 5<scratch/a/open/f 6>>scratch/a/open/h; touch '$dir/$alice/ready'; i=0
	until [ -e '$dir/$alice/go' ] || [ \$i = 1200 ]; do sleep 0.1; i=\$((i + 1)); done
	cat <&5 | cmp - '$dir/in' && echo y >&6 && exec 6>&- && [ \$(wc -l <scratch/a/open/h) = 2 ]" >"$dir/held" 2>&1 &
holder=$!
check "a program of hers has files open" soon test -e "$dir/$alice/ready"
stop_cluster c
check "the nodes are started anew" "$ddio" start --dir "$dir/c"
touch "$dir/$alice/go"
check "... and it goes on with them" wait $holder
cat "$dir/held"
check "what she took away is gone" soon eval '[ "$("$ddio" ls scratch/a/work | wc -l)" = 0 ]'
"$ddio" fsck >"$dir/out" 2>&1
check "root checks the cluster" [ $? = 0 ]

# MPI programs below mounts, root's among them.  Root's keeps what it knows of names: others change them behind its back.
. tests/mpiio/launch.sh
team=12400 # has the key
install -d -m 755 "$dir/mpi" "$dir/mpi/ddio-mpiio" "$dir/root"
cp "$top"/build/libddio_mpiio.so "$top"/build/libddio.so* "$dir/mpi"
cp "$top"/build/ddio-mpiio/*.so "$dir/mpi/ddio-mpiio"
chmod 711 "$dir/c"
chmod 644 "$DDIO_CONF"
chgrp $team "$key" && chmod 640 "$key"
"$build/ddiofs" -f -o hard,entry_timeout=600,attr_timeout=600 "$DDIO_CONF" "$dir/root" >"$dir/root.log" 2>&1 &
mounted+=("$!")
check "root mounts for all" soon grep -q " $dir/root fuse.ddio " /proc/self/mounts
# mpi USER FILE CASES: runs the cases of "functions" on it
mpi() {
	local preload=(-x "LD_PRELOAD=$dir/mpi/libddio_mpiio.so") who=(--reuid "$1" --regid "$1" --groups "$team")
	[ "$mpi" = openmpi ] || preload=(-iface lo -genv LD_PRELOAD "$dir/mpi/libddio_mpiio.so")
	[ "$1" != 0 ] || who=(--keep-groups)
	mkdir -p "$dir/$1"
	job $((60 * DDIO_PATIENCE)) setpriv "${who[@]}" env -C "$dir/$1" DDIO_CONF="$dir/$1/conf" DDIO_JOB="$mpi" HOME="$dir/$1" TMPDIR="$dir/$1" \
		"mpiexec.$mpi" -n 3 "${preload[@]}" "$dir/mpi/$mpi" --ddio --only "$3" "$2" >"$dir/said" 2>&1 </dev/null
}
works() {
	mpi "$@" && grep -q '^[1-9][0-9]* passed, 0 failed' "$dir/said" && return
	cat "$dir/said"
	return 1
}
refused() { # USER FILE CASES
	mpi "$@"
	grep -q "class 20: \|MPI_ERR_ACCESS" "$dir/said" && ! grep -q '^ok' "$dir/said" && return
	cat "$dir/said"
	return 1
}
a=scratch/a
# refused_alike: Mallory's "opens" is refused by each call below a closed directory of hers, in words that tell no more
refused_alike() {
	local preload=(-x "LD_PRELOAD=$dir/mpi/libddio_mpiio.so") p paths=()
	[ "$mpi" = openmpi ] || preload=(-iface lo -genv LD_PRELOAD "$dir/mpi/libddio_mpiio.so")
	for p in "$dir/root" "$dir/$mallory/mnt"; do
		paths+=("$p/$a/private/f" "$p/$a/private/none" "$p/$a/private/none/f" "$p/$a/private/f/f")
	done
	paths+=("ddio:$a/private/f" "ddio:$a/private/none" "ddio:$a/private/none/f" "ddio:$a/private/f/f")
	cp "$top/build/tests/mpiio/$mpi/opens" "$dir/mpi/opens.$mpi"
	job $((60 * DDIO_PATIENCE)) setpriv --reuid $mallory --regid $mallory --groups $team env -C "$dir/$mallory" DDIO_CONF="$dir/$mallory/conf" \
		HOME="$dir/$mallory" TMPDIR="$dir/$mallory" "mpiexec.$mpi" -n 2 "${preload[@]}" "$dir/mpi/opens.$mpi" "${paths[@]}" \
		>"$dir/classes" 2>"$dir/said" </dev/null
	[ "$(grep -c '^ACCESS ACCESS ACCESS ACCESS ACCESS$' "$dir/classes")" = ${#paths[@]} ] &&
		! grep -qi "no such\|exist\|not a dir" "$dir/said" && return
	cat "$dir/classes" "$dir/said"
	return 1
}
for mpi in mpich openmpi; do
	if ! cp "$top/build/tests/mpiio/$mpi/functions" "$dir/mpi/$mpi" 2>/dev/null; then
		skipped=$((skipped + 1))
		echo "skipped: $mpi is not installed"
		continue
	fi
	check "$mpi: Alice's program below her mount" works $alice "$dir/$alice/mnt/$a/private/$mpi" open/
	check "$mpi: ... and below root's" works $alice "$dir/root/$a/private/$mpi" collective/at
	check "$mpi: ... and by its name" works $alice "ddio:$a/private/$mpi" collective/at
	check "... are served by ddio" test "$(moved_by "$mpi")" -gt 0
	check "$mpi: root's" works 0 "$dir/root/root.$mpi" collective/at
	run $alice "cp '$dir/in' $a/open/f.$mpi"
	check "$mpi: Mallory's is refused what he may not open" refused $mallory "$dir/root/$a/private/$mpi" open/new
	check "... by his mount" refused $mallory "$dir/$mallory/mnt/$a/private/$mpi" open/new
	check "... whatever is there, by either mount and by its name" refused_alike
	check "... and to make one" refused $mallory "$dir/root/$a/open/$mpi" open/new
	check "$mpi: a directory that is locked meanwhile" works $alice "$dir/root/$a/open/$mpi" open/new
	run $alice "chmod 700 $a"
	check "... is to others" refused $mallory "$dir/root/$a/open/f.$mpi" open/existing
	check "... not to her" works $alice "$dir/root/$a/open/$mpi" open/excl
	run $alice "chmod 755 $a && mv $a/open $a/moved"
	check "$mpi: one that is renamed" works $alice "$dir/root/$a/moved/$mpi" open/existing
	check "... and the file is there" run $alice "test -s $a/moved/$mpi.old && mv $a/moved $a/open"
	run $alice "rm $a/open/$mpi.old"
	check "$mpi: a file that is removed" works $alice "$dir/root/$a/open/$mpi" open/made_again
done
check "root unmounts" umount "$dir/root"

check "he unmounts" run $mallory "cd / && fusermount3 -u '$dir/$mallory/mnt'"
check "she unmounts" run $alice "cd / && fusermount3 -u '$dir/$alice/mnt'"
stop_cluster c
