// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts: which cells of a file each process has.  The cells are found element by element,
 * independently of what the library does.
 */
#include <string.h>
#include "run.h"

static void part_strided(struct faults *f, struct faults_part *part, uint32_t first, uint32_t cells)
{
	uint32_t cps = f->conf.cps, len = faults_scale(&f->rng, 1, 1 + cells / cps / 2), r;
	uint32_t count = cells / (len * cps);

	part->kind = DDIO_PART_STRIDED;
	for (r = 0; r < cps; r++)
		part->strided[r] = (struct ddio_strided){
			.offset = (first + r * len) * FAULTS_CELL,
			.len = len * FAULTS_CELL,
			.nlevels = count > 1,
			.level = { { count, (int64_t)len * cps * FAULTS_CELL } },
		};
	if (!count)
		memset(part->strided, 0, sizeof(part->strided));
}

/* Deals pieces out at random. */
void faults_part_lists(struct faults *f, struct faults_part *part, uint32_t first, uint32_t cells)
{
	uint32_t end = first + cells, len, r;

	part->kind = DDIO_PART_LIST;
	memset(part->nlist, 0, sizeof(part->nlist));
	while (first < end) {
		len = faults_scale(&f->rng, 1, cells / 4 + 1);
		if (len > end - first)
			len = end - first;
		r = faults_pick(&f->rng, 0, f->conf.cps);
		if (r < f->conf.cps && part->nlist[r] < 16)
			part->list[r][part->nlist[r]++] =
				(struct ddio_extent){ (uint64_t)first * FAULTS_CELL,
						      (uint64_t)len * FAULTS_CELL };
		first += len;
	}
}

void faults_part_overlap(struct faults *f, struct faults_part *part, uint32_t first, uint32_t cells)
{
	uint32_t len, r, i;

	part->kind = DDIO_PART_LIST;
	for (r = 0; r < f->conf.cps; r++) {
		part->nlist[r] = faults_pick(&f->rng, 0, 8);
		for (i = 0; i < part->nlist[r]; i++) {
			len = faults_scale(&f->rng, 1, cells / 4 + 1);
			part->list[r][i] = (struct ddio_extent){
				(first + faults_pick(&f->rng, 0, cells - len)) *
					(uint64_t)FAULTS_CELL,
				(uint64_t)len * FAULTS_CELL
			};
		}
	}
}

static void dim_make(struct faults *f, struct ddio_dim *d, uint64_t size, uint32_t procs, bool all)
{
	*d = (struct ddio_dim){ .size = size, .procs = procs };
	switch (faults_pick(&f->rng, 0, all ? 3 : 2)) {
	case 0:
		d->dist = DDIO_BLOCK;
		if (faults_chance(&f->rng, 30))
			d->k = (size + procs - 1) / procs + faults_pick(&f->rng, 0, 3);
		break;
	case 3:
		d->dist = DDIO_ALL;
		break;
	default:
		d->dist = DDIO_CYCLIC;
		d->k = faults_scale(&f->rng, 1, size / procs + 1);
	}
	if (procs == 1 && faults_chance(&f->rng, 50)) {
		d->dist = DDIO_NONE;
		d->k = 0;
	}
	if (size < 4 || faults_chance(&f->rng, 70))
		return;
	d->stride = faults_pick(&f->rng, 1, 3);
	d->start = faults_pick(&f->rng, 0, size / 2);
	d->count = faults_pick(&f->rng, 1, (size - d->start - 1) / d->stride + 1);
	if (d->dist == DDIO_BLOCK)
		d->k = 0;
}

