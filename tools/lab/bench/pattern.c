// SPDX-License-Identifier: GPL-2.0-only
/* The papers' access patterns (TR94-226, Table 2; TOCS 1997, Table II). */
#include <errno.h>
#include <string.h>
#include "bench.h"

const struct bench_pattern bench_patterns[] = {
	{ "a", 1, { DDIO_ALL } },
	{ "n", 1, { DDIO_NONE } },
	{ "b", 1, { DDIO_BLOCK } },
	{ "c", 1, { DDIO_CYCLIC } },
	{ "nn", 2, { DDIO_NONE, DDIO_NONE } },
	{ "nb", 2, { DDIO_NONE, DDIO_BLOCK } },
	{ "nc", 2, { DDIO_NONE, DDIO_CYCLIC } },
	{ "bn", 2, { DDIO_BLOCK, DDIO_NONE } },
	{ "bb", 2, { DDIO_BLOCK, DDIO_BLOCK } },
	{ "bc", 2, { DDIO_BLOCK, DDIO_CYCLIC } },
	{ "cn", 2, { DDIO_CYCLIC, DDIO_NONE } },
	{ "cb", 2, { DDIO_CYCLIC, DDIO_BLOCK } },
	{ "cc", 2, { DDIO_CYCLIC, DDIO_CYCLIC } },
};

const uint32_t bench_npatterns = sizeof(bench_patterns) / sizeof(bench_patterns[0]);

int bench_pattern_find(const char *name, size_t len, bool *write)
{
	uint32_t i;

	if (len < 2 || (*name != 'r' && *name != 'w'))
		return -ENOENT;
	*write = *name == 'w';
	for (i = 0; i < bench_npatterns; i++)
		if (strlen(bench_patterns[i].name) == len - 1 &&
		    !memcmp(bench_patterns[i].name, name + 1, len - 1))
			return (int)i;
	return -ENOENT;
}

void bench_pattern_name(uint32_t pattern, char name[8])
{
	name[0] = pattern & 1 ? 'w' : 'r';
	strcpy(name + 1, bench_patterns[pattern / 2].name);
}

/* Columns of the papers' matrices; for other record sizes a square, roughly. */
static uint64_t bench_columns(uint32_t record, uint64_t records)
{
	uint64_t cols = 1;

	if (record == 8)
		return 1024;
	if (record == 8192)
		return 32;
	while (4 * cols * cols <= records)
		cols *= 2;
	return cols;
}

static uint64_t bench_gcd(uint64_t a, uint64_t b)
{
	return b ? bench_gcd(b, a % b) : a;
}

uint64_t bench_cover(const uint32_t *records, uint32_t n, uint64_t bytes)
{
	uint64_t lcm = 1, cols, row;
	uint32_t i;

	for (i = 0; i < n; i++) {
		cols = bench_columns(records[i], bytes / records[i]);
		if (cols > bytes / records[i])
			cols = bytes / records[i];
		row = cols * records[i];
		if (!row)
			return 0;
		lcm = lcm / bench_gcd(lcm, row) * row;
		if (lcm > bytes)
			return 0;
	}
	return bytes / lcm * lcm;
}

/* The larger factor goes to the columns: 16 processes are 4 x 4, 8 are 2 x 4. */
static void bench_grid(const struct bench_pattern *p, uint32_t cps, uint64_t grid[2])
{
	uint64_t rows = 1, r;
	bool row = p->dist[0] == DDIO_BLOCK || p->dist[0] == DDIO_CYCLIC;
	bool col = p->dist[1] == DDIO_BLOCK || p->dist[1] == DDIO_CYCLIC;

	for (r = 1; r * r <= cps; r++)
		if (cps % r == 0)
			rows = r;
	if (row && !col)
		rows = cps;
	if (!row)
		rows = 1;
	grid[0] = rows;
	grid[1] = col ? cps / rows : 1;
}

uint64_t bench_array(const struct bench_pattern *p, uint32_t record, uint64_t offset,
		     uint64_t bytes, uint32_t cps, struct ddio_array *a)
{
	uint64_t records = bytes / record, cols, grid[2], size[2];
	uint32_t d;

	memset(a, 0, sizeof(*a));
	a->file_offset = offset;
	a->elem_size = record;
	a->ndims = p->dims;
	if (p->dims == 1) {
		size[0] = records;
		grid[0] = p->dist[0] == DDIO_NONE ? 1 : cps;
	} else {
		cols = bench_columns(record, records);
		if (cols > records)
			cols = records;
		size[0] = cols ? records / cols : 0;
		size[1] = cols;
		bench_grid(p, cps, grid);
	}
	for (d = 0; d < p->dims; d++) {
		a->dim[d].size = size[d];
		a->dim[d].procs = grid[d];
		a->dim[d].dist = p->dist[d];
	}
	return p->dims == 1 ? records * record : size[0] * size[1] * record;
}

