#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Machines to try a cluster on, all on this one: each has a network of its own, joined to the others', and a file
# system of its own, which begins as this machine's and whose changes are in memory.
#
#   tests/machines.sh start DIR NAME ...        with addresses 10.99.0.1 and so on; DIR keeps what is known of them
#   tests/machines.sh run DIR NAME COMMAND ...  a shell's command on one of them; without a command a shell
#   tests/machines.sh stop DIR
#
# It needs root, namespaces and overlayfs (status 77 without), and leaves this machine's network and files alone.
# A machine has no systemd and no ssh, but stand-ins (tests/machines/): systemctl starts and stops ddiod@NODE as its
# unit would, as the user ddio, and ssh and scp reach the other machines.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)

die() {
	echo "machines.sh: $*" >&2
	exit 1
}
# in_net NAME COMMAND...: in that machine's network, with this machine's files
in_net() { nsenter -t "$(cat "$dir/$1.pid")" -n -- "${@:2}"; }

# began FILE: waits for what says that a machine is there
began() {
	local n
	for ((n = 0; n < 300; n++)); do
		[ -s "$1" ] && return
		sleep 0.1
	done
	return 1
}

# switch: the machine whose only work is to join the others
switch() {
	unshare --net --mount bash -c 'echo $$ >"$1/switch.pid"; exec sleep infinity' _ "$dir" &
	began "$dir/switch.pid" || die "no network namespaces here"
	in_net switch ip link add br0 type bridge && in_net switch ip link set br0 up
}

# root_of NAME: becomes the machine's first process, in its file system
root_of() {
	local d=$dir/$1 r=$dir/$1/root p
	mount --make-rprivate / && mount -t tmpfs tmpfs "$d" && mkdir "$d/up" "$d/work" "$r" &&
		mount -t overlay overlay -o "lowerdir=/,upperdir=$d/up,workdir=$d/work" "$r" || return
	for p in /proc /sys /dev; do mount --rbind "$p" "$r$p" || return; done
	mount -t tmpfs tmpfs "$r/run" && mount -t tmpfs -o mode=1777 tmpfs "$r/tmp" && mkdir -p "$r/run/machines" "$r$top" &&
		mount --bind "$dir" "$r/run/machines" && mount --bind "$top" "$r$top" || return
	rm -rf "$r/etc/ddio" "$r/var/lib/ddio" "$r/srv/ddio" "$r/mnt/data"
	install -m 755 "$top"/tests/machines/{systemctl,ssh,scp} "$r/usr/local/bin/"
	grep -q '^ddio:' "$r/etc/passwd" || {
		echo 'ddio:x:994:' >>"$r/etc/group"
		echo 'ddio:x:994:994::/var/lib/ddio:/usr/sbin/nologin' >>"$r/etc/passwd"
	}
	echo "$1" >"$r/etc/hostname"
	hostname "$1"
	cp "$dir/hosts" "$r/etc/hosts"
	ip link set lo up
	echo $$ >"$dir/$1.pid"
	exec chroot "$r" sleep infinity
}

start() {
	local n i=0
	mkdir -p "$dir" && dir=$(cd "$dir" && pwd) && rm -f "$dir"/*.pid || exit
	mkdir -p "${@/#/$dir/}"
	echo "127.0.0.1 localhost" >"$dir/hosts"
	for n in "$@"; do echo "10.99.0.$((++i)) $n" >>"$dir/hosts"; done
	switch || die "no bridge can be made here"
	i=0
	for n in "$@"; do
		i=$((i + 1))
		unshare --net --mount --uts "$0" root-of "$dir" "$n" &
		began "$dir/$n.pid" || die "no machine $n"
		ip link add eth0 netns "$(cat "$dir/$n.pid")" type veth peer name "p$i" netns "$(cat "$dir/switch.pid")" &&
			in_net switch ip link set "p$i" master br0 up &&
			in_net "$n" ip addr add "10.99.0.$i/24" dev eth0 && in_net "$n" ip link set eth0 up || die "no network for $n"
	done
}

run() {
	local name=$1 pid
	shift
	pid=$(cat "$dir/$name.pid") || exit
	[ $# -gt 0 ] || set -- exec bash -i
	exec nsenter -t "$pid" -n -m -u -r -w env -i HOME=/root TERM="${TERM:-dumb}" PS1="$name# " \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LD_LIBRARY_PATH=/usr/local/lib \
		DDIO_SOURCE="$top" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
		OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none \
		bash -c "$*"
}

# Whatever runs in one of the machines' networks belongs to it.
stop() {
	local f p nets
	for f in "$dir"/*.pid; do
		[ -e "$f" ] || continue
		nets=$(readlink "/proc/$(cat "$f")/ns/net") || continue
		for p in /proc/[0-9]*; do
			[ "$(readlink "$p/ns/net" 2>/dev/null)" != "$nets" ] || kill -9 "${p#/proc/}" 2>/dev/null
		done
		rm -f "$f"
	done
	rm -rf --one-file-system "$dir"
}

[ $# -ge 2 ] || { sed -n '3,12s/^# \{0,1\}//p' "$0"; exit 2; }
what=$1 dir=$2
shift 2
[ "$(id -u)" = 0 ] || { echo "skipped: machines need root"; exit 77; }
case $what in
start)
	unshare --net --mount --uts true 2>/dev/null || { echo "skipped: no namespaces here"; exit 77; }
	grep -qw overlay /proc/filesystems || modprobe overlay 2>/dev/null || { echo "skipped: no overlayfs here"; exit 77; }
	start "$@"
	;;
root-of) root_of "$@" || die "$1 has no file system" ;;
run) run "$@" ;;
stop) stop ;;
*) die "$what: start, run or stop" ;;
esac
