// SPDX-License-Identifier: LGPL-2.1-or-later
/* Nested strides: indices, addresses and linear positions of their bytes. */
#include <string.h>
#include "map/pieces/nest.h"

static void nest_weigh(struct nest *nest)
{
	uint64_t weight = 1;
	uint32_t d;

	for (d = nest->ndims; d-- > 0;) {
		nest->dim[d].weight = weight;
		weight *= nest->dim[d].count;
	}
}

void nest_simplify(struct nest *nest)
{
	struct nest_dim out[NEST_DIMS];
	struct nest_dim *cur = &out[NEST_DIMS - 1];
	uint32_t d = nest->ndims - 1;

	*cur = nest->dim[d];
	while (d-- > 0) {
		const struct nest_dim *outer = &nest->dim[d];

		if (outer->count == 1)
			continue;
		if (outer->stride == cur->count * cur->stride)
			cur->count *= outer->count;
		else
			*--cur = *outer;
	}
	nest->ndims = &out[NEST_DIMS] - cur;
	memcpy(nest->dim, cur, nest->ndims * sizeof(*cur));
	nest_weigh(nest);
}

bool nest_monotone(const struct nest *nest)
{
	uint64_t extent = nest->dim[nest->ndims - 1].count;
	uint32_t d;

	for (d = nest->ndims - 1; d-- > 0;) {
		const struct nest_dim *dim = &nest->dim[d];

		if (dim->count > 1 && dim->stride < extent)
			return false;
		extent += (dim->count - 1) * dim->stride;
	}
	return true;
}

uint64_t nest_end(const struct nest *nest)
{
	uint64_t last = nest->off;
	uint32_t d;

	for (d = 0; d < nest->ndims; d++)
		last += (nest->dim[d].count - 1) * nest->dim[d].stride;
	return last + 1;
}

/* Carries: indices from @d on are beyond their dimension, so the one outside advances. */
static void nest_carry(const struct nest *nest, uint64_t *idx, uint32_t d)
{
	uint32_t e;

	while (d > 0) {
		idx[d] = 0;
		d--;
		if (++idx[d] < nest->dim[d].count)
			return;
	}
	idx[0] = nest->dim[0].count;
	for (e = 1; e < nest->ndims; e++)
		idx[e] = 0;
}

void nest_locate(const struct nest *nest, uint64_t x, uint64_t *idx)
{
	uint64_t rel = x > nest->off ? x - nest->off : 0;
	uint32_t d;

	for (d = 0; d < nest->ndims; d++) {
		uint64_t stride = nest->dim[d].stride;

		idx[d] = stride == 1 ? rel : rel / stride;
		if (idx[d] >= nest->dim[d].count) {
			memset(&idx[d], 0, (nest->ndims - d) * sizeof(*idx));
			nest_carry(nest, idx, d);
			return;
		}
		rel -= idx[d] * stride;
	}
}

void nest_seek(const struct nest *nest, uint64_t pos, uint64_t *idx)
{
	uint32_t d;

	for (d = 0; d < nest->ndims; d++) {
		uint64_t weight = nest->dim[d].weight;

		idx[d] = weight == 1 ? pos : pos / weight;
		pos -= idx[d] * weight;
	}
}

uint64_t nest_below(const struct nest *nest, uint64_t x)
{
	uint64_t idx[NEST_DIMS];

	nest_locate(nest, x, idx);
	return nest_rank(nest, idx);
}

bool nest_next(const struct nest *nest, uint64_t from, uint64_t *start, uint64_t *end)
{
	uint64_t idx[NEST_DIMS];
	uint32_t last = nest->ndims - 1;

	nest_locate(nest, from, idx);
	if (idx[0] == nest->dim[0].count)
		return false;
	*start = nest_addr(nest, idx);
	*end = *start + (nest->dim[last].count - idx[last]);
	return true;
}

enum { BOXES_TAIL, BOXES_MIDDLE, BOXES_HEAD, BOXES_DONE };

void boxes_init(struct boxes *boxes, const struct nest *nest, const uint64_t *from,
		const uint64_t *to)
{
	uint32_t ndims = nest->ndims;
	uint32_t d = 0;
	uint32_t t;

	boxes->nest = nest;
	boxes->from = from;
	boxes->to = to;
	while (d < ndims && from[d] == to[d])
		d++;
	boxes->split = d;
	boxes->phase = d < ndims ? BOXES_TAIL : BOXES_DONE;
	/* The innermost dimension in which the interval begins inside. */
	for (t = ndims - 1; t > d && !from[t]; t--)
		;
	boxes->first = t;
	boxes->level = t;
}

/* Fixes the indices outside @d to @at; those inside are whole. */
static void boxes_fill(const struct boxes *boxes, const uint64_t *at, uint32_t d, uint64_t *lo,
		       uint64_t *hi)
{
	uint32_t e;

	for (e = 0; e < d; e++) {
		lo[e] = at[e];
		hi[e] = at[e] + 1;
	}
	for (e = d + 1; e < boxes->nest->ndims; e++) {
		lo[e] = 0;
		hi[e] = boxes->nest->dim[e].count;
	}
}

static bool boxes_step(struct boxes *boxes, uint64_t *lo, uint64_t *hi)
{
	uint32_t d = boxes->level;

	switch (boxes->phase) {
	case BOXES_TAIL:
		if (d == boxes->split) {
			boxes->phase = BOXES_MIDDLE;
			return false;
		}
		boxes_fill(boxes, boxes->from, d, lo, hi);
		lo[d] = boxes->from[d] + (d < boxes->first);
		hi[d] = boxes->nest->dim[d].count;
		boxes->level--;
		break;
	case BOXES_MIDDLE:
		boxes_fill(boxes, boxes->from, d, lo, hi);
		lo[d] = boxes->from[d] + (d < boxes->first);
		hi[d] = boxes->to[d];
		boxes->phase = BOXES_HEAD;
		break;
	default:
		boxes->level = ++d;
		if (d == boxes->nest->ndims) {
			boxes->phase = BOXES_DONE;
			return false;
		}
		boxes_fill(boxes, boxes->to, d, lo, hi);
		lo[d] = 0;
		hi[d] = boxes->to[d];
	}
	return lo[d] < hi[d];
}

bool boxes_next(struct boxes *boxes, uint64_t *lo, uint64_t *hi)
{
	while (boxes->phase != BOXES_DONE)
		if (boxes_step(boxes, lo, hi))
			return true;
	return false;
}

void stack_box(struct stack *st, const struct nest *nest, const uint64_t *lo, const uint64_t *hi)
{
	uint32_t d = nest->ndims - 1;

	st->n = 0;
	st->len = hi[d] - lo[d];
	while (d-- > 0)
		stack_push(st, hi[d] - lo[d], nest->dim[d].stride, nest->dim[d].weight);
}
