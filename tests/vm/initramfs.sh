#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Makes the initial file system of a test machine, in parts that the kernel
# unpacks one after the other: programs of this machine (kept in build/vm/),
# the kernel's modules (kept too), and the project with the job.
#
#   tests/vm/initramfs.sh LABEL OUTPUT JOBDIR
set -u
. "$(dirname "$0")/lib.sh"

label=$1 output=$2 job=$3
vm=$top/build/vm
mkdir -p "$vm"

# Those that are missing here are missing there; busybox stands behind most.
programs='bash fio dmsetup losetup mkfs.ext4 e2fsck parted partprobe sfdisk blockdev strace lsblk
wipefs blkdiscard findmnt mount umount setpriv prlimit flock timeout stdbuf sha256sum cmp diff dd
truncate fallocate stat sort mawk sed grep find xargs ps kill pgrep pkill seq mktemp tee head tail
cut tr od ls cp mv rm cat mkdir rmdir ln readlink realpath date sleep env nproc taskset chrt
kmod setsid id su getfacl chmod chown chgrp touch wc uniq comm paste shuf split uname udevadm
dmesg sync ss ip hexdump md5sum mkfifo mknod lsof fuser gdbserver getfattr setfattr fusermount3'

preload='virtio_pci virtio_console virtio_blk configfs'
extra_modules="$preload null_blk loop veth bridge dm-mod dm-flakey dm-log-writes dm-delay dm-snapshot overlay fuse virtiofs
scsi_debug sd_mod brd mq-deadline autofs4 test_firmware libcrc32c crc32c-intel
tls gcm ccm ghash-generic aesni-intel cryptd"

# copy_libs FILE ROOT: the libraries that a program asks for
copy_libs() {
	local f
	ldd "$1" 2>/dev/null | grep -oE '/[^ ]+' | while read -r f; do
		[ -e "$2$f" ] || { mkdir -p "$2${f%/*}" && cp -L "$f" "$2$f"; }
	done
}

pack() {
	# Temporary folders are for their makers only; this one becomes the root.
	chmod 755 "$1"
	(cd "$1" && find . | busybox cpio -o -H newc 2>/dev/null) >"$2.part" && mv "$2.part" "$2"
}

base_tree() {
	local r=$1 p f
	mkdir -p "$r"/{bin,sbin,usr/bin,usr/sbin,dev,proc,sys,etc,lib,lib64,root,mnt,tmp,run,var}
	cp "$(command -v busybox)" "$r/bin/busybox"
	"$r/bin/busybox" --list | while read -r p; do
		ln -s busybox "$r/bin/$p" 2>/dev/null
	done
	for p in $programs; do
		f=$(type -P "$p") || continue
		cp -L "$f" "$r/usr/bin/$p"
		copy_libs "$f" "$r"
	done
	for p in modprobe insmod rmmod lsmod modinfo depmod; do
		ln -sf kmod "$r/usr/bin/$p"
	done
	ln -sf mawk "$r/usr/bin/awk"
	[ -e "$r/usr/bin/bash" ] && ln -sf ../usr/bin/bash "$r/bin/bash"
	ln -sf ../../bin/busybox "$r/usr/bin/[" 
	mkdir -p "$r/usr/lib" "$r/etc/fio"
	printf 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$r/etc/passwd"
	printf 'root:x:0:\ndisk:x:6:\nnogroup:x:65534:\n' >"$r/etc/group"
	printf '127.0.0.1 localhost ddio-vm\n' >"$r/etc/hosts"
	printf 'passwd: files\ngroup: files\nhosts: files\n' >"$r/etc/nsswitch.conf"
	ln -sf /proc/self/mounts "$r/etc/mtab"
	cp "$vm_dir/init" "$r/init"
	chmod 755 "$r/init"
}

base_image() {
	local p f key img tmp
	key=$({
		cat "$vm_dir/init" "$vm_dir/initramfs.sh"
		for p in busybox $programs; do
			f=$(type -P "$p") && stat -Lc '%n %s %Y' "$f"
		done
	} | sha256sum | cut -c1-16)
	img=$vm/base-$key.cpio
	if [ ! -e "$img" ]; then
		tmp=$(mktemp -d)
		base_tree "$tmp"
		rm -f "$vm"/base-*.cpio
		pack "$tmp" "$img" || die "cannot pack programs"
		rm -rf "$tmp"
	fi
	echo "$img"
}

