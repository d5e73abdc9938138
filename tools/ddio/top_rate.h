/* SPDX-License-Identifier: GPL-2.0-only */
/* The time between two looks at a node, and counts a second. */
#ifndef TOOLS_TOP_RATE_H
#define TOOLS_TOP_RATE_H

#include <stdbool.h>
#include "tools/common/metrics.h"

/**
 * struct top_interval - what lies between two looks at a node
 * @seconds: by its own clock
 * @anew: its counters began at 0 in between
 */
struct top_interval {
	double seconds;
	bool anew;
};

/* Return: that of the node called @name; no time if it gave no answer. */
struct top_interval top_interval(const struct metrics *then, const struct metrics *now,
				 const char *name);
/* Counts a second; a counter that went back began anew. */
double top_rate(const struct top_interval *in, uint64_t then, uint64_t now);

#endif /* TOOLS_TOP_RATE_H */
