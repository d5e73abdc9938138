// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Proves that nests do not overlap, in time that does not depend on their
 * counts.
 *
 * Two bytes at one address are at one address modulo anything.  So all nests
 * are folded onto a ring as long as their greatest stride: levels whose stride
 * is a multiple of it fall away.  Nests that lie apart on the ring lie apart
 * in the file; those that do not are folded again by the next stride.  Interleaved
 * columns, rows and tiles are told apart in as many steps as they have levels.
 */
#include <errno.h>
#include <stdlib.h>
#include "map/pieces/union.h"

/* The most nests that trees are taken apart to: so many, and a few for each item. */
#define PATHS_MAX (UINT64_C(1) << 16)
#define PATHS_EACH 8

/* Offsets are raised by this, so that none is below 0. */
#define ABOVE_0 (UINT64_C(1) << 62)

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static int nest_compare(const void *a, const void *b)
{
	const struct nest *x = a;
	const struct nest *y = b;

	return x->off < y->off ? -1 : x->off > y->off;
}

/* Folds the nest modulo @ring, counted from @origin.  Returns false if that would break it. */
static bool nest_fold(struct nest *nest, uint64_t ring, uint64_t origin)
{
	uint32_t d, n = 0;

	nest->off = (nest->off - origin) % ring;
	for (d = 0; d < nest->ndims; d++)
		if (d + 1 == nest->ndims || nest->dim[d].stride % ring)
			nest->dim[n++] = nest->dim[d];
	nest->ndims = n;
	return nest_end(nest) <= ring;
}

static bool nests_fold(struct nest *out, const struct nest *nest, uint64_t n, uint64_t ring)
{
	uint64_t i;

	for (i = 0; i < n; i++) {
		out[i] = nest[i];
		if (!nest_fold(&out[i], ring, nest[0].off))
			return false;
	}
	return true;
}

static bool nests_disjoint(struct nest *nest, struct nest *spare, uint64_t n);

/* Nests whose extents overlap, sorted. */
static bool cluster_disjoint(struct nest *nest, struct nest *spare, uint64_t n)
{
	uint64_t greatest = 0;
	uint64_t common = 0;
	uint64_t i;

	if (n == 1)
		return true;
	for (i = 0; i < n; i++) {
		uint64_t stride = nest[i].dim[0].stride;

		if (nest[i].ndims == 1)
			continue;
		common = greatest_divisor(common, stride);
		if (stride > greatest)
			greatest = stride;
	}
	if (!greatest)
		return false;
	if (!nests_fold(spare, nest, n, greatest) && !nests_fold(spare, nest, n, common))
		return false;
	/* The unfolded ones are not wanted any more. */
	return nests_disjoint(spare, nest, n);
}

static bool nests_disjoint(struct nest *nest, struct nest *spare, uint64_t n)
{
	uint64_t i, first = 0;
	uint64_t end;

	qsort(nest, n, sizeof(*nest), nest_compare);
	end = nest_end(&nest[0]);
	for (i = 1; i <= n; i++) {
		uint64_t next;

		if (i == n || nest[i].off >= end) {
			if (!cluster_disjoint(nest + first, spare + first, i - first))
				return false;
			first = i;
		}
		if (i == n)
			break;
		next = nest_end(&nest[i]);
		if (next > end)
			end = next;
	}
	return true;
}

/* Returns how many nests stand for the items; 0 if there are too many. */
static uint64_t items_nests(const struct owned *owned, uint64_t n)
{
	uint64_t sum = 0, i, paths;

	for (i = 0; i < n; i++) {
		paths = owned[i].item.len == ITEM_TREE ? tree_part_paths(owned[i].item.tree) : 1;
		if (paths > PATHS_MAX || sum + paths > PATHS_MAX + PATHS_EACH * n)
			return 0;
		sum += paths;
	}
	return sum;
}

/* Adds the nests that stand for the item: of a tree those of the whole node, which may begin below 0. */
static uint64_t item_nests(const struct item *item, struct nest *nest)
{
	struct nest tmp;
	uint64_t n = 1, i;

	if (item->len == ITEM_TREE)
		n = tree_part_nests(item->tree, nest);
	else
		*nest = *item_nest(item, &tmp);
	for (i = 0; i < n; i++) {
		nest[i].off += ABOVE_0;
		nest_simplify(&nest[i]);
	}
	return n;
}

int items_disjoint(const struct owned *owned, uint64_t n)
{
	uint64_t total = items_nests(owned, n), used = 0, more, i;
	struct nest *nest;
	bool yes = true;

	if (!total)
		return 0;
	nest = calloc(total, 2 * sizeof(*nest));
	if (!nest)
		return -ENOMEM;
	for (i = 0; i < n && yes; i++) {
		more = item_nests(&owned[i].item, nest + used);
		used += more;
		yes = more;
	}
	yes = yes && nests_disjoint(nest, nest + used, used);
	free(nest);
	return yes;
}
