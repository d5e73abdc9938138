// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/heap.h"

static bool heap_before(const struct ddio_heap_node *a, const struct ddio_heap_node *b)
{
	return a->when != b->when ? a->when < b->when : a->seq < b->seq;
}

static void heap_set(struct ddio_heap *heap, size_t slot, struct ddio_heap_node *node)
{
	heap->at[slot] = node;
	node->slot = slot;
}

static void heap_up(struct ddio_heap *heap, size_t slot, struct ddio_heap_node *node)
{
	for (; slot > 1 && heap_before(node, heap->at[slot / 2]); slot /= 2)
		heap_set(heap, slot, heap->at[slot / 2]);
	heap_set(heap, slot, node);
}

static void heap_down(struct ddio_heap *heap, size_t slot, struct ddio_heap_node *node)
{
	size_t child;

	for (; (child = 2 * slot) <= heap->n; slot = child) {
		if (child < heap->n && heap_before(heap->at[child + 1], heap->at[child]))
			child++;
		if (!heap_before(heap->at[child], node))
			break;
		heap_set(heap, slot, heap->at[child]);
	}
	heap_set(heap, slot, node);
}

static int heap_grow(struct ddio_heap *heap)
{
	size_t cap = heap->cap ? 2 * heap->cap : 16;
	struct ddio_heap_node **at;

	at = realloc(heap->at, (cap + 1) * sizeof(*at));
	if (!at)
		return -ENOMEM;
	heap->at = at;
	heap->cap = cap;
	return 0;
}

int ddio_heap_put(struct ddio_heap *heap, struct ddio_heap_node *node, uint64_t when)
{
	int ret;

	if (!node->slot && heap->n == heap->cap) {
		ret = heap_grow(heap);
		if (ret)
			return ret;
	}
	ddio_heap_remove(heap, node);
	node->when = when;
	node->seq = ++heap->seq;
	heap_up(heap, ++heap->n, node);
	return 0;
}

void ddio_heap_remove(struct ddio_heap *heap, struct ddio_heap_node *node)
{
	size_t slot = node->slot;
	struct ddio_heap_node *last;

	if (!slot)
		return;
	node->slot = 0;
	last = heap->at[heap->n--];
	if (last == node)
		return;
	if (slot > 1 && heap_before(last, heap->at[slot / 2]))
		heap_up(heap, slot, last);
	else
		heap_down(heap, slot, last);
}

struct ddio_heap_node *ddio_heap_first(const struct ddio_heap *heap)
{
	return heap->n ? heap->at[1] : NULL;
}

void ddio_heap_fini(struct ddio_heap *heap)
{
	while (heap->n)
		ddio_heap_remove(heap, heap->at[1]);
	free(heap->at);
	heap->at = NULL;
	heap->cap = 0;
}
