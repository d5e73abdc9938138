// SPDX-License-Identifier: LGPL-2.1-or-later
/* Turns the description of an array into its layout, and checks all of it. */
#include <errno.h>
#include <string.h>
#include "map/layout.h"

static int fail(const char **why, const char *text, int err)
{
	*why = text;
	return err;
}

/*
 * Fills in defaults and checks the section.  @dim->count is right even for a dimension of size
 * 0.
 */
static int dim_read(const struct ddio_dim *from, struct ddio_dim *dim, const char **why)
{
	uint64_t span;

	*dim = *from;
	if (dim->reserved)
		return fail(why, "array.dim.reserved is not 0", -EINVAL);
	if (!dim->count && !dim->start && !dim->stride)
		dim->count = dim->size;
	if (!dim->stride || dim->count < 2)
		dim->stride = 1;
	if (dim->start > dim->size)
		return fail(why, "array.dim.start is beyond size", -EINVAL);
	if (dim->count && (__builtin_mul_overflow(dim->count - 1, dim->stride, &span) ||
			   span >= dim->size - dim->start))
		return fail(why, "array.dim.count: the section ends beyond size", -EINVAL);
	if (!dim->procs)
		dim->procs = 1;
	return 0;
}

static int dim_check_dist(const struct ddio_dim *dim, const char **why)
{
	uint64_t span;

	switch (dim->dist) {
	case DDIO_NONE:
		if (dim->procs > 1)
			return fail(why, "array.dim.procs is above 1 in a NONE dimension", -EINVAL);
		break;
	case DDIO_BLOCK:
		if (dim->k && !__builtin_mul_overflow(dim->k, dim->procs, &span) &&
		    span < dim->count)
			return fail(why, "array.dim.k: BLOCK(k) times procs is below count",
				    -EINVAL);
		return 0;
	case DDIO_CYCLIC:
		return 0;
	case DDIO_ALL:
		break;
	default:
		return fail(why, "array.dim.dist is not NONE, BLOCK, CYCLIC or ALL", -EINVAL);
	}
	if (dim->k)
		return fail(why, "array.dim.k is set in a dimension that is not BLOCK or CYCLIC",
			    -EINVAL);
	return 0;
}

static void axis_init(struct ddio_axis *axis, uint64_t count, uint64_t k, uint64_t procs,
		      uint64_t rank_stride)
{
	uint64_t pieces;

	if (procs == 1 || k > count)
		k = count;
	if (!k)
		k = 1;
	pieces = count ? (count - 1) / k + 1 : 1;
	axis->count = count;
	axis->k = k;
	axis->procs = procs;
	axis->rank_stride = rank_stride;
	axis->owners = procs < pieces ? procs : pieces;
	axis->cycle = k * axis->owners;
	axis->full = count / axis->cycle;
	axis->rem = count % axis->cycle;
}

static void axis_from_dim(struct ddio_axis *axis, const struct ddio_dim *dim, uint64_t rank_stride)
{
	uint64_t k = dim->k;

	if (dim->dist == DDIO_ALL) {
		axis_init(axis, dim->count, dim->count, 1, rank_stride);
		return;
	}
	if (!k && dim->dist == DDIO_BLOCK && dim->count)
		k = (dim->count - 1) / dim->procs + 1;
	axis_init(axis, dim->count, k, dim->procs, rank_stride);
}

/* Checks every dimension and sets layout->dim, replica and grid. */
static int layout_read(struct ddio_map_layout *layout, const struct ddio_array *array,
		       struct ddio_dim *dim, const char **why)
{
	uint64_t rank_stride = 1;
	uint32_t d;
	int rc;

	layout->ndims = array->ndims;
	layout->elem_size = array->elem_size;
	for (d = array->ndims; d-- > 0;) {
		rc = dim_read(&array->dim[d], &dim[d], why);
		if (!rc)
			rc = dim_check_dist(&dim[d], why);
		if (rc)
			return rc;
		axis_from_dim(&layout->dim[d], &dim[d], rank_stride);
		if (dim[d].dist == DDIO_ALL && dim[d].procs > 1)
			layout->replica[layout->nreplicas++] =
				(struct replica){ dim[d].procs, rank_stride };
		if (__builtin_mul_overflow(rank_stride, dim[d].procs, &rank_stride) ||
		    rank_stride > UINT32_MAX)
			return fail(why, "array.dim.procs: the grid has more than 2^32 processes",
				    -EINVAL);
		if (!dim[d].count)
			layout->empty = true;
	}
	layout->grid = rank_stride;
	return 0;
}

static int layout_check_size(const struct ddio_array *array, const char **why)
{
	uint64_t bytes = array->elem_size;
	uint64_t end;
	bool over = false;
	uint32_t d;

	for (d = 0; d < array->ndims; d++) {
		if (!array->dim[d].size)
			return 0;
		over |= __builtin_mul_overflow(bytes, array->dim[d].size, &bytes);
	}
	if (over || __builtin_add_overflow(bytes, array->file_offset, &end) || end > INT64_MAX)
		return fail(why, "array: its last byte is beyond 2^63", -EOVERFLOW);
	return 0;
}

/* Makes the section a nest, bytes of an element last; layout->dim is set. */
static void layout_section(struct ddio_map_layout *layout, const struct ddio_array *array,
			   const struct ddio_dim *dim)
{
	struct nest *nest = &layout->section;
	uint64_t inner = array->elem_size;
	uint32_t d = array->ndims;

	nest->ndims = d + 1;
	nest->off = array->file_offset;
	nest->dim[d].count = array->elem_size;
	nest->dim[d].stride = 1;
	while (d-- > 0) {
		nest->dim[d].count = dim[d].count;
		nest->dim[d].stride = inner * dim[d].stride;
		nest->off += inner * dim[d].start;
		inner *= dim[d].size;
	}
}

