# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests of users share: a munged of the test's own, a cluster "c", and Alice and Mallory, who have its key.  Sourced.
if [ "$(id -u)" = 0 ] && [ -z "${OWN_RUN:-}" ]; then
	# /run of its own, where munged and its clients meet.
	unshare -m true 2>/dev/null || { echo "skipped: no mount namespaces here"; exit 77; }
	OWN_RUN=1 exec unshare -m "$0" "$@"
fi
. "$(dirname "${BASH_SOURCE[0]}")/lib_munge.sh"
trap 'munge_stop; finish' EXIT
munge_start || exit 1
check "munged runs" test -S /run/munge/munge.socket.2

alice=12345 mallory=12346
chmod 711 "$dir"
mkdir -m 755 "$dir/bin"
cp "$ddio" "$helpers/crowd" "$dir/bin"
as() { # USER COMMAND...: ddio, or crowd, as that user, who has the key
	local who=$1
	shift
	setpriv --reuid "$who" --regid "$who" --clear-groups env DDIO_CONF="$dir/$who/conf" "$dir/bin/$1" "${@:2}"
}
# The cluster as it was, but with users.
start_cluster c --iops 2 --engine aio --disk-size "${DISK_SIZE:-32M}" --block-size 64K || exit 1
stop_cluster c
(umask 077 && head -c 32 /dev/urandom | base64 >"$dir/servers.key")
sed -i "s|^\[cluster\]|&\nusers = munge\nservers_key = $dir/servers.key\ngrant_time = 2s|" "$DDIO_CONF"
check "a cluster with users starts" "$ddio" start --dir "$dir/c"
key=$(sed -n 's/^key_file = //p' "$DDIO_CONF")
for u in $alice $mallory; do
	mkdir "$dir/$u"
	[ -z "$key" ] || install -m 600 -o "$u" -g "$u" "$key" "$dir/$u/key"
	sed "s|^key_file = .*|key_file = $dir/$u/key|" "$DDIO_CONF" >"$dir/$u/conf"
	chown -R "$u:$u" "$dir/$u"
done
