// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Block lists: the blocks of one disk, and the order in which they are moved.  Spans make a list short: what is
 * contiguous in an extent of the object, or regular, is one entry.
 */
#include <errno.h>
#include <stdlib.h>
#include "iop/coll/core/plan.h"

static int plan_reserve(struct plan *plan)
{
	uint64_t cap = plan->cap ? plan->cap * 2 : 64;
	struct plan_span *span;

	if (plan->most && plan->n >= plan->most)
		return -E2BIG;
	if (plan->n < plan->cap)
		return 0;
	span = realloc(plan->span, cap * sizeof(*span));
	if (!span)
		return -ENOMEM;
	plan->span = span;
	plan->cap = cap;
	return 0;
}

/*
 * Adds a block to the last span, if it fits.  Blocks are skipped only within one extent: then all that lies
 * between are skipped blocks of the same object, so that spans do not interleave, and sorting them sorts the
 * blocks.
 */
static bool span_extend(const struct plan *plan, const struct plan_blocks *placed)
{
	struct plan_span *last = &plan->span[plan->n - 1];
	uint64_t distance = placed->block - last->block;
	uint64_t stride = last->count == 1 ? distance : last->stride;

	if (last->count == SPAN_MAX || stride > SPAN_MAX || distance != last->count * stride ||
	    (stride > 1 && !placed->same))
		return false;
	if (last->sector == SPAN_HOLE || placed->sector == SPAN_HOLE) {
		if (last->sector != placed->sector)
			return false;
	} else if (placed->sector != last->sector + distance * plan->sectors) {
		return false;
	}
	last->stride = stride;
	last->count++;
	return true;
}

static int plan_add_first(struct plan *plan, const struct plan_blocks *placed)
{
	struct plan_span *span;
	int err;

	plan->blocks++;
	if (plan->n && span_extend(plan, placed))
		return 0;
	err = plan_reserve(plan);
	if (err)
		return err;
	span = &plan->span[plan->n++];
	span->block = placed->block;
	span->sector = placed->sector;
	span->count = 1;
	span->stride = 1;
	return 0;
}

int plan_add(struct plan *plan, const struct plan_blocks *placed)
{
	struct plan_blocks left = *placed;
	struct plan_span *span;
	uint64_t n;
	int err;

	while (left.count) {
		err = plan_add_first(plan, &left);
		if (err)
			return err;
		span = &plan->span[plan->n - 1];
		n = 1;
		if (span->stride == 1) {
			n += SPAN_MAX - span->count;
			n = n < left.count ? n : left.count;
			span->count += n - 1;
			plan->blocks += n - 1;
		}
		left.block += n;
		left.count -= n;
		if (left.sector != SPAN_HOLE)
			left.sector += n * plan->sectors;
		left.same = true;
	}
	return 0;
}

static int span_compare(const void *a, const void *b)
{
	const struct plan_span *x = a, *y = b;

	if (x->sector != y->sector)
		return x->sector < y->sector ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

void plan_sort(struct plan *plan)
{
	uint64_t i;

	for (i = 1; i < plan->n; i++) {
		if (span_compare(&plan->span[i - 1], &plan->span[i]) > 0) {
			qsort(plan->span, plan->n, sizeof(*plan->span), span_compare);
			return;
		}
	}
}

void plan_rotate(struct plan *plan, uint64_t skip)
{
	plan->at = 0;
	plan->in = 0;
	plan->left = plan->blocks;
	while (plan->at < plan->n && skip >= plan->span[plan->at].count)
		skip -= plan->span[plan->at++].count;
	if (plan->at < plan->n)
		plan->in = skip;
	else
		plan->at = 0;
}

uint64_t plan_peek(const struct plan *plan)
{
	const struct plan_span *span;

	if (!plan->left)
		return SPAN_HOLE;
	span = &plan->span[plan->at];
	if (span->sector == SPAN_HOLE)
		return SPAN_HOLE;
	return span->sector + (uint64_t)plan->in * span->stride * plan->sectors;
}

uint64_t plan_before(const struct plan *plan, uint64_t i, uint64_t sector)
{
	const struct plan_span *span = &plan->span[i];
	uint64_t distance = (uint64_t)span->stride * plan->sectors;
	uint64_t n = (sector - span->sector + distance - 1) / distance;

	return n < span->count ? n : span->count;
}

bool plan_next(struct plan *plan, struct plan_blocks *placed)
{
	const struct plan_span *span;
	uint64_t further;

	if (!plan->left)
		return false;
	span = &plan->span[plan->at];
	further = (uint64_t)plan->in * span->stride;
	*placed = (struct plan_blocks){ .block = span->block + further, .count = 1 };
	placed->sector = span->sector;
	if (placed->sector != SPAN_HOLE)
		placed->sector += further * plan->sectors;
	plan->left--;
	if (++plan->in == span->count) {
		plan->in = 0;
		plan->at = plan->at + 1 == plan->n ? 0 : plan->at + 1;
	}
	return true;
}

void plan_free(struct plan *plan)
{
	free(plan->span);
	plan_near_free(plan->near);
	*plan = (struct plan){ .sectors = plan->sectors };
}
