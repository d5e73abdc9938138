// SPDX-License-Identifier: LGPL-2.1-or-later
/* Positions in a file view (MPI 4.0, section 14.3). */
#include <errno.h>
#include "mpiio/core/view.h"

int view_of_bytes(struct mpiio_view *v)
{
	uint64_t node;

	*v = (struct mpiio_view){ .etype = 1, .extent = 1 };
	return shape_leaf(&v->shape, 1, &node);
}

void view_drop(struct mpiio_view *v)
{
	shape_drop(&v->shape);
}

int view_is_contiguous(const struct mpiio_view *v)
{
	return shape_is_leaf(&v->shape) && shape_bytes(&v->shape) == v->extent;
}

int64_t view_byte(const struct mpiio_view *v, uint64_t at)
{
	uint64_t tile = shape_bytes(&v->shape), byte;
	int64_t sum;

	if (!tile)
		return -EINVAL;
	if (__builtin_mul_overflow(at / tile, v->extent, &byte) ||
	    __builtin_add_overflow(byte, v->disp, &byte) || byte > (uint64_t)INT64_MAX / 2)
		return -EOVERFLOW;
	if (__builtin_add_overflow((int64_t)byte,
				   shape_byte(&v->shape, v->shape.nnodes - 1, at % tile), &sum))
		return -EOVERFLOW;
	return sum;
}

/* File types are monotone, so that the answer can be searched for. */
uint64_t view_positions(const struct mpiio_view *v, uint64_t size)
{
	uint64_t low = 0, high = size + 1, mid;

	if (!shape_bytes(&v->shape))
		return 0;
	while (low < high) {
		int64_t byte;

		mid = low + (high - low) / 2;
		byte = mid > UINT64_MAX / v->etype ? -EOVERFLOW : view_byte(v, mid * v->etype);
		if (byte >= 0 && (uint64_t)byte < size)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void view_part(const struct mpiio_view *v, uint64_t at, uint64_t len, struct ddio_tree *tree,
	       struct ddio_view *out)
{
	*tree = shape_tree(&v->shape);
	*out = (struct ddio_view){
		.tree = tree,
		.offset = v->disp,
		.extent = v->extent,
		.skip = at,
		.len = len,
	};
}
