/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What all processes together want of a file, where parts are irregular.
 *
 * Items are kept in *clusters*, disjoint and in file order.  The items of a
 * cluster interleave but never share a byte: either that was proved from
 * their strides, or they were flattened to pieces and merged.
 */
#ifndef DDIO_MAP_UNION_H
#define DDIO_MAP_UNION_H

#include "map/items.h"

/* Pieces that one map may flatten; bounds what a short description can cost. */
#define DDIO_FLAT_MAX (UINT64_C(1) << 24)

struct ddio_cluster {
	uint64_t first; /* item */
	uint64_t hi;
};

struct ddio_union {
	struct ddio_items items;
	struct ddio_cluster *cluster;
	uint64_t nclusters;
	uint64_t room;
	uint64_t size;
	bool overlap; /* two processes name byte @at */
	uint64_t at;
	uint32_t first;
	uint32_t second;
};

struct ddio_owned {
	struct ddio_item item;
	uint32_t proc;
};

/**
 * ddio_union_init - the union of items
 * @owned: items of all processes, in any order; sorted here.  Nests are borrowed.
 * @flat: pieces flattened by the map so far, at most DDIO_FLAT_MAX
 *
 * Return: 0, -ENOMEM, or -EOVERFLOW if it would take too many pieces.
 */
int ddio_union_init(struct ddio_union *all, struct ddio_owned *owned, uint64_t n, uint64_t flat);
void ddio_union_destroy(struct ddio_union *all);

bool ddio_union_next(const struct ddio_union *all, uint64_t from, uint64_t *start, uint64_t *end);
/* Distinct bytes below file offset @x. */
uint64_t ddio_union_below(const struct ddio_union *all, uint64_t x);

/* Is it certain that no two of these items share a byte?  -ENOMEM, or 1 or 0. */
int ddio_items_disjoint(const struct ddio_owned *owned, uint64_t n);

#endif /* DDIO_MAP_UNION_H */
