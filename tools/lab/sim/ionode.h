/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much of a processor its I/O leaves to a computation: the study of Kotz and Cai, 1995, from
 * a record of when each processor worked.
 */
#ifndef DDIO_IONODE_H
#define DDIO_IONODE_H

#include <stddef.h>
#include <stdint.h>

/* Taken from the computation at each interruption, and the shortest time of use to it. */
#define IONODE_SWITCH_NS 50000
/* Of computation between two barriers of all processors. */
#define IONODE_STEP_NS 1000000

struct ionode_span {
	uint64_t start, end;
};

/**
 * struct ionode - one processor's record
 * @busy: when it worked; neighbours are joined
 * @err: -ENOMEM: something is missing
 */
struct ionode {
	struct ionode_span *busy;
	size_t n, cap;
	int err;
};

/* It works from @start, at or behind the end of what came before, for @ns. */
void ionode_add(struct ionode *node, uint64_t start, uint64_t ns);
void ionode_clear(struct ionode *node);
void ionode_free(struct ionode *node);

/* Share of the processors' time from @begin to @end that a computation can use; 100000 is all. */
uint32_t ionode_left(const struct ionode *node, uint32_t n, uint64_t begin, uint64_t end);
/* The same where all processors wait for each other after each step. */
uint32_t ionode_left_barriers(const struct ionode *node, uint32_t n, uint64_t begin, uint64_t end);

#endif /* DDIO_IONODE_H */
