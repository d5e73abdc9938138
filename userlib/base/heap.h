/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A binary heap, earliest first; nodes with the same time come in the order of insertion. */
#ifndef DDIO_HEAP_H
#define DDIO_HEAP_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct ddio_heap_node - embedded in what a heap holds; zero-initialise
 * @when: as put
 * @seq: number of the putting
 * @slot: index in the heap; 0: in none
 */
struct ddio_heap_node {
	uint64_t when;
	uint64_t seq;
	size_t slot;
};

/**
 * struct ddio_heap - all zero is an empty heap
 * @at: 1-based: @at[node->slot] is the node; @at[0] is unused
 * @n: nodes in it
 * @cap: nodes that @at has room for
 * @seq: number of puttings so far
 */
struct ddio_heap {
	struct ddio_heap_node **at;
	size_t n;
	size_t cap;
	uint64_t seq;
};

/* Moves the node if it is in the heap.  Return: 0 or -ENOMEM. */
int ddio_heap_put(struct ddio_heap *heap, struct ddio_heap_node *node, uint64_t when);
/* Removes the node; does nothing if it is not in the heap. */
void ddio_heap_remove(struct ddio_heap *heap, struct ddio_heap_node *node);
/* Returns the earliest node, which stays in the heap, or NULL. */
struct ddio_heap_node *ddio_heap_first(const struct ddio_heap *heap);
/* Takes all nodes out and frees what the heap has allocated. */
void ddio_heap_fini(struct ddio_heap *heap);

#endif /* DDIO_HEAP_H */
