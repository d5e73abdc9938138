#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# Without users, directories below root's mounts that are closed to a user: MPI programs are refused there, whatever is in them, and by
# whatever call, and are told nothing else.  By names in the cluster whoever has the key gets everything, which security.rst says.
. "$(dirname "$0")/lib_mount.sh"
. tests/mpiio/launch.sh
alice=12345 mallory=12346 carol=12347
chmod 711 "$dir"
check "start" start_cluster c --iops 2 --engine aio --disk-size 32M --block-size 64K
chmod 711 "$dir/c"
key=$(sed -n 's/^key_file = //p' "$DDIO_CONF")
if [ -z "$key" ]; then
	stop_cluster c
	key=$dir/c/key
	(umask 077 && head -c 32 /dev/urandom | base64 >"$key")
	sed -i "s|^\[cluster\]|&\nkey_file = $key|" "$DDIO_CONF"
	check "a cluster with a key" "$ddio" start --dir "$dir/c"
fi
# Alice and Mallory have the key, Carol has not.
for u in $alice $mallory $carol; do
	install -d -m 700 -o "$u" -g "$u" "$dir/$u"
	[ "$u" = $carol ] || install -m 600 -o "$u" -g "$u" "$key" "$dir/$u/key"
	sed "s|^key_file = .*|key_file = $dir/$u/key|" "$DDIO_CONF" >"$dir/$u/conf"
	chown "$u:$u" "$dir/$u/conf"
done
# A mount tells programs by which configuration they reach the cluster: root's own, Alice's, or Mallory's.
check "root mounts" mount_at mnt allow_other
check "... for Alice" eval 'DDIO_CONF=$dir/$alice/conf mount_at hers allow_other'
check "... and for Mallory" eval 'DDIO_CONF=$dir/$mallory/conf mount_at his allow_other,attr_timeout=0,entry_timeout=0'
install -d -m 777 "$dir/mnt/all"
install -d -m 755 -o $alice "$dir/mnt/alice"
install -d -m 700 -o $alice "$dir/mnt/alice/closed"
install -d -m 777 -o $alice "$dir/mnt/alice/closed/open"
for f in alice/closed/f alice/closed/open/f all/f; do
	seq 1000 >"$dir/mnt/$f"
	chmod 666 "$dir/mnt/$f"
done
sum=$(cksum <"$dir/mnt/all/f")
install -d -m 755 "$dir/bin" "$dir/bin/ddio-mpiio"
cp "$top"/build/libddio_mpiio.so "$top"/build/libddio.so* "$dir/bin"
cp "$top"/build/ddio-mpiio/*.so "$dir/bin/ddio-mpiio"

# opens USER FILE...: what "opens" prints; what it says of errors is in $dir/said
opens() {
	local who=$1 preload=(-x "LD_PRELOAD=$dir/bin/libddio_mpiio.so")
	shift
	[ "$mpi" = openmpi ] || preload=(-iface lo -genv LD_PRELOAD "$dir/bin/libddio_mpiio.so")
	job $((60 * DDIO_PATIENCE)) setpriv --reuid "$who" --regid "$who" --clear-groups env -C "$dir/$who" DDIO_CONF="$dir/$who/conf" \
		DDIO_JOB="$mpi$who" HOME="$dir/$who" TMPDIR="$dir/$who" "mpiexec.$mpi" -n 2 "${preload[@]}" "$dir/bin/opens.$mpi" "$@" 2>"$dir/said" </dev/null
}
# all_say USER LINE FILE...: "opens" prints the line for each
all_say() {
	local who=$1 line=$2 got
	shift 2
	got=$(opens "$who" "$@")
	[ "$(sort -u <<<"$got")" = "$line" ] && [ "$(wc -l <<<"$got")" = $# ] && return
	printf '%s\n' "$got"
	cat "$dir/said"
	return 1
}
refused="ACCESS ACCESS ACCESS ACCESS ACCESS"
for mpi in mpich openmpi; do
	if ! cp "$top/build/tests/mpiio/$mpi/opens" "$dir/bin/opens.$mpi" 2>/dev/null; then
		skipped=$((skipped + 1))
		echo "skipped: $mpi is not installed"
		continue
	fi
	m=$dir/his
	check "$mpi: a closed directory, whatever is in it" all_say $mallory "$refused" "$m"/alice/closed/{f,none,open,none/f,f/f}
	check "$mpi: an open one below it" all_say $mallory "$refused" "$m"/alice/closed/open/{f,none,none/f,f/f}
	check "... and the text tells no more" eval '! grep -qi "no such\|exist\|not a dir" "$dir/said"'
	check "$mpi: one where he may not write" all_say $mallory "NO_SUCH_FILE NO_SUCH_FILE ACCESS ACCESS NO_SUCH_FILE" "$m/alice/none"
	check "$mpi: one that is open to all" all_say $mallory "NO_SUCH_FILE NO_SUCH_FILE ok FILE_EXISTS ok" "$m/all/new"
	check "$mpi: hers are hers" all_say $alice "NO_SUCH_FILE NO_SUCH_FILE ok FILE_EXISTS ok" "$dir/hers/alice/closed/new" "$dir/hers/alice/closed/open/new"
	check "... and ddio's" eval '! grep -q "cannot reach" "$dir/said"'
	check "$mpi: by names, all are his" all_say $mallory "ok ok ok FILE_EXISTS ok" ddio:alice/closed/open/f
	seq 1000 >"$dir/mnt/alice/closed/open/f"
	# Whoever has no key that counts there is told of that, once the kernel has let them in, and not before.
	check "$mpi: without the key: a closed directory" all_say $carol "$refused" "$dir"/mnt/alice/closed/{f,none,open/f,open/none}
	check "... of which nothing is said" eval '! grep -q "cannot reach" "$dir/said"'
	check "$mpi: an open one" all_say $carol "ACCESS ACCESS ACCESS ACCESS ok" "$dir/mnt/all/f"
	check "... it is told which key is missing" grep -q "cannot reach the cluster of ddio: .*$key" "$dir/said"
	seq 1000 >"$dir/mnt/all/f" && chmod 666 "$dir/mnt/all/f"
	check "$mpi: by a name: nothing" all_say $carol "IO IO IO IO IO" ddio:alice/closed/f ddio:none
done
check "the file is as it was" [ "$(cksum <"$dir/mnt/alice/closed/f")" = "$sum" ]
for m in his hers mnt; do check "unmount" unmount $m; done
check "stop" stop_cluster c
