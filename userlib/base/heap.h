/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A binary heap of timers, earliest first, those of the same time in the order of their arming. */
#ifndef DDIO_ENV_HEAP_H
#define DDIO_ENV_HEAP_H

#include "env/env.h"

/**
 * struct ddio_heap - all zero is an empty heap
 * @at: 1-based: @at[timer->slot] is the timer; @at[0] is unused
 * @n: timers in it
 * @cap: timers that @at has room for
 * @seq: number of armings so far
 */
struct ddio_heap {
	struct ddio_timer **at;
	size_t n;
	size_t cap;
	uint64_t seq;
};

/* Moves the timer if it is in the heap.  Return: 0 or -ENOMEM. */
int ddio_heap_put(struct ddio_heap *heap, struct ddio_timer *timer, uint64_t when);
/* Harmless for a timer that is not in the heap. */
void ddio_heap_remove(struct ddio_heap *heap, struct ddio_timer *timer);
/* The earliest timer, which stays in the heap, or NULL. */
struct ddio_timer *ddio_heap_first(const struct ddio_heap *heap);
void ddio_heap_fini(struct ddio_heap *heap);

#endif /* DDIO_ENV_HEAP_H */
