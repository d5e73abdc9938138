#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The Debian packages, as an administrator uses them: installed in a fresh Debian, a cluster of three nodes and a mount with what
# is installed, upgraded under it, removed, purged.
#
#   tests/packages.sh make SUITE        makes the root of a Debian (bookworm, trixie) in the cache, once; needs the network
#   tests/packages.sh try SUITE [NEW [OLD]]
#                                       tries the packages of folder NEW in a copy of that root, upgraded from those of OLD;
#                                       without them, if this is that Debian, those that tools/debs.sh makes
#                                       here, OLD with an older number.  77: no such root, or not root
#   tests/packages.sh build SUITE FOLDER [SCRIPT...]
#                                       makes packages of this commit in a copy of that root, and runs scripts of its tests there
#                                       with what was built, such as "tests/cluster/tls.sh"; needs the network, takes minutes
#   tests/packages.sh run SUITE FOLDER SCRIPT...
#                                       installs packages there, and runs scripts with them, such as "tests/perf/tls.sh 5 100M"
#
# Nothing but the copy, in a mount and a network name space of its own, is changed.  The cache is $DDIO_CACHE (~/.cache/ddio).
# shellcheck disable=SC2016 # what stands in quotes is for another shell, dpkg-query or apt
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/patience.sh
cache=${DDIO_CACHE:-$HOME/.cache/ddio}/packages
what=${1:-} suite=${2:-}
base=$cache/$suite.tar


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
# What the packages need of others, so that they are installed without a network.
needs='liblmdb0 libinih1 fuse3 iproute2 util-linux python3-numpy procps systemd'
# Since Debian 13 some libraries' packages have other names.
case $suite in bookworm) needs="$needs libaio1 libssl3" ;; *) needs="$needs libaio1t64 libssl3t64" ;; esac

make_root() {
	local mirror root=$cache/$suite.new
	mirror=${DDIO_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)}
	[ ! -e "$base" ] || return 0
	rm -rf --one-file-system "$root"
	mkdir -p "$root"
	debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$cache/$suite.log" 2>&1 || die "debootstrap: $(tail -n 1 "$cache/$suite.log")"
	apt-config dump | grep '^Acquire::' >"$root/etc/apt/apt.conf.d/90machine"
	cp /etc/resolv.conf "$root/etc/"
	# shellcheck disable=SC2086
	{ inside apt-get update -qq && inside apt-get install -y -qq --no-install-recommends $needs && inside apt-get clean; } \
		>"$cache/$suite.log" 2>&1 || die "packages: $(tail -n 1 "$cache/$suite.log")"
	tar -C "$root" -cf "$base.new" . && mv "$base.new" "$base" && rm -rf --one-file-system "$root"
}

try() {
	local new=$1 old=$2
	declare -a node
	unpack_root || die "no copy of the root"
	files >/mnt/before
	put "$old"
	check "install" dpkg_install
	check "... nothing is missing" installed_version "$(version_in "$old")"
	check "programs say their version" said_version "$(version_in "$old")"
	check "the user of the daemon is there" inside id ddio
	check "libraries are found" inside sh -c '! ldd /usr/bin/ddio /usr/sbin/ddiod /usr/sbin/ddiofs | grep "not found"'
	check "manual pages are there" inside sh -c 'ls /usr/share/man/man1/ddio.1.gz /usr/share/man/man8/ddiod.8.gz'
	check "the Python package is" inside python3 -c 'import ddio; print(ddio.connect)'
	check "three networks" nets
	configure
	check "three nodes start" all start
	check "status" inside ddio status
	sed 's/^name/security = none\n&/' "$root"/etc/ddio/ddio.conf >"$root"/etc/plain.conf
	check "connections are those of TLS" eval 'inside ddio status --conf /etc/plain.conf 2>&1 | grep "speaks TLS only"'
	rm "$root"/etc/plain.conf
	head -c 3000000 /dev/urandom >"$root"/tmp/f
	check "a file goes in" inside ddio import /tmp/f f
	check "a mount" mount_it
	check "... has the file" inside cmp /tmp/f /mnt/f
	check "... takes another" inside sh -c 'cp /tmp/f /mnt/g && sync -f /mnt'
	config_sum >/mnt/conf
	mkdir -p "$root"/etc/systemd/system/multi-user.target.wants &&
		ln -s /usr/lib/systemd/system/ddiod@.service "$root"/etc/systemd/system/multi-user.target.wants/ddiod@io0.service
	put "$new"
	check "upgrade, while all runs" dpkg_install
	check "... to the new version" installed_version "$(version_in "$new")"
	check "... which programs say" said_version "$(version_in "$new")"
	check "the configuration is as it was" eval 'config_sum | cmp - /mnt/conf'
	check "the mount goes on" inside cmp /tmp/f /mnt/g
	for i in 0 1 2; do
		check "node $i restarts" eval "halt $i && start $i"
		check "... and the mount goes on" inside cmp /tmp/f /mnt/g
	done
	check "unmount" inside umount /mnt
	check "mount by the new program" mount_it
	check "... has both files" inside sh -c 'cmp /tmp/f /mnt/f && cmp /tmp/f /mnt/g'
	check "fsck" inside ddio fsck
	check "unmount" inside umount /mnt
	check "the nodes stop" all halt
	check "remove" inside sh -c 'dpkg -r $(dpkg-query -W -f "\${Package} " "*ddio*")'
	check "... no program is left" inside sh -c '! ls /usr/bin/ddio* /usr/sbin/ddio* /usr/sbin/mount.ddio'
	check "purge" inside sh -c 'dpkg -P $(dpkg-query -W -f "\${Package} " "*ddio*") || [ -z "$(dpkg-query -W "*ddio*" 2>/dev/null)" ]'
	check "... dpkg knows nothing of them" eval '! names | grep .'
	check "configuration and data are left" eval 'config_sum | cmp - /mnt/conf && test -s "$root"/srv/ddio/d0 && test -d "$root"/var/lib/ddio/io0'
	# Whose data they are.
	check "the user is left" inside id ddio
	files >/mnt/after
	check "nothing else is" eval '! diff /mnt/before /mnt/after | grep -v "/etc/\(passwd\|group\|shadow\|gshadow\|.pwd.lock\)-\?$" | grep "^[<>]"'
	put "$new"
	check "installed again" dpkg_install
	check "... the data are there" eval 'all start && inside ddio export f /tmp/again && cmp "$root"/tmp/f "$root"/tmp/again'
	check "the nodes stop" all halt
	echo "$passed passed, $failed failed, 0 skipped"
	[ $failed -eq 0 ]
}

