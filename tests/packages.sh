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

. tests/packages_lib.sh
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
