/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A distributed array in the form in which runs are computed.
 *
 * The section of the array is a monotone nest of bytes.  Each of its
 * dimensions is an *axis*: cycles of k indices for each coordinate of the
 * grid.  BLOCK is CYCLIC with one cycle, NONE is a grid of extent 1, and ALL
 * is NONE with every rank of that grid dimension a *replica* of the first.
 * Axes are merged where two are dealt out as one would be (whole rows, or
 * rows that hold whole cycles), so that most descriptions end with one or two.
 */
#ifndef DDIO_MAP_LAYOUT_H
#define DDIO_MAP_LAYOUT_H

#include "map/map.h"
#include "map/pieces/nest.h"

/**
 * struct ddio_axis - how the indices of one dimension are dealt out
 * @count: indices
 * @k: neighbouring indices of one coordinate
 * @cycle: @k times @owners
 * @owners: coordinates 0 .. @owners - 1 may own something, those beyond nothing
 * @procs: extent of the grid
 * @rank_stride: distance in rank of two neighbouring coordinates
 * @full: whole cycles in @count
 * @rem: indices beyond them
 */
struct ddio_axis {
	uint64_t count;
	uint64_t k;
	uint64_t cycle;
	uint64_t owners;
	uint64_t procs;
	uint64_t rank_stride;
	uint64_t full;
	uint64_t rem;
};

struct ddio_map_layout {
	uint32_t naxes;
	uint32_t nreplicas;
	bool empty;	     /* no byte is wanted; the rest below is not set */
	uint64_t grid;	     /* ranks beyond it have an empty share */
	struct nest nest;    /* the axes' counts and strides in the file */
	struct nest section; /* the same bytes, merged without regard to owners */
	struct ddio_axis axis[NEST_DIMS];
	struct replica {
		uint64_t procs;
		uint64_t rank_stride;
	} replica[DDIO_MAX_DIMS];
	uint64_t elem_size;
	uint32_t ndims; /* as the caller gave them, for the memory side */
	struct ddio_axis dim[DDIO_MAX_DIMS];
};

/**
 * struct axis_mark - a byte of the file as the axes see it
 * @idx: as nest_locate() makes it
 * @full, @rem: whole cycles below @idx, and indices beyond them
 */
struct axis_mark {
	uint64_t idx[NEST_DIMS];
	uint64_t full[NEST_DIMS];
	uint64_t rem[NEST_DIMS];
};

int ddio_map_layout_init(struct ddio_map_layout *layout, const struct ddio_array *array,
			 uint32_t nprocs, const char **why);

/* Returns how many of @full cycles and @rem more indices coordinate @p owns. */
static inline uint64_t axis_owned(const struct ddio_axis *axis, uint64_t p, uint64_t full,
				  uint64_t rem)
{
	uint64_t before = p * axis->k;
	uint64_t part = rem > before ? rem - before : 0;

	return full * axis->k + (part < axis->k ? part : axis->k);
}

/* Returns how many indices coordinate @p owns. */
static inline uint64_t ddio_axis_local(const struct ddio_axis *axis, uint64_t p)
{
	return p < axis->owners ? axis_owned(axis, p, axis->full, axis->rem) : 0;
}

/* Returns true if @p owns the index that lies @rem indices into a cycle. */
static inline bool axis_owns(const struct ddio_axis *axis, uint64_t p, uint64_t rem)
{
	return rem - p * axis->k < axis->k;
}

/* Finds the coordinates of @rank.  Returns false if its share is empty. */
bool layout_coords(const struct ddio_map_layout *layout, uint32_t rank, uint64_t *coord);

/* Returns true if @rank is the lowest of those that hold the same bytes. */
bool layout_delivers(const struct ddio_map_layout *layout, uint32_t rank);

/* Marks the first byte at or after @x. */
void layout_mark(const struct ddio_map_layout *layout, uint64_t x, struct axis_mark *mark);

/* Return the bytes of the share of the rank at @coord, and how many of them are below @mark. */
uint64_t layout_share(const struct ddio_map_layout *layout, const uint64_t *coord);
uint64_t layout_below(const struct ddio_map_layout *layout, const uint64_t *coord,
		      const struct axis_mark *mark);

/**
 * struct map_range - a range of the file to walk
 * @origin: where the message begins that msg_off counts from; at most @lo
 * @lo, @hi: runs of the bytes from @lo to before @hi are wanted
 * @writing: see ddio_map_runs()
 */
struct map_range {
	uint64_t origin;
	uint64_t lo;
	uint64_t hi;
	bool writing;
};

/* See ddio_map_runs() and ddio_map_runs_of(). */
int layout_runs(const struct ddio_map_layout *layout, const struct map_range *range,
		ddio_map_run_fn fn, void *arg);
int layout_runs_of(const struct ddio_map_layout *layout, uint32_t rank,
		   const struct map_range *range, ddio_map_run_fn fn, void *arg);

#endif /* DDIO_MAP_LAYOUT_H */
