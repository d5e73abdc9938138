#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016 # what stands in quotes is for another shell
#
# From 0.1.0 to the packages of this tree, in a fresh Debian, by the steps of operating.rst: three nodes of 0.1.0 with files in them,
# clients of both versions, nodes restarted one by one under a mount, then TLS; what is refused, and with which words.
#
#   tests/upgrade.sh SUITE [FOLDER]     with the packages in FOLDER, or, if this machine is that Debian, with those of what is built
#                                       here.  77: no root ("tests/packages.sh make SUITE" makes one), or not root
#
# The first time 0.1.0 is built in that Debian, which needs the network and takes minutes; what it installs is kept in the cache.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/patience.sh
cache=${DDIO_CACHE:-$HOME/.cache/ddio}/packages
inner=
if [ "${1:-}" = in ]; then inner=$2; shift 2; fi
suite=${1:-}
base=$cache/$suite.tar
old=$cache/$suite-0.1.0.tar
# The last commit before what CHANGES tells of 0.2.0.
commit=edea04a64a685143e1ded65e099bda7c1ed75f87
. tests/packages_lib.sh

# The old programs stay in a folder of their own, too, for a client that is not upgraded.
build_old() {
	unpack_root || die "no copy of the root"
	build_there $commit all
	inside make -C /ddio -s install DESTDIR=/old >"$cache/build.log" 2>&1 || die "no installation: $(tail -n 3 "$cache/build.log")"
	tar -C "$root"/old -cf "$old.new" . && mv "$old.new" "$old"
}

