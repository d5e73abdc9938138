/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much of a processor its I/O leaves to a computation, as studied by Kotz and Cai, 1995; from
 * a record of when each processor worked.
 */
#ifndef TOOLS_IONODE_H
#define TOOLS_IONODE_H

#include <stddef.h>
#include <stdint.h>

/* What each interruption costs the computation; shorter gaps are of no use to it. */
#define IONODE_SWITCH_NS 50000
/* Computation between two barriers of all processors. */
#define IONODE_STEP_NS 1000000

struct ionode_span {
	uint64_t start, end;
};

/**
 * struct ionode - one processor's record
 * @busy: when it worked; adjacent times are joined
 * @err: -ENOMEM if the record is incomplete
 */
struct ionode {
	struct ionode_span *busy;
	size_t n, cap;
	int err;
};

/* Records work from @start, not before the end of earlier work, for @ns. */
void ionode_add(struct ionode *node, uint64_t start, uint64_t ns);
void ionode_clear(struct ionode *node);
void ionode_free(struct ionode *node);

/* Return: the share of the processors' time from @begin to @end that a computation can use; 100000 is all. */
uint32_t ionode_left(const struct ionode *node, uint32_t n, uint64_t begin, uint64_t end);
/* Return: the same if all processors wait for each other after each step. */
uint32_t ionode_left_barriers(const struct ionode *node, uint32_t n, uint64_t begin, uint64_t end);

#endif /* TOOLS_IONODE_H */
