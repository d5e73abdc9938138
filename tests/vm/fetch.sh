#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Fetches Debian's cloud kernels with their headers into the cache and unpacks
# them there.  Nothing is installed.  What the cache holds is not fetched again.
#
#   tests/vm/fetch.sh [--update] [KERNEL ...]     default: 6.1 6.12 7.x
#   tests/vm/fetch.sh trixie                      the root that builds for 7.x
#   tests/vm/fetch.sh source                      Debian's kernel source, for the debug kernel
#   tests/vm/fetch.sh dkms | systemd              roots for the machines of dkms.sh and systemd.sh
#
# The mirror is the one in this machine's apt sources; DDIO_MIRROR=URL names
# another.  apt verifies the archive's signature with debian-archive-keyring.
set -u
. "$(dirname "$0")/lib.sh"

# debootstrap's wget would wait a quarter of an hour for a server that has fallen silent, and twenty times so.
export WGETRC=$cache/wgetrc
mkdir -p "$cache" && printf 'timeout = 30\ntries = 3\n' >"$WGETRC"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
apt=$cache/apt

# "URI SUITE" a line, of everything in this machine's sources.
machine_sources() {
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
		sed -n 's/^deb  *\(\[[^]]*\]  *\)\?\([^ ]*\)  *\([^ ]*\).*/\2 \3/p'
	awk '
	function flush(   i, j, u, s) {
		if (on && types ~ /(^| )deb( |$)/)
			for (i = split(uris, u, " "); i > 0; i--)
				for (j = split(suites, s, " "); j > 0; j--)
					print u[i], s[j]
		types = uris = suites = ""; on = 1
	}
	BEGIN { on = 1 }
	FNR == 1 { flush() }
	/^[ \t]*$/ { flush(); next }
	/^#/ { next }
	{ key = tolower($1); rest = $0; sub(/^[^:]*:[ \t]*/, "", rest) }
	key == "types:" { types = rest }
	key == "uris:" { uris = rest }
	key == "suites:" { suites = rest }
	key == "enabled:" && tolower(rest) ~ /^no/ { on = 0 }
	END { flush() }' /etc/apt/sources.list.d/*.sources /dev/null 2>/dev/null
}

find_mirror() {
	[ -n "${DDIO_MIRROR:-}" ] && echo "$DDIO_MIRROR" && return
	machine_sources | awk '$2 ~ /^(bookworm|trixie|forky|sid|stable|testing|unstable)$/ &&
		!seen++ { print $1 }' | sed 's|/$||'
}

find_security() {
	machine_sources | awk '$2 ~ /-security$/ && !seen++ { print $1 }' | sed 's|/$||'
}

write_apt_config() {
	local mirror security signed="[arch=amd64 signed-by=$keyring]"
	mirror=$(find_mirror)
	security=$(find_security)
	[ -n "$mirror" ] || skip "no Debian mirror in this machine's apt sources"
	mkdir -p "$apt"/{lists/partial,state,cache} "$cache/debs"
	{
		for s in bookworm bookworm-backports trixie-backports; do
			echo "deb $signed $mirror $s main"
		done
		[ -z "$security" ] || echo "deb $signed $security bookworm-security main"
	} >"$apt/sources.list"
	: >"$apt/status"
	# Proxies and the like come from the machine, its hooks do not.
	{
		apt-config dump | grep '^Acquire::' | grep -v '^Acquire::Languages'
		cat <<-CONF
			Acquire::Languages "none";
			Acquire::Retries "3";
			Acquire::http::Timeout "30";
			Acquire::AllowInsecureRepositories "false";
			APT::Get::AllowUnauthenticated "false";
			APT::Architecture "amd64";
			APT::Sandbox::User "$(id -un)";
			Dir::Etc::main "/dev/null";
			Dir::Etc::parts "/dev/null";
			Dir::Etc::sourcelist "$apt/sources.list";
			Dir::Etc::sourceparts "/dev/null";
			Dir::Etc::preferences "/dev/null";
			Dir::Etc::preferencesparts "/dev/null";
			Dir::State "$apt/state";
			Dir::State::lists "$apt/lists";
			Dir::State::status "$apt/status";
			Dir::Cache "$apt/cache";
		CONF
	} >"$apt/apt.conf"
	export APT_CONFIG=$apt/apt.conf
}

