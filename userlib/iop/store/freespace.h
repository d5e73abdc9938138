/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of numbers kept as disjoint ranges that do not touch: the free bytes of
 * a disk, or the blocks of an object that were allocated and never written.  A
 * treap by start; every node knows the longest range below it, so that the first
 * range that is long enough is found in O(log n).
 */
#ifndef DDIO_FREESPACE_H
#define DDIO_FREESPACE_H

#include <stdbool.h>
#include <stdint.h>

struct range_node {
	struct range_node *left, *right;
	uint64_t start, len;
	uint64_t longest; /* of this node and those below */
	uint64_t prio;
};

struct ranges {
	struct range_node *root;
	uint64_t total; /* sum of the lengths */
	uint64_t n;
	uint64_t rand;
};

void ranges_init(struct ranges *set);
void ranges_fini(struct ranges *set);
/* Return: 0, -EEXIST if a part of it is there already, -ENOMEM; then nothing has changed. */
int ranges_add(struct ranges *set, uint64_t start, uint64_t len);
/* Parts that are not there are ignored.  Return: 0 or -ENOMEM, then nothing has changed. */
int ranges_remove(struct ranges *set, uint64_t start, uint64_t len);
bool ranges_contain(const struct ranges *set, uint64_t start, uint64_t len);
/* The first range that ends behind @at, NULL if there is none. */
const struct range_node *ranges_find(const struct ranges *set, uint64_t at);
/**
 * ranges_fit - the lowest place for @len at or above @from
 * @align: the place is a multiple of it, a power of two
 */
bool ranges_fit(const struct ranges *set, uint64_t from, uint64_t len, uint64_t align,
		uint64_t *start);
/* Length of the longest range. */
uint64_t ranges_longest(const struct ranges *set);

#endif /* DDIO_FREESPACE_H */
