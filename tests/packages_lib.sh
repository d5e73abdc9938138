# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # what stands in quotes is for another shell or dpkg-query; who sources this uses the rest
# For packages.sh and upgrade.sh: a copy of a Debian's root, three networks in which nodes of what is installed there run.  The
# caller has set base, the root's archive, and suite.

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}
skip() {
	echo "skipped: $*"
	echo "0 passed, 0 failed, 1 skipped"
	exit 77
}
inside() { chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"; }
# unpack_root: a copy of the root, in memory
unpack_root() {
	mount --make-rprivate / && mount -t tmpfs tmpfs /mnt && mkdir /mnt/root && root=/mnt/root && tar -C "$root" -xf "$base" &&
		mount -t proc proc "$root"/proc && mount --rbind /dev "$root"/dev && mount -t tmpfs tmpfs "$root"/run && ip link set lo up
}

# build_there COMMIT TARGET...: makes these of a commit in /ddio of the root, with a network that is this machine's
build_there() {
	local commit=$1
	shift
	mkdir "$root"/ddio && git archive "$commit" | tar -x -C "$root"/ddio || die "no source of $commit"
	cp /etc/resolv.conf "$root"/etc/
	inside sh -c 'apt-get update -qq && cd /ddio && apt-get install -y -qq --no-install-recommends make git dpkg-dev xz-utils procps \
		libcunit1-dev liblapacke-dev && tools/install-deps.sh build' >"$cache/build.log" 2>&1 || die "packages: $(tail -n 3 "$cache/build.log")"
	inside make -C /ddio -s "-j$(nproc)" "$@" >"$cache/build.log" 2>&1 || die "build: $(grep -m 3 -E 'error:|\*\*\*' "$cache/build.log")"
}

passed=0 failed=0
check() {
	local what=$1
	shift
	if "$@" >/mnt/out 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $suite: $what: $*"
		tail -n 15 /mnt/out
	fi
}

# nets: three networks, io0 to io2, joined to this one, which is the client's
nets() {
	local i n
	ip link add br0 type bridge && ip addr add 10.98.0.10/24 dev br0 && ip link set br0 up || return
	for i in 0 1 2; do
		unshare --net sleep infinity &
		node[i]=$!
		# It is there when its network is another one.
		for ((n = 0; n < 200 && $(stat -Lc %i /proc/self/ns/net) == $(stat -Lc %i "/proc/${node[i]}/ns/net"); n++)); do sleep 0.05; done
		ip link add "p$i" type veth peer name eth0 netns "${node[i]}" && ip link set "p$i" master br0 up &&
			nsenter -t "${node[i]}" -n sh -c "ip addr add 10.98.0.$((i + 1))/24 dev eth0; ip link set eth0 up; ip link set lo up" || return
	done
}
# on N COMMAND...: in the network of a node, as its daemon's user
on() {
	local i=$1
	shift
	nsenter -t "${node[i]}" -n chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		setpriv --reuid ddio --regid ddio --groups "$(inside getent group disk | cut -d: -f3)" "$@"
}
configure() {
	local i
	mkdir -p "$root"/etc/ddio "$root"/srv/ddio
	(umask 077 && head -c 32 /dev/urandom | base64 >"$root"/etc/ddio/key)
	printf '[cluster]\nname = packages\nkey_file = /etc/ddio/key\nblock = 64K\n' >"$root"/etc/ddio/ddio.conf
	for i in 0 1 2; do
		printf '[node io%d]\naddress = 10.98.0.%d:7400\nmeta = /var/lib/ddio/io%d\ncache = 8M\n' $i $((i + 1)) $i
	done >>"$root"/etc/ddio/ddio.conf
	for i in 0 1 2; do
		printf '[disk d%d]\nnode = io%d\nengine = aio\npath = /srv/ddio/d%d\nsize = 64M\n' $i $i $i
	done >>"$root"/etc/ddio/ddio.conf
	inside sh -c 'chown -R ddio:ddio /etc/ddio/key /srv/ddio && install -d -o ddio -g ddio /var/lib/ddio /run/ddio &&
		for d in d0 d1 d2; do install -o ddio -g ddio /dev/null /srv/ddio/$d; done'
}
pid_file() { echo "/run/ddio/io$1.pid"; }
start() { on "$1" ddiod --conf /etc/ddio/ddio.conf --node "io$1" --pid-file "$(pid_file "$1")"; }
halt() {
	local pid
	pid=$(cat "$root$(pid_file "$1")") && kill "$pid" && timeout $((30 * DDIO_PATIENCE)) tail --pid="$pid" -f /dev/null
}
all() {
	local i
	for i in 0 1 2; do "$1" $i || return; done
}
# What there is, but for what dpkg keeps of itself and what is the cluster's.
files() {
	(cd "$root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./run -o -path ./tmp -o -path ./var/lib/dpkg -o -path ./var/log \
		-o -path ./var/cache -o -path ./var/lib/ddio -o -path ./srv/ddio -o -path ./etc/ddio -o -path ./deb \
		-o -path ./mnt -o -path ./etc/ld.so.cache \) -prune -o -print) | LC_ALL=C sort
}
put() { rm -rf "$root"/deb && mkdir "$root"/deb && cp "$1"/*.deb "$root"/deb/ && rm -f "$root"/deb/libddio-mpiio-*.deb; }
dpkg_install() { inside sh -c 'dpkg -i /deb/*.deb'; }
config_sum() { (cd "$root"/etc/ddio && md5sum -- *); }
installed_version() { [ "$(inside dpkg-query -W -f '${Version}\n' ddio ddio-server ddio-fs libddio0 | sort -u)" = "$1" ]; }
# said_version VERSION: programs say that of the sources, which packages that are tried as older ones have, too
said_version() {
	local p
	for p in ddio ddiod ddiofs; do
		inside $p --version | grep -F "$p ${1%%~*} (" || return
	done
}
names() { inside dpkg-query -W -f '${Package}\n' '*ddio*' 2>/dev/null; }
version_in() { dpkg-deb -f "$1"/libddio0_*.deb Version; }
mount_it() { inside mount -t ddio io0:/ /mnt && inside grep -q ' /mnt fuse.ddio ' /proc/mounts; }
