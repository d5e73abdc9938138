/* SPDX-License-Identifier: GPL-2.0-only */
/* A machine's costs, changed by hand: what a result owes to each of them. */
#ifndef TOOLS_SIM_COSTS_H
#define TOOLS_SIM_COSTS_H

#include <stddef.h>
#include "sim/sim.h"

/**
 * costs_change - change costs of a machine
 * @m: the machine
 * @list: "cache=12000,memput=5000+5": ns of each unit, after those of each call, if any; NULL: none
 * @err: one line saying what was wrong
 *
 * Return: 0 or -EINVAL.
 */
int costs_change(struct ddio_sim_machine *m, const char *list, char *err, size_t err_len);

#endif /* TOOLS_SIM_COSTS_H */
