/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The union of the bytes that all processes want of a file, where parts are irregular.
 *
 * Items are kept in *clusters*, disjoint and in file order.  The items of a
 * cluster interleave but share no byte: that was proved from their strides,
 * or they were flattened to pieces and merged.  Large nests that do overlap
 * stay as they are, in a *mixed* cluster; its bytes are counted by walking the
 * range in question.
 */
#ifndef DDIO_MAP_UNION_H
#define DDIO_MAP_UNION_H

#include "map/pieces/items.h"

/* The most pieces that one map may flatten: it bounds what a short description can cost. */
#define FLAT_MAX (UINT64_C(1) << 24)

/**
 * struct item_cluster - items that interleave
 * @first: index of the first; they go on to that of the next cluster
 * @hi: one past their last byte
 * @mixed: some of them overlap; their bytes do not count in item.before
 */
struct item_cluster {
	uint64_t first;
	uint64_t hi;
	bool mixed;
};

struct item_union {
	struct items items;
	struct item_cluster *cluster;
	uint64_t nclusters;
	uint64_t room;
	uint64_t size; /* without mixed clusters */
	bool mixed;    /* there are some */
	bool overlap;  /* two processes name byte @at */
	uint64_t at;
	uint32_t first;
	uint32_t second;
};

struct owned {
	struct item item;
	uint32_t proc;
};

/**
 * union_init - the union of items
 * @owned: items of all processes, in any order; sorted here.  Nests are borrowed.
 * @flat: pieces flattened by the map so far, at most FLAT_MAX
 *
 * Return: 0, -ENOMEM, or -EOVERFLOW if it would take too many pieces.
 */
int union_init(struct item_union *all, struct owned *owned, uint64_t n, uint64_t flat);
void union_destroy(struct item_union *all);

bool union_next(const struct item_union *all, uint64_t from, uint64_t *start, uint64_t *end);
/* Returns the number of distinct bytes in [lo, hi). */
uint64_t union_covered(const struct item_union *all, uint64_t lo, uint64_t hi);

/* Returns 1 if it is certain that no two of these items share a byte, 0 if not, or -ENOMEM. */
int items_disjoint(const struct owned *owned, uint64_t n);

/**
 * items_sweep - look for two items that share a byte, from the front
 * @owned: sorted by file offset
 * @at, @first, @second: the first such byte, and the two processes that name it
 *
 * Return: 1 if found, 0 if there is none, -ENOMEM, -EOVERFLOW if it would take
 * too many pieces to tell.
 */
int items_sweep(const struct owned *owned, uint64_t n, uint64_t *at, uint32_t *first,
		uint32_t *second);

#endif /* DDIO_MAP_UNION_H */
