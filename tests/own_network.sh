#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# own_network.sh COMMAND...: runs the command in a network namespace of its own
ip link set lo up && exec "$@"
