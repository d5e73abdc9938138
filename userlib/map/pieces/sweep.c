// SPDX-License-Identifier: LGPL-2.1-or-later
/* Looks for the first byte that two large nests share, piece by piece from the front. */
#include <errno.h>
#include <stdlib.h>
#include "map/pieces/union.h"

/* Pieces to look at before giving up: parts that overlap do so early. */
#define SWEEP_MAX (UINT64_C(1) << 21)

/**
 * struct sweep - a heap of the items' next pieces, the lowest on top
 * @start, @end: the next piece of the item
 */
struct sweep {
	const struct owned *owned;
	uint64_t start;
	uint64_t end;
};

static void heap_sink(struct sweep *heap, uint64_t n, uint64_t i)
{
	for (;;) {
		uint64_t least = i;
		uint64_t child = 2 * i + 1;
		struct sweep swap;

		if (child < n && heap[child].start < heap[least].start)
			least = child;
		if (child + 1 < n && heap[child + 1].start < heap[least].start)
			least = child + 1;
		if (least == i)
			return;
		swap = heap[i];
		heap[i] = heap[least];
		heap[least] = swap;
		i = least;
	}
}

/* Fills the heap from where the second item begins: no two can meet before. */
static uint64_t heap_fill(struct sweep *heap, const struct owned *owned, uint64_t n)
{
	uint64_t used = 0;
	uint64_t i;

	for (i = 0; i < n; i++) {
		struct sweep *s = &heap[used];

		s->owned = &owned[i];
		if (item_next(&owned[i].item, owned[1].item.lo, &s->start, &s->end))
			used++;
	}
	for (i = used; i-- > 0;)
		heap_sink(heap, used, i);
	return used;
}

static int heap_sweep(struct sweep *heap, uint64_t n, uint64_t *at, uint32_t *first,
		      uint32_t *second)
{
	uint64_t end = 0; /* of all pieces so far; that of @proc reaches there */
	uint32_t proc = 0;
	uint64_t i;

	for (i = 0; i < SWEEP_MAX && n; i++) {
		struct sweep *top = &heap[0];

		if (top->start < end) {
			*at = top->start;
			*first = proc;
			*second = top->owned->proc;
			return 1;
		}
		end = top->end;
		proc = top->owned->proc;
		if (!item_next(&top->owned->item, end, &top->start, &top->end))
			*top = heap[--n];
		heap_sink(heap, n, 0);
	}
	return n ? -EOVERFLOW : 0;
}

int items_sweep(const struct owned *owned, uint64_t n, uint64_t *at, uint32_t *first,
		uint32_t *second)
{
	struct sweep *heap = calloc(n, sizeof(*heap));
	int rc;

	if (!heap)
		return -ENOMEM;
	rc = heap_sweep(heap, heap_fill(heap, owned, n), at, first, second);
	free(heap);
	return rc;
}
