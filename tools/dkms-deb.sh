#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Makes the Debian package ddio-dkms, the kernel modules as sources for DKMS:
#
#   tools/dkms-deb.sh VERSION FOLDER    makes FOLDER/ddio-dkms_VERSION_all.deb
#
# The same commit gives the same bytes: times are SOURCE_DATE_EPOCH's, by default the
# commit's.  DEBFULLNAME and DEBEMAIL name the maintainer, as for Debian's own tools.
set -eu
umask 022
export LC_ALL=C TZ=UTC
[ $# = 2 ] || { echo "usage: $0 VERSION FOLDER" >&2; exit 2; }
version=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
command -v dpkg-deb >/dev/null || { echo "dkms-deb: needs dpkg-deb (package dpkg)" >&2; exit 1; }

commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y kmod/Kbuild)}"
export SOURCE_DATE_EPOCH
maintainer="${DEBFULLNAME:-ddio maintainers} <${DEBEMAIL:-root@localhost}>"

stage=$out/dkms-deb
rm -rf "$stage"
src=$stage/usr/src/ddio-$version
doc=$stage/usr/share/doc/ddio-dkms

put() { install -D -m 644 "$1" "$2"; }
fill() {
	sed -e "s|@VERSION@|$version|g;s|@MAINTAINER@|$maintainer|g;s|@SIZE@|${size:-}|g" "$1"
}

for f in kmod/Kbuild kmod/Makefile kmod/*.h kmod/*/Kbuild kmod/*/*.[ch] include/uapi/linux/*.h; do
	case $f in *.mod.c) continue ;; esac
	put "$f" "$src/$f"
done
put LICENSE "$src/LICENSE"
fill kmod/dkms/dkms.conf.in >"$src/dkms.conf"

put kmod/dkms/60-ddio.rules "$stage/lib/udev/rules.d/60-ddio.rules"
put kmod/dkms/modprobe.conf "$doc/examples/modprobe.d/ddio.conf"
put kmod/dkms/modules-load.conf "$doc/examples/modules-load.d/ddio.conf"
put kmod/dkms/copyright "$doc/copyright"
cat >"$doc/changelog" <<EOF
ddio-dkms ($version) unstable; urgency=medium

  * Commit $commit.

 -- $maintainer  $(date -R -d "@$SOURCE_DATE_EPOCH")
EOF
gzip -9n "$doc/changelog"

size=$(($(find "$stage" -type f -printf '(%s+1023)/1024+' ; echo 0)))
mkdir -p "$stage/DEBIAN"
fill kmod/dkms/control.in >"$stage/DEBIAN/control"
for f in postinst prerm; do
	fill kmod/dkms/$f.in >"$stage/DEBIAN/$f"
	chmod 755 "$stage/DEBIAN/$f"
done
(cd "$stage" &&
	find usr lib -type f -print0 | sort -z | xargs -0 md5sum) >"$stage/DEBIAN/md5sums"

# Compressed by one thread: how many there are can show in the bytes.
export DPKG_DEB_THREADS_MAX=1
dpkg-deb --root-owner-group -Zxz --build "$stage" "$out/ddio-dkms_${version}_all.deb"
rm -rf "$stage"
