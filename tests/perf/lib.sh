# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What measurements of one cluster share.  Sourced from the top of the tree after "set -u".
build=${BUILD:-$PWD/build}
. tests/perf/medians.sh

# want_numbers WORD...: ends with what the script's head says, unless each word is a number above 0
want_numbers() {
	local word
	for word; do
		case $word in
		'' | 0* | *[!0-9]*) sed -n '4,/^[^#]/s/^# \?//p' "$0"; exit 2 ;;
		esac
	done
}

finish() {
	trap - EXIT
	[ ! -e "$dir/m" ] || umount "$dir/m" 2>/dev/null
	"$build/ddio" stop --clean --dir "$dir/c" >/dev/null 2>&1
	rm -rf "$dir"
}

# alone ARGUMENT...: what measures is built, unless $BUILD has it; as root the script, called with these, begins once more in a network
# of its own, where the cluster's ports are free; then there is $dir, in memory, for a cluster in $dir/c and a mount of it at $dir/m, which all go away with the script
alone() {
	[ -n "${BUILD:-}${DDIO_OWN_NETWORK:-}" ] || make --no-print-directory -s all perf-bins || exit 2
	if [ -z "${DDIO_OWN_NETWORK:-}" ] && [ "$(id -u)" = 0 ]; then
		DDIO_OWN_NETWORK=10.64.0.1 exec unshare --net tests/own_network.sh "tests/perf/$(basename "$0")" "$@"
	fi
	dir=$(mktemp -d /dev/shm/ddio-perf.XXXXXX) || exit 2
	trap finish EXIT
	trap 'exit 143' TERM INT
}
