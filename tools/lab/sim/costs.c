// SPDX-License-Identifier: GPL-2.0-only
/* Costs by hand: see costs.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "costs.h"

#define COST_MAX_NS 1e9

static const char *const cost_names[SIM_WORKS] = {
	[DDIO_WORK_MSG_SEND] = "send", [DDIO_WORK_MSG_RECV] = "receive",
	[DDIO_WORK_MEMPUT] = "memput", [DDIO_WORK_MEMGET] = "memget",
	[DDIO_WORK_CACHE] = "cache",   [DDIO_WORK_SWITCH] = "switch",
	[DDIO_WORK_COPY] = "copy",     [DDIO_WORK_SORT] = "sort",
	[DDIO_WORK_RUNS] = "runs",     [DDIO_WORK_PIECES] = "pieces",
	[DDIO_WORK_GATHER] = "gather", [DDIO_WORK_DISK] = "disk",
	[DDIO_WORK_SHARED] = "shared", [DDIO_WORK_CALL] = "call",
};

static struct ddio_sim_cost *cost_find(struct ddio_sim_machine *m, const char *name, size_t len)
{
	uint32_t i;

	for (i = 0; i < SIM_WORKS; i++)
		if (cost_names[i] && strlen(cost_names[i]) == len &&
		    !memcmp(cost_names[i], name, len))
			return &m->cost[i];
	return NULL;
}

/* Returns the end of the number of ns at @text, NULL if it is none or too large. */
static const char *cost_ns(const char *text, double *ns)
{
	char *end;

	/* strtod() takes blanks, signs and words, too. */
	if (*text < '0' || *text > '9')
		return NULL;
	*ns = strtod(text, &end);
	return *ns <= COST_MAX_NS ? end : NULL;
}

/* Takes one "name=NS" or "name=NS+NS".  Return: its end, or NULL. */
static const char *cost_take(struct ddio_sim_machine *m, const char *text)
{
	const char *eq = strchr(text, '=');
	struct ddio_sim_cost *cost = eq ? cost_find(m, text, (size_t)(eq - text)) : NULL;
	double call = 0, unit;
	const char *end = cost ? cost_ns(eq + 1, &unit) : NULL;

	if (end && *end == '+') {
		call = unit;
		end = cost_ns(end + 1, &unit);
	}
	if (!end || (*end && *end != ','))
		return NULL;
	cost->call_ns = (uint64_t)(call + 0.5);
	cost->unit_ps = (uint64_t)(unit * 1000 + 0.5);
	return end;
}

int costs_change(struct ddio_sim_machine *m, const char *list, char *err, size_t err_len)
{
	const char *at = list, *end;

	while (at && *at) {
		end = cost_take(m, at);
		if (!end) {
			snprintf(err, err_len, "--cost: '%.60s': a list of NAME=NS or NAME=NS+NS",
				 at);
			return -EINVAL;
		}
		at = *end ? end + 1 : end;
	}
	return 0;
}
