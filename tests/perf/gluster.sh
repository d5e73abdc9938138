# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# Sourced: a GlusterFS volume of one brick below $dir, mounted on $dir/gluster.  Nothing of glusterd's configuration is touched but
# a volume that is made here and removed again.  It does not serve on loopback: $DDIO_OWN_NETWORK is an address that nobody else
# can reach, in the network namespace that the caller has entered.
gluster_volume=ddioperf$$

# gluster_start: fails, and says why, where there is no GlusterFS
gluster_start() {
	local address=$DDIO_OWN_NETWORK n
	command -v glusterd >/dev/null || { echo "skipped: no GlusterFS (glusterfs-server)"; return 1; }
	pgrep -x glusterd >/dev/null && { echo "skipped: GlusterFS serves others here"; return 1; }
	ip link add peer0 type veth peer name peer1 && ip address add "$address/24" dev peer0 &&
		ip link set peer0 up && ip link set peer1 up || { echo "skipped: no veth for GlusterFS"; return 1; }
	glusterd --pid-file="$dir/glusterd.pid" --log-file="$dir/glusterd.log" || exit 1
	for ((n = 0; n < 200; n++)); do
		gluster --mode=script volume list >/dev/null 2>&1 && break
		sleep 0.1
	done
	mkdir "$dir/brick" "$dir/gluster"
	gluster --mode=script volume create "$gluster_volume" "$address:$dir/brick" force >/dev/null &&
		gluster --mode=script volume start "$gluster_volume" >/dev/null &&
		mount -t glusterfs "$address:/$gluster_volume" "$dir/gluster" || exit 1
}

gluster_stop() {
	mountpoint -q "$dir/gluster" && { umount "$dir/gluster" 2>/dev/null || umount -l "$dir/gluster"; }
	[ -e "$dir/brick" ] && {
		gluster --mode=script volume stop "$gluster_volume" force >/dev/null
		gluster --mode=script volume delete "$gluster_volume" >/dev/null
	}
	[ -e "$dir/glusterd.pid" ] && kill "$(cat "$dir/glusterd.pid")" && gluster_await_end
}

# The next to begin finds no glusterd that is about to end.
gluster_await_end() {
	local n
	for ((n = 0; n < 100; n++)); do
		pgrep -x glusterd >/dev/null || return 0
		sleep 0.1
	done
}
