#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# own_network.sh COMMAND...: in a network namespace that was just made
ip link set lo up && exec "$@"
