#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What it costs that a cluster tells users apart ("users = munge"), beside one that does not, for a user who is not root:
#
#   tests/perf/users.sh [ROUNDS [CALLS]]
#
# ROUNDS (5) in turns: a new cluster of two I/O processors whose disks are files in memory, and a munged of its own, and in one process CALLS (300)
# each of connecting and disconnecting, opening and closing a file, opening, reading 4 KB and closing, and reading 4 KB of an open file.
# Prints medians in us, with the least and greatest round; Python's own part, some 10 us a call, is in them.  As root.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/perf/lib.sh
rounds=${1:-5} calls=${2:-300}
want_numbers "$rounds" "$calls"
munged=$(PATH=$PATH:/usr/sbin:/sbin command -v munged) && [ "$(id -u)" = 0 ] || { echo "users.sh: needs root, and munged" >&2; exit 77; }
if [ -z "${OWN_RUN:-}" ]; then
	# /run of its own, where munged and its clients meet.
	OWN_RUN=1 exec unshare -m "$0" "$@"
fi
alone "$@"
mount -t tmpfs -o mode=755 run /run && mkdir -m 755 /run/munge && (umask 077 && mkdir /run/munged && head -c 1024 /dev/urandom >/run/munged/key) &&
	"$munged" --key-file /run/munged/key --log-file /run/munged/log --pid-file /run/munge/pid --seed-file /run/munged/seed || exit 1
trap 'kill "$(</run/munge/pid)"; finish' EXIT
user=12345
chmod 711 "$dir"
mkdir -m 755 "$dir/lib" && cp -rL userlib/python/ddio "$build"/libddio.so.0 "$dir/lib/" && chmod -R a+rX "$dir/lib" || exit 1

# calls WAY: as the user
calls() {
	setpriv --reuid $user --regid $user --clear-groups env DDIO_CONF="$dir/user/conf" DDIO_LIBRARY="$dir/lib/libddio.so.0" \
		PYTHONPATH="$dir/lib" PYTHONDONTWRITEBYTECODE=1 python3 - "$calls" "$1" <<-'END'
		import sys, time
		import ddio
		n, way = int(sys.argv[1]), sys.argv[2]
		def per_call(what, fn):
		    begin = time.perf_counter()
		    for _ in range(n):
		        fn()
		    print(f"{what}, {way}: {(time.perf_counter() - begin) / n * 1e6:.1f}")
		def opened(read):
		    with s.open("scratch/f") as f:
		        if read:
		            f.pread(4096, 0)
		def connected():
		    with ddio.connect():
		        pass
		with ddio.connect() as s:
		    with s.open("scratch/f", "w") as f:
		        f.pwrite(bytes(1 << 20), 0)
		        per_call("read 4 KB", lambda: f.pread(4096, 0))
		    per_call("open and close", lambda: opened(False))
		    per_call("open, read 4 KB, close", lambda: opened(True))
		per_call("connect and disconnect", connected)
	END
}
# once WAY: a cluster's whole life
once() {
	"$build/ddio" start --dir "$dir/c" --engine aio --iops 2 --disk-size 64M >/dev/null || exit 1
	if [ "$1" = munge ]; then
		"$build/ddio" stop --dir "$dir/c" >/dev/null
		(umask 077 && head -c 32 /dev/urandom | base64 >"$dir/servers.key")
		sed -i "s|^\[cluster\]|&\nusers = munge\nservers_key = $dir/servers.key|" "$dir/c/ddio.conf"
		"$build/ddio" start --dir "$dir/c" >/dev/null || exit 1
	fi
	rm -rf "$dir/user" && mkdir "$dir/user"
	key=$(sed -n 's/^key_file = //p' "$dir/c/ddio.conf")
	[ -z "$key" ] || cp "$key" "$dir/user/key"
	sed "s|^key_file = .*|key_file = $dir/user/key|;/^servers_key/d" "$dir/c/ddio.conf" >"$dir/user/conf"
	[ "$1" = none ] || sed -i "s|^users = .*|&\nservers_key = /nobody/has/it|" "$dir/user/conf"
	chown -R $user:$user "$dir/user" && DDIO_CONF=$dir/c/ddio.conf "$build/ddio" mkdir --mode 777 scratch || exit 1
	calls "$1" || exit 1
	"$build/ddio" stop --clean --dir "$dir/c" >/dev/null
}
for ((r = 0; r < rounds; r++)); do
	once none
	once munge
done | medians '%-32s %9.1f  (%.1f to %.1f)'