update_once() {
	[ -n "${updated:-}" ] && return
	say "reading the mirror's package lists"
	retry apt-get -qq update || skip "the kernels are not in $cache, and the mirror cannot be read"
	updated=1
}

# Prints the highest version of a package in suites that match.
newest() {
	apt-cache madison "$1" | awk -F' *\\| *' -v s=" ($2)/main " '(" " $3) ~ s { print $2 }' |
		sort -V | tail -1
}

# The signed kernel comes into the archive hours or days after what is built with it, whose packages without a version in their names
# (linux-kbuild-6.1) then exist in the next version alone; they serve any kernel of the series.
version_of() {
	local pkg=$1 ver=$2 suites=$3
	apt-cache madison "$pkg" | awk -F' *\\| *' -v v="$ver" '$2 == v { found = 1 } END { exit !found }' && echo "$ver" && return
	newest "$pkg" "$suites"
}

# A package of the kernel's own source and those that it needs, with their versions, a line each.
closure() {
	local ver=$1 suites=$2 p q v ahead seen=' '
	shift 2
	ahead="$*"
	while [ -n "$ahead" ]; do
		# shellcheck disable=SC2086
		set -- $ahead
		[ $# -gt 0 ] || break
		p=$1
		shift
		ahead="$*"
		case $seen in *" $p "*) continue ;; esac
		seen="$seen$p "
		case $p in *-cloud-amd64 | linux-kbuild-* | linux-headers-* | linux-compiler-*) ;; *) continue ;; esac
		v=$(version_of "$p" "$ver" "$suites")
		q=$(apt-cache show "$p=$v" 2>/dev/null | sed -n 's/^Depends: //p' | head -1 |
			tr ',' '\n' | sed 's/^ *//; s/[ |].*//' | grep '^linux-' | tr '\n' ' ')
		# Metapackages have no contents.
		case $p in
		linux-image-cloud-amd64 | linux-headers-cloud-amd64) ;;
		linux-base-cloud-amd64 | linux-modules-cloud-amd64) ;;
		*) echo "$p $v" ;;
		esac
		ahead="$ahead $q"
	done
}

