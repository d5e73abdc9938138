#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Makes the Debian packages of what "make install" installs, for the machine's own architecture:
#
#   tools/debs.sh VERSION FOLDER    makes FOLDER/NAME_VERSION_ARCH.deb for each NAME in tools/debian/packages
#
# A package without a file, since an MPI is not here, is left out.  A file that is in no package, or in two, is an error.
# DEBFULLNAME and DEBEMAIL name the maintainer, as for Debian's own tools.
set -eu
umask 022
export LC_ALL=C TZ=UTC
[ $# = 2 ] || { echo "usage: $0 VERSION FOLDER" >&2; exit 2; }
version=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
for tool in dpkg-deb dpkg-shlibdeps; do
	command -v $tool >/dev/null || { echo "debs: needs $tool (package dpkg-dev)" >&2; exit 1; }
done
arch=$(dpkg --print-architecture)
commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile)}"
export SOURCE_DATE_EPOCH DPKG_DEB_THREADS_MAX=1
maintainer="${DEBFULLNAME:-ddio maintainers} <${DEBEMAIL:-root@localhost}>"

work=$out/debs
all=$work/all
rm -rf "$work"
mkdir -p "$work/debian"
make -s install DESTDIR="$all" PREFIX=/usr MOUNT_DIR=/usr/sbin >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
find "$all/usr" -name '*.[0-9]' -path '*/man/*' -type f -exec gzip -9n {} +
# Pages that are links have the names of what they show.
find "$all/usr" -path '*/man/*' -type l | while read -r l; do
	ln -s "$(readlink "$l").gz" "$l.gz" && rm "$l"
done
find "$all/usr" -type f \( -name '*.so*' -o -path '*bin/*' \) -exec strip --strip-unneeded {} +
find "$all/usr" -name '*.a' -exec strip --strip-debug {} +
# Debian's libraries are no programs.
find "$all/usr" -type f -name '*.so*' -exec chmod 644 {} +

# put NAME PATTERN: moves what matches to the package
put() {
	local f n=0
	while IFS= read -r f; do
		mkdir -p "$work/$1/$(dirname "$f")"
		mv "$all/$f" "$work/$1/$f"
		n=1
	done < <(cd "$all" && compgen -G "$2")
	[ $n = 1 ]
}
# shlibs NAME: the libraries of others that it needs, as packages
shlibs() {
	local elf
	mapfile -t elf < <(find "$work/$1" -type f \( -name '*.so*' -o -path '*bin/*' \))
	[ ${#elf[@]} -gt 0 ] || return 0
	printf 'Source: ddio\n\nPackage: %s\nArchitecture: any\n' "$1" >"$work/debian/control"
	(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info -l"$work/libddio0/usr/lib" "${elf[@]}" 2>"$work/log") |
		sed -n 's/^shlibs:Depends=//p'
}
build() {
	local name=$1 stage=$work/$1 size f libs
	local doc=$stage/usr/share/doc/$name
	mkdir -p "$doc" "$stage/DEBIAN"
	install -m 644 tools/debian/copyright "$doc/copyright"
	[ ! -e "tools/debian/$name.README.Debian" ] || install -m 644 "tools/debian/$name.README.Debian" "$doc/README.Debian"
	[ ! -e "tools/debian/$name.lintian-overrides" ] ||
		install -D -m 644 "tools/debian/$name.lintian-overrides" "$stage/usr/share/lintian/overrides/$name"
	printf 'ddio (%s) unstable; urgency=medium\n\n  * Commit %s.\n\n -- %s  %s\n' "$version" "$commit" "$maintainer" \
		"$(date -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"
	size=$(($(find "$stage" -type f -printf '(%s+1023)/1024+'; echo 0)))
	libs=$(shlibs "$name")
	sed -e "s|@VERSION@|$version|g;s|@ARCH@|$arch|;s|@MAINTAINER@|$maintainer|;s|@SIZE@|$size|;s|@SHLIBS@|$libs|" \
		"tools/debian/$name.control" >"$stage/DEBIAN/control"
	for f in postinst prerm postrm triggers; do
		[ ! -e "tools/debian/$name.$f" ] || install -m 644 "tools/debian/$name.$f" "$stage/DEBIAN/$f"
	done
	[ ! -e "tools/debian/$name.shlibs" ] || sed "s|@VERSION@|$version|" "tools/debian/$name.shlibs" >"$stage/DEBIAN/shlibs"
	find "$stage/DEBIAN" -name 'p*' -exec chmod 755 {} +
	(cd "$stage" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$stage/DEBIAN/md5sums"
	f=$out/${name}_${version}_$(sed -n 's/^Architecture: //p' "$stage/DEBIAN/control").deb
	dpkg-deb --root-owner-group -Zxz --build "$stage" "$f" >/dev/null
	echo "$f"
}

names=() name= last= missing=
while read -r word rest; do
	case $word in
	'' | '#'*) ;;
	package) name=$rest ;;
	*)
		# Pages are compressed by now.
		case $word in */man/*[0-9]) word=$word.gz ;; esac
		if put "$name" "$word"; then
			[ "$last" = "$name" ] || names+=("$name")
			last=$name
		elif [[ $name != libddio-mpiio-* ]]; then
			echo "debs: $name: nothing is $word" >&2
			exit 1
		elif [ "$missing" != "$name" ]; then
			echo "debs: $name is left out: mpicc.${name##*-} is missing (lib${name##*-}-dev)" >&2
			missing=$name
		fi
		;;
	esac
done <tools/debian/packages
left=$(cd "$all" && find . ! -type d)
[ -z "$left" ] || { echo "debs: in no package: $left" >&2; exit 1; }
for name in "${names[@]}"; do build "$name"; done
rm -rf "$work"
