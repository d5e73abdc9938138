/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of numbers, kept as disjoint ranges that do not touch: the free bytes of a disk, or the blocks of
 * an object that have been allocated but never written.
 */
#ifndef DDIO_FREESPACE_H
#define DDIO_FREESPACE_H

#include <stdbool.h>
#include <stdint.h>
#include "iop/store/ranges/tree.h"

struct ranges {
	struct range_node *root;
	uint64_t total; /* sum of the lengths */
	uint64_t n;
	uint64_t rand;
	struct range_node *spare; /* of ranges_ready() */
};

void ranges_init(struct ranges *set);
void ranges_fini(struct ranges *set);
/* Makes sure of memory, so that the next ranges_add() or ranges_remove() has it: 0 or -ENOMEM. */
int ranges_ready(struct ranges *set);
/* Returns 0, -EEXIST if part of it is in the set already, or -ENOMEM; after an error nothing has changed. */
int ranges_add(struct ranges *set, uint64_t start, uint64_t len);
/* Ignores parts that are not in the set.  Returns 0, or -ENOMEM with nothing changed. */
int ranges_remove(struct ranges *set, uint64_t start, uint64_t len);
bool ranges_contain(const struct ranges *set, uint64_t start, uint64_t len);
/* Returns the first range that ends after @at, or NULL. */
const struct range_node *ranges_find(const struct ranges *set, uint64_t at);
/**
 * ranges_fit - find the lowest place for @len at or above @from
 * @align: a power of two, of which the place is a multiple
 */
bool ranges_fit(const struct ranges *set, uint64_t from, uint64_t len, uint64_t align,
		uint64_t *start);
/* Returns the length of the longest range. */
uint64_t ranges_longest(const struct ranges *set);

#endif /* DDIO_FREESPACE_H */
