#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# quick Makefile tests/build.mk tests/quick.mk userlib/build.mk tools tests/tree/spaces.sh
# What is built in a folder whose path has blanks and quotes: recipes that name the folder itself are carried out there.
set -u
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0
check() {
	local what=$1
	shift
	if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "spaces: FAILED: $what"; fi
}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ddio-spaces.XXXXXX") || exit 2
trap 'rm -rf "$tmp"' EXIT
d="$tmp/a b  c's \$d"
mkdir "$d"
git ls-files -z | xargs -0 cp --parents -Pt "$d" 2>/dev/null
mk() { (unset MAKEFLAGS MFLAGS MAKELEVEL O D; make --no-print-directory -s -C "$d" "$@" 2>"$tmp/said" >"$tmp/out") || { head -n 5 "$tmp/said"; return 1; }; }

# With a compiler that only notes its arguments.
printf '#!/bin/bash\nprintf "<%%s>" "$@" >>"%s/args"\nfor ((i = 1; i < $#; i++)); do [ "${!i}" != -o ] || { n=$((i + 1)); : >"${!n}"; }; done\n' \
	"$tmp" >"$tmp/cc"
chmod +x "$tmp/cc"
check "an object" mk CC="$tmp/cc" build/tools/common/version.o
check "... does not tell the folder" grep -qF -- "<-ffile-prefix-map=$d=.>" "$tmp/args"
rm -f "$tmp/args"
mkdir -p "$d/build"
: >"$d/build/libddio.so.$(sed -n 's/^VERSION := //p' Makefile)"
example=$(basename "$(printf '%s\n' tests/examples/*.c | head -n 1)" .c)
check "an example" mk CC="$tmp/cc" -o "build/libddio.so.$(sed -n 's/^VERSION := //p' Makefile)" "build/tests/examples/$example"
check "... finds the library" grep -qF -- "<-Xlinker><-rpath><-Xlinker><$d/build>" "$tmp/args"
# The demo, but for the demo.
printf '#!/bin/sh\n' >"$d/tools/install-deps.sh"
printf '#!/bin/sh\nprintf %%s "$BUILD" >"%s/demo"\n' "$tmp" >"$d/tools/demo.sh"
check "make demo" mk MAKE=true demo
check "... knows the build" [ "$(cat "$tmp/demo" 2>/dev/null)" = "$d/build" ]
# Into a folder with a blank, as debs.sh does.
printf '#!/bin/sh\necho completion\n' >"$tmp/ddio"
for f in ddio ddio-lab ddiod ddiofs libddio.a libddio_mpiio.so; do install -m 755 "$tmp/ddio" "$d/build/$f"; done
check "make install" mk MAKE=true -o all MPIIO_MPIS= install DESTDIR="$tmp/in to" PREFIX=/usr MOUNT_DIR=/usr/sbin
check "... puts it there" [ -x "$tmp/in to/usr/bin/ddio" -a -e "$tmp/in to/usr/share/bash-completion/completions/ddio" ]
check "make clean" mk clean
check "... is clean" [ ! -e "$d/build" ]
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
