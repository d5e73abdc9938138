/* SPDX-License-Identifier: GPL-2.0-only */
/* Random descriptions, each with its twin made element by element. */
#ifndef DDIO_MAP_GEN_H
#define DDIO_MAP_GEN_H

#include "map_twin.h"

#define GEN_MAX_PROCS 24
#define GEN_MAX_ENTRIES 64

/* One dimension with its defaults spelled out. */
struct gen_dim {
	uint64_t size, start, count, stride, procs, k;
	uint32_t dist;
};

/* Returns true if coordinate @p of the grid holds element @i of the section. */
static inline bool gen_owns(const struct gen_dim *dim, uint64_t p, uint64_t i)
{
	switch (dim->dist) {
	case DDIO_BLOCK:
		return i / dim->k == p;
	case DDIO_CYCLIC:
		return i / dim->k % dim->procs == p;
	default:
		return true;
	}
}

static inline void gen_dim(struct twin_rng *rng, struct gen_dim *dim, uint64_t max, uint64_t room)
{
	memset(dim, 0, sizeof(*dim));
	dim->size = twin_chance(rng, 10) ? 1 : twin_pick(rng, 1, max);
	dim->count = dim->size;
	dim->stride = 1;
	if (twin_chance(rng, 30)) {
		dim->start = twin_pick(rng, 0, dim->size - 1);
		dim->stride = twin_pick(rng, 1, 4);
		dim->count = twin_pick(rng, 0, (dim->size - 1 - dim->start) / dim->stride + 1);
		if (!dim->count && twin_chance(rng, 80))
			dim->count = 1;
	}
	dim->dist = twin_pick(rng, DDIO_NONE, DDIO_ALL);
	dim->procs = dim->dist == DDIO_NONE ? 1 : twin_pick(rng, 1, room);
	if (dim->dist == DDIO_BLOCK)
		dim->k = (dim->count + dim->procs - 1) / dim->procs + twin_pick(rng, 0, 2);
	if (dim->dist == DDIO_CYCLIC)
		dim->k = twin_pick(rng, 1, twin_chance(rng, 70) ? 3 : dim->size + 2);
}

/* As a user would write it: what is the default may be left out. */
static inline void gen_describe(struct twin_rng *rng, const struct gen_dim *dim,
				struct ddio_dim *out)
{
	bool whole = !dim->start && dim->count == dim->size && dim->stride == 1;

	memset(out, 0, sizeof(*out));
	out->size = dim->size;
	out->dist = dim->dist;
	out->procs = dim->procs == 1 && twin_chance(rng, 50) ? 0 : dim->procs;
	if (!whole || twin_chance(rng, 50)) {
		out->start = dim->start;
		out->count = dim->count;
		out->stride = dim->stride == 1 && dim->count && twin_chance(rng, 50) ? 0
										     : dim->stride;
	}
	out->k = dim->k;
	if (dim->dist == DDIO_BLOCK && dim->count &&
	    dim->k == (dim->count + dim->procs - 1) / dim->procs && twin_chance(rng, 50))
		out->k = 0;
	if (dim->dist == DDIO_CYCLIC && dim->k == 1 && twin_chance(rng, 50))
		out->k = 0;
}

static inline void gen_coords(const struct gen_dim *dim, uint32_t ndims, uint64_t rank,
			      uint64_t *coord)
{
	uint32_t d;

	for (d = ndims; d-- > 0;) {
		coord[d] = rank % dim[d].procs;
		rank /= dim[d].procs;
	}
}

/* Walks the section in row-major order and gives each element to whom it belongs. */
static inline void gen_share(struct map_twin *t, const struct ddio_array *array,
			     const struct gen_dim *dim, uint32_t rank)
{
	uint64_t coord[DDIO_MAX_DIMS], idx[DDIO_MAX_DIMS] = { 0 };
	uint64_t at, b;
	uint32_t d;
	bool own;

	gen_coords(dim, array->ndims, rank, coord);
	for (d = 0; d < array->ndims; d++) {
		if (!dim[d].count)
			return;
		if (dim[d].dist == DDIO_ALL && coord[d])
			t->delivers[rank] = false;
	}
	do {
		own = true;
		at = 0;
		for (d = 0; d < array->ndims; d++) {
			own &= gen_owns(&dim[d], coord[d], idx[d]);
			at = at * dim[d].size + dim[d].start + idx[d] * dim[d].stride;
		}
		for (b = 0; own && b < array->elem_size; b++)
			twin_append(t, rank, array->file_offset + at * array->elem_size + b);
		for (d = array->ndims; d-- > 0;) {
			if (++idx[d] < dim[d].count)
				break;
			idx[d] = 0;
		}
	} while (d != UINT32_MAX);
}

/* An array of up to about @elems elements; the caller destroys the twin. */
static inline void gen_array(struct twin_rng *rng, struct ddio_array *array, struct gen_dim *dim,
			     struct map_twin *t, uint64_t elems)
{
	uint64_t grid = 1, total = 1;
	uint32_t d;

