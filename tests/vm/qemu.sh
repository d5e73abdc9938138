# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2054
# How QEMU is called; sourced by run.sh.

# Prints kvm or tcg.  /dev/kvm may be there and run no guest, so a kernel is booted.
qemu_accel() {
	local key file=$cache/accel
	[ -n "${icount:-}" ] && echo tcg && return
	[ -n "${DDIO_ACCEL:-}" ] && echo "$DDIO_ACCEL" && return
	[ -w /dev/kvm ] || { echo tcg; return; }
	key="$(cat /proc/sys/kernel/random/boot_id) $(qemu-system-x86_64 --version | head -1)"
	if [ "$(head -1 "$file" 2>/dev/null)" != "$key" ]; then
		printf '%s\n%s\n' "$key" "$(probe_kvm)" >"$file.$$"
		mv "$file.$$" "$file"
	fi
	sed -n 2p "$file"
}

# The kernel finds no root and stops; the console shows it.
probe_kvm() {
	local log
	log=$(mktemp)
	timeout -k 2 20 qemu-system-x86_64 -accel kvm -cpu host -m 256 -nodefaults -display none \
		-no-reboot -kernel "$(kernel_dir "$label")/vmlinuz" -append 'console=ttyS0 panic=-1' \
		-serial "file:$log" </dev/null >/dev/null 2>&1
	if grep -q 'Kernel panic' "$log"; then echo kvm; else echo tcg; fi
	rm -f "$log"
}

# Fills words[] for run.sh.
qemu_words() {
	local port="virtio-serial-pci,max_ports=4" params level=7
	params="console=ttyS0 panic=-1 oops=panic no_hash_pointers mitigations=off nokaslr"
	# Its time-stamp counter is this machine's, and no page is filled with zeroes that will be written anyway.
	params="$params tsc=reliable init_on_alloc=0"
	params="$params log_buf_len=4M rcupdate.rcu_cpu_stall_timeout=300 random.trust_cpu=on"
	# A warning that an interrupt handler prints to the console is a fault to lockdep.
	[ "$label" != debug ] || level=4
	[ -n "$shell" ] || params="$params loglevel=$level"
	words=(-m "$mem" -smp "$smp" -nodefaults -display none -no-reboot
		-kernel "$(kernel_dir "$label")/vmlinuz" -initrd "$work/initramfs"
		-append "$params $append")
	# QEMU 7.2's emulated cmpxchg16b now and then leaves an address in the flags, on
	# which kernels since 6.12 die while booting; they do without the instruction.
	case $accel in
	kvm) words+=(-accel kvm -cpu host) ;;
	*)
		if [ -n "${icount:-}" ]; then
			words+=(-accel tcg,thread=single -icount shift=0,sleep=off)
		else
			words+=(-accel "tcg,thread=multi")
		fi
		# "rep movsb" and "rep stosb" are emulated byte by byte; without these features kernel and C library move words.
		words+=(-cpu max,la57=off,cx16=off,erms=off,fsrm=off)
		;;
	esac
	words+=(-device "$port"
		-chardev "file,id=out,path=$logs/$name.out"
		-device virtserialport,chardev=out,name=ddio.out
		-chardev "file,id=verdict,path=$logs/$name.verdict"
		-device virtserialport,chardev=verdict,name=ddio.verdict)
	if [ -n "$disks" ]; then
		for d in vda vdb; do
			words+=(-drive "if=none,id=$d,format=raw,file=$work/$d,cache=unsafe,discard=unmap"
				-device "virtio-blk-pci,drive=$d,serial=$d")
		done
	fi
	words+=(-device virtio-rng-pci)
	# shellcheck disable=SC2206
	words+=($extra)
	[ -z "$keep" ] || say "qemu-system-x86_64 $(printf '%q ' "${words[@]}")"
}