# In operating.rst, between these words: what removes 0.1.0.
remove_old() { sed -n '/^   all# cd \/usr\/local /,/^$/s/^   [a-z]*# //p' Documentation/operating.rst; }
old_ddio() { inside env LD_LIBRARY_PATH=/old/lib /old/bin/ddio "$@"; }
says() { # TEXT COMMAND...: fails, with these words
	local text=$1
	shift
	! "$@" >/mnt/said 2>&1 && grep -q "$text" /mnt/said || { cat /mnt/said; return 1; }
}
tells() { grep -q "$1" "$root"/tmp/*.log; }
start() { on "$1" ddiod --conf /etc/ddio/ddio.conf --node "io$1" --pid-file "$(pid_file "$1")" --log-file "/tmp/io$1.log"; }
start_old() { on "$1" env LD_LIBRARY_PATH=/old/lib /old/sbin/ddiod --conf /etc/ddio/ddio.conf --node "io$1" --pid-file "$(pid_file "$1")"; }
all_there() { inside sh -c 'diff -r --no-dereference /usr/share/common-licenses /mnt/d && cmp /tmp/f /mnt/f && cmp /tmp/f /mnt/g &&
	[ "$(readlink /mnt/l)" = f ] && [ -p /mnt/p ] && [ "$(stat -c %a:%u:%g /mnt/g)" = 6750:7:8 ]'; }

as_it_was() {
	tar -C "$root" --keep-directory-symlink -xf "$old" && mkdir "$root"/old && cp -a "$root"/usr/local/. "$root"/old/ || return
	inside ldconfig && inside sh -c 'groupadd -r ddio && useradd -r -g ddio -G disk ddio'
}
fill_it() {
	head -c 3000000 /dev/urandom >"$root"/tmp/f
	inside ddio import /tmp/f f && mount_it && inside sh -c 'cp -a /usr/share/common-licenses /mnt/d && cp /tmp/f /mnt/g &&
		chown 7:8 /mnt/g && chmod 6750 /mnt/g && ln -s f /mnt/l && mkfifo /mnt/p && sync -f /mnt' && all_there && inside umount /mnt
}
clients_first() {
	sed -i '/^security/d;s/^name/security = none\n&/' "$root"/etc/ddio/ddio.conf
	remove_old >"$root"/tmp/remove && [ -s "$root"/tmp/remove ] && inside sh -e /tmp/remove && dpkg_install
}
node_by_node() {
	local i
	for i in 0 1 2; do
		check "node $i becomes the new version" eval "halt $i && start $i"
		check "... and the mount goes on" all_there
		check "... and takes files" inside sh -c "cp /tmp/f /mnt/new$i && sync -f /mnt && cmp /tmp/f /mnt/new$i"
	done
}
without_security() { sed '/^security/d' "$root"/etc/ddio/ddio.conf >"$root"/etc/old.conf; }

from_old() {
	declare -a node
	unpack_root || die "no copy of the root"
	cp "$old" /mnt/old.tar && old=/mnt/old.tar
	check "0.1.0 is installed" as_it_was
	check "... and says so" said_version 0.1.0
	check "three networks" nets
	configure
	check "three nodes of 0.1.0" all start
	check "files" fill_it
	check "0.1.0 knows no security" eval 'sed "s/^name/security = none\n&/" "$root"/etc/ddio/ddio.conf >"$root"/etc/new.conf &&
		says "unknown name .security." inside ddio ls --conf /etc/new.conf'
	put "$1"
	without_security
	check "the clients first" clients_first
	check "... and say their version" said_version "$(version_in "$1")"
	check "... nothing of 0.1.0 is left" eval '! find "$root"/usr/local -name "*ddio*" | grep .'
	check "... its nodes run on, and serve the new" inside ddio status
	check "... but not by TLS, and that is said" says "the node does not speak TLS" inside ddio ls --conf /etc/old.conf
	check "a mount" mount_it
	check "... has all" all_there
	node_by_node
	check "a client of 0.1.0 is told" says "the connector is older than the node.*update it" old_ddio ls --conf /etc/old.conf
	check "... and so is the log" tells "the connector is older than the node"
	check "unmount" inside umount /mnt
	check "fsck" eval 'inside ddio fsck | grep consistent'
	check "all stop, and start with TLS" eval 'all halt && without_security && mv "$root"/etc/old.conf "$root"/etc/ddio/ddio.conf && all start'
	check "a mount" mount_it
	check "... has all" all_there
	cp "$root"/etc/ddio/ddio.conf "$root"/etc/old.conf
	check "a client of 0.1.0 is told what is spoken" says "the node speaks TLS only" old_ddio ls --conf /etc/old.conf
	check "unmount" inside umount /mnt
	check "back to 0.1.0: its daemon takes no disk" eval 'all halt && says "label" start_old 1'
	check "... and has harmed nothing" eval 'all start && mount_it && all_there && inside umount /mnt && inside ddio fsck | grep consistent'
	check "the nodes stop" all halt
	echo "$passed passed, $failed failed, 0 skipped"
	[ $failed -eq 0 ]
}

case $inner in
build) build_old; exit ;;
try) from_old "$2"; exit ;;
esac
[ -n "$suite" ] || { sed -n '5,13s/^# \{0,1\}//p' "$0"; exit 2; }
[ "$(id -u)" = 0 ] || skip "packages are installed by root"
[ -e "$base" ] || skip "no root of Debian $suite: \"tests/packages.sh make $suite\" makes one"
unshare --mount --net --pid --fork true 2>/dev/null || skip "no name spaces here"
if [ ! -e "$old" ]; then
	git cat-file -e $commit 2>/dev/null || skip "no history that reaches 0.1.0"
	unshare --mount --pid --fork --kill-child --mount-proc "$0" in build "$suite" || exit
fi
if [ $# -gt 1 ]; then
	new=$(cd "$2" && pwd) || exit 2
else
	grep -qx "VERSION_CODENAME=$suite" /etc/os-release || skip "Debian $suite: this machine's packages are not for it"
	new=$(mktemp -d) && trap 'rm -rf "$new"' EXIT
	make -s --no-print-directory all mpiio >/dev/null && tools/debs.sh "$(sed -n 's/^VERSION := //p' Makefile)" "$new" >/dev/null || die "no packages"
fi
unshare --mount --net --pid --fork --kill-child --mount-proc "$0" in try "$suite" "$new"