/* Elements of one dimension: index of the i-th that coordinate @c holds, and how many. */
static uint64_t bench_count(const struct ddio_dim *d, uint64_t c)
{
	uint64_t b = (d->size + d->procs - 1) / d->procs;

	switch (d->dist) {
	case DDIO_BLOCK:
		if (c * b >= d->size)
			return 0;
		return d->size - c * b < b ? d->size - c * b : b;
	case DDIO_CYCLIC:
		return c >= d->size ? 0 : (d->size - c + d->procs - 1) / d->procs;
	default:
		return d->size;
	}
}

static uint64_t bench_index(const struct ddio_dim *d, uint64_t c, uint64_t i)
{
	switch (d->dist) {
	case DDIO_BLOCK:
		return c * ((d->size + d->procs - 1) / d->procs) + i;
	case DDIO_CYCLIC:
		return c + i * d->procs;
	default:
		return i;
	}
}

/* One row's elements: contiguous ones as one run. */
static uint64_t bench_row(const struct ddio_array *a, const struct ddio_dim *d, uint64_t c,
			  uint64_t base, uint64_t share, bench_share_fn fn, void *arg)
{
	uint64_t i, n = bench_count(d, c), es = a->elem_size;

	if (d->dist != DDIO_CYCLIC || d->procs == 1) {
		if (n)
			fn(arg, a->file_offset + (base + bench_index(d, c, 0)) * es, share, n * es);
		return n * es;
	}
	for (i = 0; i < n; i++)
		fn(arg, a->file_offset + (base + bench_index(d, c, i)) * es, share + i * es, es);
	return n * es;
}

void bench_share(const struct ddio_array *a, uint32_t rank, bench_share_fn fn, void *arg)
{
	uint64_t grid = a->dim[0].procs * (a->ndims == 2 ? a->dim[1].procs : 1);
	uint64_t i, n, c0, share = 0;

	if (rank >= grid)
		return;
	if (a->ndims == 1) {
		bench_row(a, &a->dim[0], rank, 0, 0, fn, arg);
		return;
	}
	c0 = rank / a->dim[1].procs;
	n = bench_count(&a->dim[0], c0);
	for (i = 0; i < n; i++)
		share += bench_row(a, &a->dim[1], rank % a->dim[1].procs,
				   bench_index(&a->dim[0], c0, i) * a->dim[1].size, share, fn, arg);
}

/* Adds a level around what is described already. */
static void level_add(struct ddio_strided *s, uint64_t n, uint64_t stride)
{
	if (n == 1)
		return;
	if (!s->nlevels && stride == s->len) {
		s->len *= n;
		return;
	}
	memmove(s->level + 1, s->level, s->nlevels * sizeof(s->level[0]));
	s->level[0] = (struct ddio_level){ .count = n, .stride = (int64_t)stride };
	s->nlevels++;
}

uint64_t bench_strided(const struct ddio_array *a, uint32_t rank, struct ddio_strided *s)
{
	uint64_t at = 0, bytes = a->elem_size, row, n, c;
	uint32_t d;

	*s = (struct ddio_strided){ .len = a->elem_size };
	for (d = a->ndims, row = bytes; d--; row *= a->dim[d].size) {
		const struct ddio_dim *dim = &a->dim[d];
		bool cyclic = dim->dist == DDIO_CYCLIC;

		/* All of a dimension that nobody shares belongs to every one of the others' coordinates. */
		c = dim->dist == DDIO_ALL ? 0 : rank % dim->procs;
		if (dim->dist != DDIO_ALL)
			rank /= dim->procs;
		n = bench_count(dim, c);
		bytes *= n;
		if (!n)
			break;
		at += bench_index(dim, c, 0) * row;
		level_add(s, n, row * (cyclic ? dim->procs : 1));
	}
	/* A rank beyond the grid has nothing. */
	if (a->dim[0].dist != DDIO_ALL && rank)
		bytes = 0;
	s->offset = a->file_offset + at;
	return bytes;
}
