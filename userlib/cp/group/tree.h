/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The binomial tree of a group's ranks. */
#ifndef DDIO_CP_TREE_H
#define DDIO_CP_TREE_H

#include <stdbool.h>
#include <stdint.h>

static inline uint32_t tree_parent(uint32_t rank)
{
	return rank & (rank - 1);
}

/* Returns child number @k, or UINT32_MAX if there is none. */
static inline uint32_t tree_child(uint32_t rank, uint32_t size, unsigned int k)
{
	uint64_t child = rank | (uint64_t)1 << k;

	if (k >= 31 || (rank && (uint64_t)1 << k >= (rank & -rank)) || child >= size)
		return UINT32_MAX;
	return (uint32_t)child;
}

/* Returns true if @rank is below @top in the tree, or @top itself. */
static inline bool tree_holds(uint32_t top, uint32_t rank)
{
	return !top || (rank >= top && rank - top < (top & -top));
}

/* Returns the child of @top that is on the way down to @rank, which is below @top. */
static inline uint32_t tree_towards(uint32_t top, uint32_t rank)
{
	return top | 1u << (31 - __builtin_clz(rank - top));
}

static inline bool tree_neighbours(uint32_t a, uint32_t b)
{
	return (a && tree_parent(a) == b) || (b && tree_parent(b) == a);
}

#endif /* DDIO_CP_TREE_H */