# In the root: this commit, from git, so that nothing that was built here is taken.
build() {
	local out=$1 script rc=0
	shift
	unpack_root || die "no copy of the root"
	build_there HEAD all mpiio ${1:+helper-bins}
	inside sh -c "cd /ddio && tools/debs.sh $(sed -n 's/^VERSION := //p' Makefile) /ddio/debs" >"$cache/build.log" 2>&1 ||
		die "packages: $(tail -n 3 "$cache/build.log")"
	mkdir -p "$out" && cp "$root"/ddio/debs/*.deb "$out/"
	for script in "$@"; do
		echo "$suite: $script"
		inside sh -c "cd /ddio && BUILD=build $script" || rc=1
	done
	return $rc
}

run() {
	local script rc=0
	unpack_root || die "no copy of the root"
	put "$1"
	dpkg_install >/mnt/out 2>&1 || die "installation: $(tail -n 3 /mnt/out)"
	mkdir "$root"/ddio && git archive HEAD | tar -x -C "$root"/ddio || die "no source"
	shift
	for script in "$@"; do inside sh -c "cd /ddio && BUILD=/usr/bin $script" || rc=1; done
	return $rc
}

# Packages of what is built here.
own_packages() {
	tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
	make -s --no-print-directory mpiio >/dev/null && tools/debs.sh "$(sed -n 's/^VERSION := //p' Makefile)" "$tmp/new" >/dev/null &&
		tools/debs.sh "$(sed -n 's/^VERSION := //p' Makefile)~old" "$tmp/old" >/dev/null || die "no packages"
}

case $what in
in-*) [ $# -ge 3 ] || exit 2 ;;
make | try | build | run) [ -n "$suite" ] || exit 2 ;;
*)
	sed -n '3,18s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac
[ "$(id -u)" = 0 ] || skip "packages are installed by root"
case $what in
make)
	mkdir -p "$cache"
	make_root
	;;
try)
	[ -e "$base" ] || skip "no root of Debian $suite: \"tests/packages.sh make $suite\" makes one"
	unshare --mount --net --pid --fork true 2>/dev/null || skip "no name spaces here"
	if [ $# -gt 2 ]; then
		new=$(cd "$3" && pwd) old=$(cd "${4:-$3}" && pwd) || exit 2
	else
		# Libraries have other names from one Debian to the next.
		grep -qx "VERSION_CODENAME=$suite" /etc/os-release || skip "Debian $suite: this machine's packages are not for it"
		own_packages
		new=$tmp/new old=$tmp/old
	fi
	unshare --mount --net --pid --fork --kill-child --mount-proc "$0" in-try "$suite" "$new" "$old"
	;;
build | run)
	[ -e "$base" ] || skip "no root of Debian $suite: \"tests/packages.sh make $suite\" makes one"
	[ $# -ge 3 ] && mkdir -p "$3" && folder=$(cd "$3" && pwd) || exit 2
	net=()
	[ $what = build ] || net=(--net)
	shift 3
	unshare --mount "${net[@]}" --pid --fork --kill-child --mount-proc "$0" in-$what "$suite" "$folder" "$@"
	;;
in-try) try "$3" "$4" ;;
in-build) build "${@:3}" ;;
in-run) run "${@:3}" ;;
esac
