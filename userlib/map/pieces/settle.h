/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes that are named more than once: each goes to the first that names it, which is the lowest rank or, within
 * one description, the place that comes first in the share.
 */
#ifndef DDIO_MAP_SETTLE_H
#define DDIO_MAP_SETTLE_H

#include "map/pieces/items.h"

/* Returns true if two of the scraps, which are sorted, share a byte. */
bool scraps_meet(const struct scraps *scraps);

/**
 * scraps_settle - give each byte to the first scrap that names it
 * @scraps: sorted; they may overlap
 * @by_share: the first is the one with the lowest offset in the share, else the one of the lowest process
 * @kept: appended: what is left of the scraps, sorted and disjoint
 * @claims: if not NULL, appended: the bytes that more than one names, and to which process they go
 *
 * Return: 0, -ENOMEM, -EOVERFLOW if more than 2^20 scraps overlap in a row.
 */
int scraps_settle(const struct scraps *scraps, bool by_share, struct scraps *kept,
		  struct scraps *claims);

/**
 * struct map_again - bytes that a share has a second time
 * @off, @len: in the file
 * @from: where the share has them first
 * @to: where it has them, too
 */
struct map_again {
	uint64_t off;
	uint64_t len;
	uint64_t from;
	uint64_t to;
};

/**
 * again_find - lists what is not kept of one share
 * @scraps: sorted
 * @kept: what scraps_settle() has made of them by share
 * @again: the list, which the caller frees
 *
 * Return: 0, -ENOMEM, -EOVERFLOW if there are more than FLAT_MAX.
 */
int again_find(const struct scraps *scraps, const struct scraps *kept, struct map_again **again,
	       uint64_t *n);

/**
 * scraps_yield - take from scraps what belongs to other processes
 * @scraps: sorted and disjoint, of @proc
 * @claims: sorted and disjoint
 * @left: appended: what is left
 */
int scraps_yield(const struct scraps *scraps, uint32_t proc, const struct scraps *claims,
		 struct scraps *left);

#endif /* DDIO_MAP_SETTLE_H */