	memset(array, 0, sizeof(*array));
	array->ndims = twin_pick(rng, 1, DDIO_MAX_DIMS);
	array->elem_size = twin_chance(rng, 50) ? UINT64_C(1) << twin_pick(rng, 0, 5)
						: twin_pick(rng, 1, 40);
	array->file_offset = twin_chance(rng, 50) ? 0 : twin_pick(rng, 1, 100);
	for (d = 0; d < array->ndims; d++) {
		uint64_t left = elems / total;
		uint64_t max = d + 1 == array->ndims || left < 9 ? left : twin_pick(rng, 1, 9);
		uint64_t room = GEN_MAX_PROCS / grid;

		gen_dim(rng, &dim[d], max ? max : 1, room < 6 ? room : 6);
		gen_describe(rng, &dim[d], &array->dim[d]);
		total *= dim[d].size;
		grid *= dim[d].procs;
	}
	twin_init(t, grid + twin_pick(rng, 0, 2),
		  array->file_offset + total * array->elem_size + twin_pick(rng, 0, 9));
	for (d = 0; d < grid; d++)
		gen_share(t, array, dim, d);
}

/* Irregular parts of all processes and their memory. */
struct gen_parts {
	uint32_t nprocs;
	struct ddio_part part[GEN_MAX_PROCS];
	struct ddio_strided strided[GEN_MAX_PROCS][GEN_MAX_ENTRIES];
	struct ddio_extent list[GEN_MAX_PROCS][GEN_MAX_ENTRIES];
};

/* Appends the bytes of one description in its order; false if one comes twice or is too far. */
static inline bool gen_expand(struct map_twin *t, uint32_t proc, const struct ddio_strided *s)
{
	uint64_t idx[DDIO_MAX_DIMS] = { 0 };
	uint64_t at, b;
	uint32_t d;

	do {
		at = s->offset;
		for (d = 0; d < s->nlevels; d++)
			at += idx[d] * (uint64_t)s->level[d].stride;
		for (b = 0; b < s->len; b++)
			if (at + b >= t->bytes || !twin_append(t, proc, at + b))
				return false;
		for (d = s->nlevels; d-- > 0;) {
			if (++idx[d] < s->level[d].count)
				break;
			idx[d] = 0;
		}
	} while (d != UINT32_MAX);
	return true;
}

static inline void gen_list_add(struct gen_parts *g, uint32_t proc, uint64_t off, uint64_t len)
{
	struct ddio_part *part = &g->part[proc];

	if (part->n < GEN_MAX_ENTRIES)
		g->list[proc][part->n++] = (struct ddio_extent){ off, len };
}

static inline void gen_list_shuffle(struct twin_rng *rng, struct gen_parts *g, uint32_t proc)
{
	struct ddio_part *part = &g->part[proc];
	uint64_t i;

	for (i = part->n; i > 1; i--) {
		uint64_t j = twin_pick(rng, 0, i - 1);
		struct ddio_extent swap = g->list[proc][j];

		g->list[proc][j] = g->list[proc][i - 1];
		g->list[proc][i - 1] = swap;
	}
}

/* The file is cut into pieces; each goes to one process, or, if @overlap, to several. */
static inline void gen_lists(struct twin_rng *rng, struct gen_parts *g, uint64_t bytes,
			     bool overlap)
{
	bool even = twin_chance(rng, 40); /* pieces at one distance, dealt round-robin */
	uint64_t piece = twin_pick(rng, 1, 12);
	uint32_t turn = 0, p;
	uint64_t off, len;

	for (off = twin_pick(rng, 0, 20); off < bytes; off += len) {
		len = even ? piece : twin_pick(rng, 0, 25);
		if (len > bytes - off)
			len = bytes - off;
		p = even ? turn++ % g->nprocs : twin_pick(rng, 0, g->nprocs - 1);
		if (even || twin_chance(rng, 70))
			gen_list_add(g, p, off, len);
		if (overlap && twin_chance(rng, 10))
			gen_list_add(g, (p + 1) % g->nprocs, off + len / 3, len - len / 3);
		if (!len)
			off++;
	}
	for (p = 0; p < g->nprocs; p++)
		if (twin_chance(rng, 50))
			gen_list_shuffle(rng, g, p);
}

/* A nest of random levels, most of them in file order; it may name a byte twice. */
static inline void gen_nest(struct twin_rng *rng, struct ddio_strided *s, uint64_t from)
{
	uint64_t extent = s->len = twin_pick(rng, 1, 9);
	uint32_t d, a, b;

	s->offset = from + twin_pick(rng, 0, 15);
	s->nlevels = twin_pick(rng, 0, 3);
	for (d = s->nlevels; d-- > 0;) {
		s->level[d].count = twin_pick(rng, 1, 4);
		s->level[d].stride = extent + (twin_chance(rng, 30) ? 0 : twin_pick(rng, 0, 12));
		if (twin_chance(rng, 5))
			s->level[d].stride = twin_pick(rng, 1, extent);
		extent += (s->level[d].count - 1) * s->level[d].stride;
	}
	if (s->nlevels > 1 && twin_chance(rng, 25)) {
		struct ddio_level swap;

		a = twin_pick(rng, 0, s->nlevels - 1);
		b = twin_pick(rng, 0, s->nlevels - 1);
		swap = s->level[a];
		s->level[a] = s->level[b];
		s->level[b] = swap;
	}
	if (twin_chance(rng, 3))
		s->len = 0;
}

