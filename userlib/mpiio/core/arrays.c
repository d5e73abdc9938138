// SPDX-License-Identifier: LGPL-2.1-or-later
/* Subarrays and distributed arrays as trees (MPI 4.0, sections 5.1.3 and 5.1.4). */
#include <errno.h>
#include "mpiio/core/shape.h"

/* Bytes between neighbours in the next dimension. */
static int stride_grow(int64_t *stride, uint64_t size)
{
	return __builtin_mul_overflow(*stride, size, stride) ? -EOVERFLOW : 0;
}

static int moved_by(struct mpiio_shape *s, uint64_t elements, int64_t stride, uint64_t node,
		    uint64_t *out)
{
	int64_t offset;

	if (__builtin_mul_overflow(stride, elements, &offset))
		return -EOVERFLOW;
	return shape_moved(s, offset, node, out);
}

static int span(struct mpiio_shape *s, uint64_t start, uint64_t count, int64_t stride,
		uint64_t *node)
{
	int ret = shape_repeat(s, count, stride, *node, node);

	return ret ? ret : moved_by(s, start, stride, *node, node);
}

int shape_subarray(struct mpiio_shape *s, unsigned int ndims, const struct shape_dim *dim,
		   uint64_t node, int64_t extent, uint64_t *out)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ndims && !ret; i++) {
		ret = span(s, dim[i].start, dim[i].count, extent, &node);
		if (!ret)
			ret = stride_grow(&extent, dim[i].size);
	}
	*out = node;
	return ret;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int block(struct mpiio_shape *s, const struct shape_dim *d, int64_t stride, uint64_t *node)
{
	uint64_t start = 0, count = 0;

	if (!__builtin_mul_overflow(d->coord, d->arg, &start) && start < d->size)
		count = less(d->arg, d->size - start);
	return span(s, count ? start : 0, count, stride, node);
}

/* Whole blocks, and at most one that the end of the array has cut. */
struct rounds {
	struct shape_entry entry[2];
};

static void round_entry(const void *arg, uint64_t i, struct shape_entry *e)
{
	*e = ((const struct rounds *)arg)->entry[i];
}

static int cyclic(struct mpiio_shape *s, const struct shape_dim *d, int64_t stride, uint64_t *node)
{
	uint64_t turn = d->procs * d->arg, start = d->coord * d->arg, left = 0, whole, cut = 0, of;
	struct rounds r = { 0 };
	int ret;

	if (start < d->size)
		left = d->size - start;
	else
		start = 0;
	whole = left / turn;
	left %= turn;
	if (left >= d->arg)
		whole++;
	else
		cut = left;
	ret = shape_repeat(s, d->arg, stride, *node, &of);
	if (ret)
		return ret;
	/* A round that does not occur twice may be longer than the array: its stride does not matter. */
	r.entry[0] = (struct shape_entry){ (int64_t)start * stride, whole, of,
					   whole > 1 ? (int64_t)turn * stride : 0 };
	r.entry[1] = (struct shape_entry){ (int64_t)(start + whole * turn) * stride, cut, *node,
					   stride };
	return shape_sequence(s, 2, round_entry, &r, node);
}

int shape_darray(struct mpiio_shape *s, unsigned int ndims, const struct shape_dim *dim,
		 uint64_t node, int64_t extent, uint64_t *out)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ndims && !ret; i++) {
		ret = (dim[i].cyclic ? cyclic : block)(s, &dim[i], extent, &node);
		if (!ret)
			ret = stride_grow(&extent, dim[i].size);
	}
	*out = node;
	return ret;
}
