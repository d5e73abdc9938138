#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 420
# End to end: ddiod serves four hp97560 disks, four processes read and write every
# pattern by every method, and every byte is compared.  Once with the engine of
# /dev/ddio, once, with some of the patterns, with libaio: what one has written the other reads.
# DDIO_PATTERNS=LIST instead of every pattern, and libaio only reads and writes files.
. "$(dirname "$0")/t_lib.sh"
need $ddio $ddiod

disks() {
	rmmod hp97560 2>/dev/null
	modprobe hp97560 nr_devices=4 time_scale=0 || { not_ok "four disks"; exit 1; }
	ls /dev/hp97560_[0-3] >/dev/null || { not_ok "four devices"; exit 1; }
}

# configure ENGINE
configure() {
	local i
	{
		conf_node 'block = 8K'
		for i in 0 1 2 3; do
			conf_disk $i "$1" /dev/hp97560_$i
		done
	} >"$DDIO_CONF"
}

# judge FILE BUFFERS: looks for rows of the benchmark that did not compare every byte, made more than one request, or used more
# buffers of a disk
judge() {
	awk -F, -v most="$2" '
		/^#/ { next }
		!n++ { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["verified"] != 1 { print "not verified: " $0; bad = 1 }
		$c["method"] ~ /DD/ && $c["requests"] != $c["iops"] { print "requests: " $0; bad = 1 }
		$c["method"] ~ /DD/ && $c["buffers"] > most { print "buffers: " $0; bad = 1 }
		{ seen[$c["method"]]++ }
		END { if (length(seen) != 4) { print "methods are missing"; bad = 1 } exit bad }' "$1"
}

engine_holds() {
	case $1 in
	kmod) [ "$(uses ddio)" -gt 0 ] ;;
	*) [ "$(uses ddio 2>/dev/null || echo 0)" -eq 0 ] ;;
	esac
}

version_is_least() { [ "$(printf '%s.%s\n' "$1" "$2" "$(uname -r | cut -d. -f1)" "$(uname -r | cut -d. -f2)" | sort -V | head -n 1)" = "$1.$2" ]; }

disks
head -c 3000001 /dev/urandom >"$dir/one"
head -c 1999999 /dev/urandom >"$dir/two"
first=
some=ra,rn,rc,rbb,rcc,wn,wb,wcb
for e in kmod aio; do
	configure $e
	[ $e = kmod ] && patterns=${DDIO_PATTERNS:-all} || patterns=$some
	: >"$dir/log"
	check "$e: daemon on four disks" start_daemon || exit
	check "$e: /dev/ddio is open as this engine wants" engine_holds $e
	records=(8 8192)
	[ $e = kmod ] || [ -z "${DDIO_PATTERNS:-}" ] || records=()
	for r in ${records[@]+"${records[@]}"}; do
		size=$([ $r = 8 ] && echo 128K || echo 1M)
		if bench --cps 4 --records $r --size $size --patterns "$patterns"; then
			check "$e: patterns $patterns, every method, records of $r: $(rows) rows" \
				judge "$dir/out.csv" "$([ $e = kmod ] && echo 2 || echo 128)"
		else
			not_ok "$e: bench with records of $r"
		fi
	done
	if [ -z "$first" ]; then
		check "$e: import" $ddio import --conf "$dir/ddio.conf" "$dir/one" one
		first=$e
	else
		check "$e reads what $first wrote" \
			cmp "$dir/one" <($ddio export --conf "$dir/ddio.conf" one -)
		check "$e: import" $ddio import --conf "$dir/ddio.conf" "$dir/two" two
	fi
	stop_daemon
done
configure kmod
check "kmod: daemon again" start_daemon
check "kmod reads what aio wrote" cmp "$dir/two" <($ddio export --conf "$dir/ddio.conf" two -)
check "kmod reads what it wrote before" cmp "$dir/one" <($ddio export --conf "$dir/ddio.conf" one -)
check "fsck" $ddio fsck --conf "$dir/ddio.conf"
stop_daemon

# By TLS: blocks go between disks and processes as before, and what goes by messages is encrypted, by the kernel where it can.
tls_stat() { awk -v k="$1" '$1 == k { print $2 }' /proc/net/tls_stat 2>/dev/null || echo 0; }
scattered() { awk '$1 == "scattered_bytes" { print $2 }' /sys/kernel/debug/ddio/stats; }
by_tls() {
	(umask 077 && head -c 32 /dev/urandom | base64 >"$dir/key")
	configure kmod
	sed -i "s|^name = .*|&\nkey_file = $dir/key\nsecurity = tls\nkernel_tls = yes|" "$DDIO_CONF"
	: >"$dir/log"
	start_daemon
}
modprobe tls
check "tls: daemon" by_tls || exit
before=$(scattered) opened=$(tls_stat TlsTxSw)
check "tls: bench" bench --cps 4 --records 8192 --size 1M --patterns ra,rcc,wb,wcb
check "tls: every method: $(rows) rows" judge "$dir/out.csv" 2
check "tls: the module scattered $(($(scattered) - before)) bytes" [ "$(scattered)" -gt "$before" ]
opened=$(($(tls_stat TlsTxSw) - opened))
if version_is_least 6 14; then
	check "this kernel can, and the log says so" grep -q 'TLS is done by the kernel' "$dir/log"
	check "$opened connections were the kernel's" [ $opened -gt 4 ]
	unit=build/tests/vm/test_env_tls_kernel
	check "streams of TLS by the kernel: $($unit 2>&1 | tee "$dir/unit" | tail -n 1)" grep -q ' 0 failed, 0 skipped' "$dir/unit"
	grep -E 'FAILED|failures|^ *[0-9]*\. ' "$dir/unit" | shows
else
	check "this kernel cannot, and the log says so" grep -q 'TLS is done by OpenSSL: this kernel cannot' "$dir/log"
	check "no connection was the kernel's" [ $opened -eq 0 ]
fi
stop_daemon
configure kmod

check "ddio is no longer in use" [ "$(uses ddio)" = 0 ]
rmmod hp97560 || not_ok "the disks do not go"
