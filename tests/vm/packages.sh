#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 400
#
# The Debian packages on a Debian with systemd, booted in a virtual machine: installed, three nodes as units in network name
# spaces of their own, mounts, upgraded under them, restarted node by node, removed, purged, and installed again.
set -u
. "$(dirname "$0")/lib.sh"

need dpkg-shlibdeps dpkg-dev
"$vm_dir/fetch.sh" 6.1 systemd || exit $?
stage=$(mktemp -d)
debs=$top/build/tests/vm/debs
trap 'rm -rf "$stage" "$debs"' EXIT
version=$(sed -n 's/^VERSION := //p' "$top/Makefile")
rm -rf "$debs"
for which in old new; do
	v=$version
	[ $which = new ] || v=$version~old
	"$top/tools/debs.sh" "$v" "$stage/$which" >"$stage/log" 2>&1 || { cat "$stage/log" >&2; die "tools/debs.sh"; }
	mkdir -p "$debs/$which"
	for p in libddio0 ddio ddio-server ddio-fs; do mv "$stage/$which/${p}_"*.deb "$debs/$which/" || die "no package $p"; done
done
"$vm_dir/run.sh" --kernel 6.1 --mod none --name packages --switch --timeout 300 \
	--append 'systemd.show_status=yes systemd.log_level=notice' \
	--qemu "-drive if=none,id=root,format=raw,file=$cache/systemd/root.ext4,snapshot=on,cache=unsafe
		-device virtio-blk-pci,drive=root,serial=root" \
	--cmd 'bash tests/vm/packages-root.sh'
rc=$?
[ $rc -ne 77 ] || exit 77
out=$top/build/log/vm/packages.out
p=$(grep -c '^ok ' "$out") f=$(grep -c '^not ok ' "$out")
[ $rc -eq 0 ] || [ "$f" -gt 0 ] || f=1
echo "$p passed, $f failed, 0 skipped"
[ "$f" -eq 0 ]
