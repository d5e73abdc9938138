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

int items_disjoint(const struct owned *owned, uint64_t n)
{
	struct nest *nest = calloc(n, 2 * sizeof(*nest));
	struct nest tmp;
	uint64_t i;
	bool yes;

	if (!nest)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		nest[i] = *item_nest(&owned[i].item, &tmp);
		nest_simplify(&nest[i]);
	}
	yes = nests_disjoint(nest, nest + n, n);
	free(nest);
	return yes;
}