static inline uint64_t gen_nest_end(const struct ddio_strided *s)
{
	uint64_t end = s->offset + s->len;
	uint32_t d;

	for (d = 0; d < s->nlevels; d++)
		end += (s->level[d].count - 1) * (uint64_t)s->level[d].stride;
	return end;
}

/* Each process names what it likes. */
static inline void gen_free_nests(struct twin_rng *rng, struct gen_parts *g, uint64_t bytes)
{
	uint32_t p;

	for (p = 0; p < g->nprocs; p++) {
		uint64_t n = twin_pick(rng, 0, 4);
		uint64_t from = twin_pick(rng, 0, bytes / 2);

		while (n--) {
			struct ddio_strided *s = &g->strided[p][g->part[p].n];

			memset(s, 0, sizeof(*s));
			gen_nest(rng, s, from);
			if (gen_nest_end(s) > bytes)
				continue;
			g->part[p].n++;
			if (!twin_chance(rng, 10))
				from = gen_nest_end(s);
		}
	}
}

/* Tiles of a matrix dealt to a grid, as nests: they interleave but do not overlap. */
static inline void gen_tiles(struct twin_rng *rng, struct gen_parts *g, uint64_t bytes)
{
	uint64_t rows = twin_pick(rng, 1, 3), cols = twin_pick(rng, 1, 4);
	uint64_t len = twin_pick(rng, 1, 4), across = twin_pick(rng, 1, 4);
	uint64_t row = cols * len * across + twin_pick(rng, 0, 5);
	uint64_t down = bytes / row / rows;
	uint64_t jitter = twin_chance(rng, 50);
	uint32_t p;

	for (p = 0; p < g->nprocs && p < rows * cols && down; p++) {
		struct ddio_strided *s = &g->strided[p][0];

		memset(s, 0, sizeof(*s));
		s->offset = p / cols * row + p % cols * len;
		s->len = len;
		s->nlevels = 2;
		s->level[0].count = down - (jitter && down > 1 && twin_chance(rng, 50));
		s->level[0].stride = rows * row;
		s->level[1].count = across;
		s->level[1].stride = cols * len;
		g->part[p].n = 1;
	}
}

/* Irregular parts, in which a process may name a byte twice.  Returns the bytes of the file. */
static inline uint64_t gen_parts_draw(struct twin_rng *rng, struct gen_parts *g)
{
	uint64_t bytes = twin_pick(rng, 50, 900);
	uint64_t kind = twin_pick(rng, 0, 4);
	uint32_t p;

	g->nprocs = twin_pick(rng, 1, 9);
	for (p = 0; p < g->nprocs; p++)
		g->part[p] = (struct ddio_part){
			.kind = kind < 2 ? DDIO_PART_LIST : DDIO_PART_STRIDED,
			.strided = g->strided[p],
			.list = g->list[p],
		};
	if (kind < 2)
		gen_lists(rng, g, bytes, kind);
	else if (kind == 2)
		gen_tiles(rng, g, bytes);
	else
		gen_free_nests(rng, g, bytes);
	if (kind != 2 && g->nprocs > 1 && twin_chance(rng, 10)) { /* two want the very same */
		memcpy(g->strided[1], g->strided[0], sizeof(g->strided[0]));
		memcpy(g->list[1], g->list[0], sizeof(g->list[0]));
		g->part[1].n = g->part[0].n;
	}
	return bytes;
}

/* Returns entry @i of a part of either kind. */
static inline struct ddio_strided gen_entry(const struct gen_parts *g, uint32_t proc, uint64_t i)
{
	if (g->part[proc].kind == DDIO_PART_STRIDED)
		return g->strided[proc][i];
	return (struct ddio_strided){ .offset = g->list[proc][i].offset,
				      .len = g->list[proc][i].len };
}

/**
 * gen_parts - irregular parts and their twin, which the caller destroys
 *
 * Return: false if some process names a byte twice: then it is no map.
 */
static inline bool gen_parts(struct twin_rng *rng, struct gen_parts *g, struct map_twin *t)
{
	uint64_t bytes = gen_parts_draw(rng, g);
	bool good = true;
	uint64_t i;
	uint32_t p;

	twin_init(t, g->nprocs, bytes);
	for (p = 0; p < g->nprocs; p++)
		for (i = 0; i < g->part[p].n && good; i++) {
			struct ddio_strided s = gen_entry(g, p, i);

			good = gen_expand(t, p, &s);
		}
	return good;
}

#endif /* DDIO_MAP_GEN_H */