# fetch_deb PACKAGE VERSION: into debs/, under its final name only when whole.
fetch_deb() {
	local have tmp ver=${2//:/%3a}
	have=$(ls "$cache/debs/${1}_${ver}"_*.deb 2>/dev/null | head -1)
	if [ -z "$have" ]; then
		tmp=$(mktemp -d "$cache/debs/part.XXXXXX") || return 1
		(cd "$tmp" && retry apt-get -qq download "$1=$2") || { rm -rf "$tmp"; return 1; }
		mv "$tmp"/*.deb "$cache/debs/"
		rm -rf "$tmp"
		have=$(ls "$cache/debs/${1}_${ver}"_*.deb)
	fi
	echo "$have"
}

suites_of() {
	case $1 in
	6.1) echo 'bookworm|bookworm-security' ;;
	6.12) echo 'bookworm-backports' ;;
	7.x) echo 'trixie-backports' ;;
	esac
}

# The headers' makefiles name /usr/src and /usr/lib; here they live elsewhere.
# In the trixie root they are bound to those places instead.
relocate_headers() {
	local h=$1/usr/src f
	for f in "$h"/linux-headers-*/Makefile "$h"/linux-headers-*/.kernelvariables; do
		[ -f "$f" ] && sed -i "s|/usr/src/linux-headers|$2/usr/src/linux-headers|g" "$f"
	done
	return 0
}

# With vmlinux there, modules get type information by pahole, which nothing here reads.
prepare_headers() {
	rm -f "$1"/usr/src/linux-headers-*/vmlinux
	[ "$2" = 7.x ] || relocate_headers "$1" "$cache/kernels/$2"
}

# Where each kernel has its modules and image differs; here it is one place.
prepare_image() {
	[ -e "$1/lib/modules" ] || { mkdir -p "$1/lib"; ln -s ../usr/lib/modules "$1/lib/modules"; }
	cp "$(ls "$1"/boot/vmlinuz-* "$1/usr/lib/modules/$2"/vmlinuz* 2>/dev/null | head -1)" \
		"$1/vmlinuz" && depmod -b "$1" "$2"
}

fetch_kernel() {
	local label=$1 dir=$cache/kernels/$1 ver pkgs p v deb tmp rel
	[ -e "$dir/release" ] && [ -z "$update" ] && return
	cache_lock fetch
	[ -e "$dir/release" ] && [ -z "$update" ] && return
	need apt-get apt dpkg-deb dpkg depmod kmod
	[ -r $keyring ] || skip "no $keyring (Debian package debian-archive-keyring)"
	write_apt_config
	update_once
	ver=$(newest linux-image-cloud-amd64 "$(suites_of "$label")")
	[ -n "$ver" ] || die "the mirror has no cloud kernel for $label"
	[ "$(cat "$dir/version" 2>/dev/null)" = "$ver" ] && return
	pkgs=$(closure "$ver" "$(suites_of "$label")" linux-image-cloud-amd64 linux-headers-cloud-amd64)
	say "fetching kernel $label: $ver"
	mkdir -p "$cache/kernels"
	tmp=$(mktemp -d "$cache/kernels/part.XXXXXX") || die "cannot write to $cache"
	while read -r p v; do
		deb=$(fetch_deb "$p" "$v") || die "cannot fetch $p $v"
		dpkg-deb -x "$deb" "$tmp" || die "cannot unpack $deb"
		rm -f "$deb"
	done <<<"$pkgs"
	chmod 755 "$tmp"
	rel=$(basename "$(ls -d "$tmp"/usr/src/linux-headers-*-cloud-amd64)")
	rel=${rel#linux-headers-}
	prepare_headers "$tmp" "$label"
	prepare_image "$tmp" "$rel" || die "no image or modules of $rel in the packages of $label"
	echo "$ver" >"$tmp/version"
	echo "$rel" >"$tmp/release"
	rm -rf "$dir"
	mv "$tmp" "$dir" || die "cannot write to $dir"
	say "kernel $label: $rel in $dir"
}

# A root of Debian 13, since 7.x's build tools need its C library.
fetch_trixie() {
	local dir=$cache/trixie tmp
	[ -e "$dir/complete" ] && return
	[ "$(id -u)" = 0 ] || skip "building for the newest kernel needs root (debootstrap, chroot)"
	need debootstrap debootstrap
	[ -r $keyring ] || skip "no $keyring (Debian package debian-archive-keyring)"
	cache_lock trixie
	[ -e "$dir/complete" ] && return
	say "making a Debian 13 root in $dir"
	mkdir -p "$cache/tmp"
	tmp=$cache/tmp/trixie
	for i in 1 2 3; do
		rm -rf --one-file-system "$tmp"
		debootstrap --variant=minbase --keyring="$keyring" \
			--include=gcc,make,kmod,libelf1t64,libssl3t64,zlib1g \
			trixie "$tmp" "$(find_mirror)" >"$cache/tmp/debootstrap.log" 2>&1 && break
		say "debootstrap failed, try $i: $(tail -1 "$cache/tmp/debootstrap.log")"
		[ $i = 3 ] && die "no Debian 13 root"
		sleep 5
	done
	rm -rf "$tmp"/var/cache/apt/archives/*.deb "$tmp"/var/lib/apt/lists/*
	: >"$tmp/complete"
	rm -rf --one-file-system "$dir"
	mv "$tmp" "$dir"
}

# Debian's patched 6.1, from the package that is installed here or from the mirror.
fetch_source() {
	local dir=$cache/debug/src tmp tar=/usr/src/linux-source-6.1.tar.xz deb=
	[ -e "$dir/Makefile" ] && return
	cache_lock fetch
	[ -e "$dir/Makefile" ] && return
	need xz xz-utils tar tar
	mkdir -p "$cache/debug"
	tmp=$(mktemp -d "$cache/debug/part.XXXXXX") || die "cannot write to $cache"
	if [ ! -r "$tar" ]; then
		need apt-get apt dpkg-deb dpkg
		write_apt_config
		update_once
		deb=$(fetch_deb linux-source-6.1 "$(newest linux-source-6.1 "$(suites_of 6.1)")") ||
			die "cannot fetch the kernel's source"
		dpkg-deb -x "$deb" "$tmp/deb" && rm -f "$deb" || die "cannot unpack $deb"
		tar=$tmp/deb/usr/src/linux-source-6.1.tar.xz
	fi
	say "unpacking the kernel's source"
	mkdir "$tmp/src"
	tar -C "$tmp/src" --strip-components=1 -xf "$tar" || die "cannot unpack $tar"
	mv "$tmp/src" "$dir" || die "cannot write to $dir"
	rm -rf "$tmp"
}

# A Debian 12 with DKMS and the headers of 6.1, as a tar.
fetch_dkms() {
	local dir=$cache/dkms rel ver tmp p v deb
	rel="$(kernel_release 6.1) tar"
	ver=$(cat "$cache/kernels/6.1/version")
	[ "$(cat "$dir/release" 2>/dev/null)" = "$rel" ] && return
	[ "$(id -u)" = 0 ] || skip "a root with DKMS needs root (debootstrap, chroot)"
	need debootstrap debootstrap apt-get apt dpkg-deb dpkg
	[ -r $keyring ] || skip "no $keyring (Debian package debian-archive-keyring)"
	cache_lock dkms
	[ "$(cat "$dir/release" 2>/dev/null)" = "$rel" ] && return
	say "making a Debian 12 root with DKMS in $dir"
	tmp=$cache/tmp/dkms
	mkdir -p "$cache/tmp" "$dir"
	rm -rf --one-file-system "$tmp"
	retry debootstrap --variant=minbase --keyring="$keyring" \
		--include=dkms,udev,gcc,libc6-dev,make,kmod,libelf1,libssl3,zlib1g \
		bookworm "$tmp" "$(find_mirror)" >"$cache/tmp/debootstrap.log" 2>&1 ||
		die "no Debian 12 root: $(tail -1 "$cache/tmp/debootstrap.log")"
	rm -rf "$tmp"/var/cache/apt/archives/*.deb "$tmp"/var/lib/apt/lists/*
	write_apt_config
	update_once
	while read -r p v; do
		deb=$(fetch_deb "$p" "$v") || die "cannot fetch $p $v"
		mv "$deb" "$tmp/tmp/"
	done < <(closure "$ver" "$(suites_of 6.1)" linux-headers-cloud-amd64)
	chroot "$tmp" env -u TMPDIR sh -c 'dpkg -i /tmp/*.deb && rm /tmp/*.deb' >"$cache/tmp/dkms.log" 2>&1 ||
		die "the headers do not install: $(tail -1 "$cache/tmp/dkms.log")"
	tar -C "$tmp" -cf "$dir/part" . || die "cannot make $dir/root.tar"
	mv "$dir/part" "$dir/root.tar"
	rm -rf --one-file-system "$tmp" "$dir/root.ext4"
	echo "$rel" >"$dir/release"
}

# An image of a Debian 12 with systemd and the libraries that ddio needs, for a machine to boot into.
fetch_systemd() {
	local dir=$cache/systemd tmp
	local packages=systemd-sysv,udev,kmod,iproute2,fuse3,libfuse3-3,libaio1,liblmdb0,libinih1,libssl3
	[ "$(cat "$dir/packages" 2>/dev/null)" = "$packages" ] && return
	[ "$(id -u)" = 0 ] || skip "a root with systemd needs root (debootstrap, chroot)"
	need debootstrap debootstrap mke2fs e2fsprogs
	[ -r $keyring ] || skip "no $keyring (Debian package debian-archive-keyring)"
	cache_lock systemd
	[ "$(cat "$dir/packages" 2>/dev/null)" = "$packages" ] && return
	say "making a Debian 12 root with systemd in $dir"
	tmp=$cache/tmp/systemd
	mkdir -p "$cache/tmp" "$dir"
	rm -rf --one-file-system "$tmp"
	retry debootstrap --variant=minbase --keyring="$keyring" --include="$packages" \
		bookworm "$tmp" "$(find_mirror)" >"$cache/tmp/systemd.log" 2>&1 ||
		die "no Debian 12 root with systemd: $(tail -1 "$cache/tmp/systemd.log")"
	rm -rf "$tmp"/var/cache/apt/archives/*.deb "$tmp"/var/lib/apt/lists/*
	mke2fs -q -t ext4 -d "$tmp" "$dir/part" 1000M || die "cannot make $dir/root.ext4"
	mv "$dir/part" "$dir/root.ext4"
	rm -rf --one-file-system "$tmp"
	echo "$packages" >"$dir/packages"
}

update=
[ "${1:-}" = --update ] && update=1 && shift
[ $# -gt 0 ] || set -- $kernels_all
for k; do
	case $k in
	trixie) fetch_trixie ;;
	source) fetch_source ;;
	dkms) fetch_dkms ;;
	systemd) fetch_systemd ;;
	*) fetch_kernel "$(kernel_label "$k")" ;;
	esac
done