static void part_array(struct faults *f, struct faults_part *part, uint32_t first, uint32_t cells,
		       bool write)
{
	static const uint32_t elems[] = { 1, 1, 1, 2, 8, 64 };
	struct ddio_array *a = &part->array;
	uint32_t cps = f->conf.cps, elem = elems[faults_pick(&f->rng, 0, 5)], n, rows, p;

	part->kind = DDIO_PART_ARRAY;
	*a = (struct ddio_array){ .ndims = 1 };
	if (elem > cells)
		elem = 1;
	n = cells / elem;
	a->file_offset = (uint64_t)first * FAULTS_CELL;
	a->elem_size = elem * FAULTS_CELL;
	rows = faults_scale(&f->rng, 1, n);
	p = faults_pick(&f->rng, 1, cps);
	if (faults_chance(&f->rng, 50)) {
		dim_make(f, &a->dim[0], n, cps, !write);
		return;
	}
	a->ndims = 2;
	dim_make(f, &a->dim[0], rows, p, !write);
	dim_make(f, &a->dim[1], n / rows, cps / p, !write);
}

void faults_part_make(struct faults *f, struct faults_part *part, uint32_t first, uint32_t cells,
		      bool write)
{
	uint32_t what = faults_pick(&f->rng, 0, 9);

	if (what < 7)
		part_array(f, part, first, cells, write);
	else if (what < 8)
		faults_part_lists(f, part, first, cells);
	else
		part_strided(f, part, first, cells);
}

/* Returns whether the process at @at of this dimension's grid has element @i of the section. */
static bool dim_owns(const struct ddio_dim *d, uint64_t count, uint64_t at, uint64_t i)
{
	uint64_t k = d->k;

	switch (d->dist) {
	case DDIO_BLOCK:
		if (!k)
			k = (count + d->procs - 1) / d->procs;
		return i / k == at;
	case DDIO_CYCLIC:
		return i / (k ? k : 1) % d->procs == at;
	default:
		return true;
	}
}

static uint64_t dim_count(const struct ddio_dim *d)
{
	return d->stride ? d->count : d->size;
}

static uint64_t dim_index(const struct ddio_dim *d, uint64_t i)
{
	return d->stride ? d->start + i * d->stride : i;
}

static uint32_t array_cells(const struct ddio_array *a, uint32_t rank, uint32_t *cells)
{
	static const struct ddio_dim one = { .size = 1, .procs = 1, .dist = DDIO_NONE };
	const struct ddio_dim *rows = a->ndims == 2 ? &a->dim[0] : &one;
	const struct ddio_dim *cols = a->ndims == 2 ? &a->dim[1] : &a->dim[0];
	uint32_t elem = a->elem_size / FAULTS_CELL, n = 0, c;
	uint64_t i, j, at;

	if (rank >= rows->procs * cols->procs)
		return 0;
	for (i = 0; i < dim_count(rows); i++) {
		if (!dim_owns(rows, dim_count(rows), rank / cols->procs, i))
			continue;
		for (j = 0; j < dim_count(cols); j++) {
			if (!dim_owns(cols, dim_count(cols), rank % cols->procs, j))
				continue;
			at = dim_index(rows, i) * cols->size + dim_index(cols, j);
			for (c = 0; c < elem; c++)
				cells[n++] = a->file_offset / FAULTS_CELL + at * elem + c;
		}
	}
	return n;
}

uint32_t faults_part_cells(const struct faults_part *part, uint32_t rank, uint32_t *cells)
{
	const struct ddio_strided *s = &part->strided[rank];
	uint32_t n = 0, i, c;

	if (part->kind == DDIO_PART_ARRAY)
		return array_cells(&part->array, rank, cells);
	if (part->kind == DDIO_PART_LIST) {
		for (i = 0; i < part->nlist[rank]; i++)
			for (c = 0; c < part->list[rank][i].len / FAULTS_CELL; c++)
				cells[n++] = part->list[rank][i].offset / FAULTS_CELL + c;
		return n;
	}
	for (i = 0; i < (s->nlevels ? s->level[0].count : 1); i++)
		for (c = 0; c < s->len / FAULTS_CELL; c++)
			cells[n++] =
				(s->offset + i * (uint64_t)s->level[0].stride) / FAULTS_CELL + c;
	return n;
}
