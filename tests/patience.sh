# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# How long tests wait for what hangs.  Sourced.  A bound in a test, and "# timeout:" in a script's head, says what an
# idle machine needs at most; all are multiplied by this one number, since no test may fail because a machine is busy.
export DDIO_PATIENCE=${DDIO_PATIENCE:-4}

# in_time SECONDS COMMAND...: runs the command, and ends it (status 124) when it takes that many times as long
in_time() {
	timeout $(($1 * DDIO_PATIENCE)) "${@:2}"
}
export -f in_time