/*
 * Returns true if @outer and @inner, which touch in the file, are dealt out as one
 * axis would be.  Whole rows stay whole if only the outer is distributed; if only
 * the inner is, the deal must begin each row with the first coordinate.
 */
static bool axis_merges(const struct ddio_axis *outer, const struct ddio_axis *inner)
{
	if (inner->procs == 1)
		return true;
	return outer->procs == 1 && inner->owners == inner->procs && !inner->rem;
}

static void axis_merge(const struct ddio_axis *outer, struct ddio_axis *inner)
{
	uint64_t count = outer->count * inner->count;

	if (inner->procs == 1)
		axis_init(inner, count, outer->k * inner->count, outer->procs, outer->rank_stride);
	else
		axis_init(inner, count, inner->k, inner->procs, inner->rank_stride);
}

static void layout_merge(struct ddio_map_layout *layout)
{
	const struct nest *from = &layout->section;
	struct ddio_axis axis[NEST_DIMS];
	uint64_t stride[NEST_DIMS];
	uint32_t cur = NEST_DIMS - 1;
	uint32_t d = layout->ndims;

	axis_init(&axis[cur], layout->elem_size, 0, 1, 1);
	stride[cur] = 1;
	while (d-- > 0) {
		const struct ddio_axis *outer = &layout->dim[d];

		if (outer->count == 1 && outer->procs == 1)
			continue;
		if (from->dim[d].stride == axis[cur].count * stride[cur] &&
		    axis_merges(outer, &axis[cur])) {
			axis_merge(outer, &axis[cur]);
			continue;
		}
		cur--;
		axis[cur] = *outer;
		stride[cur] = from->dim[d].stride;
	}
	layout->naxes = NEST_DIMS - cur;
	layout->nest.ndims = layout->naxes;
	layout->nest.off = from->off;
	for (d = 0; d < layout->naxes; d++) {
		layout->axis[d] = axis[cur + d];
		layout->nest.dim[d].count = axis[cur + d].count;
		layout->nest.dim[d].stride = stride[cur + d];
	}
}

int ddio_map_layout_init(struct ddio_map_layout *layout, const struct ddio_array *array,
			 uint32_t nprocs, const char **why)
{
	struct ddio_dim dim[DDIO_MAX_DIMS];
	int rc;

	memset(layout, 0, sizeof(*layout));
	if (!array)
		return fail(why, "array is missing", -EINVAL);
	if (array->ndims < 1 || array->ndims > DDIO_MAX_DIMS)
		return fail(why, "array.ndims is not 1 to 8", -EINVAL);
	if (!array->elem_size)
		return fail(why, "array.elem_size is 0", -EINVAL);
	if (array->reserved)
		return fail(why, "array.reserved is not 0", -EINVAL);
	rc = layout_read(layout, array, dim, why);
	if (!rc)
		rc = layout_check_size(array, why);
	if (rc)
		return rc;
	if (layout->grid > nprocs)
		return fail(why, "array.dim.procs: the grid has more processes than the group",
			    -EINVAL);
	if (layout->empty)
		return 0;
	layout_section(layout, array, dim);
	layout_merge(layout);
	nest_simplify(&layout->section);
	return 0;
}

bool layout_coords(const struct ddio_map_layout *layout, uint32_t rank, uint64_t *coord)
{
	uint32_t d;

	if (layout->empty || rank >= layout->grid)
		return false;
	for (d = 0; d < layout->naxes; d++) {
		const struct ddio_axis *axis = &layout->axis[d];

		coord[d] = axis->procs == 1 ? 0 : rank / axis->rank_stride % axis->procs;
		if (coord[d] >= axis->owners)
			return false;
	}
	return true;
}

bool layout_delivers(const struct ddio_map_layout *layout, uint32_t rank)
{
	uint32_t r;

	for (r = 0; r < layout->nreplicas; r++)
		if (rank / layout->replica[r].rank_stride % layout->replica[r].procs)
			return false;
	return true;
}

void layout_mark(const struct ddio_map_layout *layout, uint64_t x, struct axis_mark *mark)
{
	uint32_t d;

	nest_locate(&layout->nest, x, mark->idx);
	for (d = 0; d < layout->naxes; d++) {
		const struct ddio_axis *axis = &layout->axis[d];

		mark->full[d] = axis->owners == 1 ? 0 : mark->idx[d] / axis->cycle;
		mark->rem[d] = mark->idx[d] - mark->full[d] * axis->cycle;
	}
}

uint64_t layout_share(const struct ddio_map_layout *layout, const uint64_t *coord)
{
	uint64_t bytes = 1;
	uint32_t d;

	for (d = 0; d < layout->naxes; d++)
		bytes *= ddio_axis_local(&layout->axis[d], coord[d]);
	return bytes;
}

uint64_t layout_below(const struct ddio_map_layout *layout, const uint64_t *coord,
		      const struct axis_mark *mark)
{
	uint64_t weight = 1;
	uint64_t below = 0;
	uint32_t d;

	for (d = layout->naxes; d-- > 0;) {
		const struct ddio_axis *axis = &layout->axis[d];

		if (!axis_owns(axis, coord[d], mark->rem[d]))
			below = 0;
		below += axis_owned(axis, coord[d], mark->full[d], mark->rem[d]) * weight;
		weight *= ddio_axis_local(axis, coord[d]);
	}
	return below;
}
