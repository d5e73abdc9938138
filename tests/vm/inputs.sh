#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the verdict of a machine depends on, as two hashes: of sources and tools, and of the kernel, which
# is not there before the first run has fetched it.  Prints nothing for a name that is no machine's.
# tests/run.sh keeps a machine's verdict while both are the same.
#
#   tests/vm/inputs.sh vm/6.1        the hashes
#   tests/vm/inputs.sh --list vm/6.1 the files
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/vm/lib.sh

list=
[ "${1:-}" != --list ] || { list=1; shift; }
# The modules, their tests, and the part of the library that calls them.
kernel='kmod include/uapi tests/kselftest tests/vm tests/patience.sh tests/data userlib/env/disk userlib/env/kernel
	tests/perf/bench_kmod.c tests/perf/bench_kmod_delivery.c'
# Everything that runs on top of the modules.
system="$kernel userlib include tools fuse tests/helpers tests/posix tests/unit/env Makefile tests/build.mk"
case ${1:-} in
vm/6.1 | vm/6.12 | vm/7.x) paths=$kernel kernels=${1#vm/} ;;
vm/timing) paths="$kernel" kernels=6.1 ;;
vm/dkms) paths="kmod include tools/dkms-deb.sh tests/vm tests/patience.sh tests/kselftest/lib Makefile" kernels=6.1 ;;
vm/system) paths=$system kernels=6.12 ;;
vm/figures) paths=$system kernels=6.1 ;;
vm/systemd) paths="$system Documentation/man" kernels=6.1 ;;
vm/packages) paths="$system Documentation/man tools/debian tools/debs.sh" kernels=6.1 ;;
*) exit 0 ;;
esac

files() {
	if [ -e .git ]; then
		# shellcheck disable=SC2086
		git ls-files -co --exclude-standard -- $paths
	else
		# shellcheck disable=SC2086
		find $paths -type f ! -name '*.o' ! -name '*.ko' ! -name '*.mod*' ! -name '.*'
	fi | grep -vE '\.(rst|md)$|/README$' | sort -u
}
hash() { sha256sum | cut -c1-32; }
[ -z "$list" ] || { files; exit; }

{
	files | while IFS= read -r f; do [ ! -f "$f" ] || printf '%s\0' "$f"; done | xargs -0 sha256sum
	gcc --version | head -n 1
	qemu-system-x86_64 --version 2>/dev/null | head -n 1
	env | grep '^DDIO_' | grep -v '^DDIO_CACHE=' | sort
} | hash
for k in $kernels; do
	cat "$(kernel_dir "$k")/release" 2>/dev/null
done | hash