# Plain modules in one folder; the machine itself makes the lists for modprobe.
modules_image() {
	local rel m f key img tmp d
	rel=$(kernel_release "$label")
	key=$(echo "$rel $(stat -c %Y "$(kernel_dir "$label")/release")" "$extra_modules" |
		sha256sum | cut -c1-16)
	img=$vm/modules-$label-$key.cpio
	if [ ! -e "$img" ]; then
		tmp=$(mktemp -d)
		d=$tmp/lib/modules/$rel
		mkdir -p "$d/kernel"
		for m in $extra_modules; do
			modprobe -q -d "$(kernel_dir "$label")" -S "$rel" --show-depends "$m" 2>/dev/null
		done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | sort -u | while read -r f; do
			case $f in
			*.xz) xz -dc "$f" >"$d/kernel/$(basename "$f" .xz)" ;;
			*.zst) zstd -qdc "$f" >"$d/kernel/$(basename "$f" .zst)" ;;
			*) cp "$f" "$d/kernel/" ;;
			esac
		done
		cp "$(kernel_dir "$label")/lib/modules/$rel"/modules.{order,builtin} "$d/"
		cp "$(kernel_dir "$label")/lib/modules/$rel/modules.builtin.modinfo" "$d/" 2>/dev/null
		rm -f "$vm/modules-$label"-*.cpio
		pack "$tmp" "$img" || die "cannot pack modules"
		rm -rf "$tmp"
	fi
	echo "$img"
}

# The project as a work tree has it: build/ without objects, tests/, the job.  What debuggers want stays here: each load of a module
# would read it.
project_image() {
	local img=$1 r rel f
	rel=$(kernel_release "$label")
	r=$(mktemp -d)
	mkdir -p "$r/ddio/build" "$r/ddio/tests" "$r/lib/modules/$rel/extra" "$r/job"
	for f in "$top/build/kmod/$label"/*.ko; do
		[ -e "$f" ] && strip --strip-debug -o "$r/lib/modules/$rel/extra/${f##*/}" "$f"
	done
	for f in ddio ddio-lab ddiod ddiofs; do
		[ -x "$top/build/$f" ] && cp "$top/build/$f" "$r/ddio/build/" && copy_libs "$top/build/$f" "$r"
	done
	[ -d "$top/build/kselftest" ] &&
		tar -C "$top/build" --exclude=kselftest/obj --exclude=kselftest/include -cf - kselftest |
		tar -C "$r/ddio/build" -xf -
	for f in $(cd "$top/build" && find kselftest tests/vm -type f -perm -u+x ! -name '*.sh' \
		-print 2>/dev/null); do
		copy_libs "$top/build/$f" "$r"
	done
	[ -d "$top/build/tests/vm" ] && mkdir -p "$r/ddio/build/tests" &&
		cp -a "$top/build/tests/vm" "$r/ddio/build/tests/"
	find "$r/ddio/build" -type f -perm -u+x ! -name '*.sh' -exec strip --strip-debug {} +
	cp -a "$vm_dir" "$r/ddio/tests/vm"
	[ -d "$top/tests/data" ] && cp -a "$top/tests/data" "$r/ddio/tests/"
	install -D -m 644 "$top/kmod/dkms/60-ddio.rules" "$r/ddio/udev/60-ddio.rules"
	cp -a "$job/." "$r/job/"
	cp "$vm_dir/scan.sh" "$r/job/"
	echo "$preload" >"$r/job/preload"
	pack "$r" "$img" || die "cannot pack the project"
	rm -rf "$r"
}

need busybox busybox-static xz xz-utils modprobe kmod sha256sum coreutils
exec {image_lock}>"$vm/lock"
flock "$image_lock"
base=$(base_image) || exit 1
mods=$(modules_image) || exit 1
project_image "$output.project" || exit 1
cat "$base" "$mods" "$output.project" >"$output"
rm -f "$output.project"
