// SPDX-License-Identifier: GPL-2.0-only
/*
 * The access patterns of the papers (TR94-226, Table 2): a file of 10 MB, 16
 * processes, records of 8 bytes and of 8192.  For every process the chunks
 * and strides must be those of the table.
 *
 * One entry cannot be reached: 40 rows in blocks over 16 processes.  The table says
 * 80 records, as if rows could be cut in two; it also says that the pattern is
 * the same as rb.  High Performance Fortran deals whole rows: 3 to each of 13
 * processes, 1 to the next, none to the last two.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "map/map.h"
#include "tests/unit/lib/ut.h"

#define FILE_BYTES (UINT64_C(10) << 20)
#define PROCS 16
#define NO_DIM UINT32_MAX

/* Chunks and strides in records; @stride2 is that from row to row where it differs. */
struct share_pattern {
	const char *name;
	uint32_t row;
	uint32_t col;
	uint64_t record;
	uint64_t rows;
	uint64_t cols;
	uint64_t chunk;
	uint64_t stride;
	uint64_t stride2;
	const char *same_as;
};

static const struct share_pattern patterns[] = {
	{ "ra", DDIO_ALL, NO_DIM, 8, 1310720, 0, 1310720, 0, 0, NULL },
	{ "rn", DDIO_NONE, NO_DIM, 8, 1310720, 0, 1310720, 0, 0, NULL },
	{ "rb", DDIO_BLOCK, NO_DIM, 8, 1310720, 0, 81920, 0, 0, NULL },
	{ "rc", DDIO_CYCLIC, NO_DIM, 8, 1310720, 0, 1, 16, 16, NULL },
	{ "rnn", DDIO_NONE, DDIO_NONE, 8, 1280, 1024, 1310720, 0, 0, "rn" },
	{ "rnb", DDIO_NONE, DDIO_BLOCK, 8, 1280, 1024, 64, 1024, 1024, NULL },
	{ "rnc", DDIO_NONE, DDIO_CYCLIC, 8, 1280, 1024, 1, 16, 16, "rc" },
	{ "rbn", DDIO_BLOCK, DDIO_NONE, 8, 1280, 1024, 81920, 0, 0, "rb" },
	{ "rbb", DDIO_BLOCK, DDIO_BLOCK, 8, 1280, 1024, 256, 1024, 1024, NULL },
	{ "rbc", DDIO_BLOCK, DDIO_CYCLIC, 8, 1280, 1024, 1, 4, 4, NULL },
	{ "rcn", DDIO_CYCLIC, DDIO_NONE, 8, 1280, 1024, 1024, 16384, 16384, NULL },
	{ "rcb", DDIO_CYCLIC, DDIO_BLOCK, 8, 1280, 1024, 256, 4096, 4096, NULL },
	{ "rcc", DDIO_CYCLIC, DDIO_CYCLIC, 8, 1280, 1024, 1, 4, 3 * 1024 + 4, NULL },
	{ "ra", DDIO_ALL, NO_DIM, 8192, 1280, 0, 1280, 0, 0, NULL },
	{ "rn", DDIO_NONE, NO_DIM, 8192, 1280, 0, 1280, 0, 0, NULL },
	{ "rb", DDIO_BLOCK, NO_DIM, 8192, 1280, 0, 80, 0, 0, NULL },
	{ "rc", DDIO_CYCLIC, NO_DIM, 8192, 1280, 0, 1, 16, 16, NULL },
	{ "rnn", DDIO_NONE, DDIO_NONE, 8192, 40, 32, 1280, 0, 0, "rn" },
	{ "rnb", DDIO_NONE, DDIO_BLOCK, 8192, 40, 32, 2, 32, 32, NULL },
	{ "rnc", DDIO_NONE, DDIO_CYCLIC, 8192, 40, 32, 1, 16, 16, "rc" },
	{ "rbb", DDIO_BLOCK, DDIO_BLOCK, 8192, 40, 32, 8, 32, 32, NULL },
	{ "rbc", DDIO_BLOCK, DDIO_CYCLIC, 8192, 40, 32, 1, 4, 4, NULL },
	{ "rcn", DDIO_CYCLIC, DDIO_NONE, 8192, 40, 32, 32, 512, 512, NULL },
	{ "rcb", DDIO_CYCLIC, DDIO_BLOCK, 8192, 40, 32, 8, 128, 128, NULL },
	{ "rcc", DDIO_CYCLIC, DDIO_CYCLIC, 8192, 40, 32, 1, 4, 100, NULL },
};

#define NPATTERNS (sizeof(patterns) / sizeof(patterns[0]))

static bool is_spread(uint32_t dist)
{
	return dist == DDIO_BLOCK || dist == DDIO_CYCLIC || dist == DDIO_ALL;
}

/* 16 processes along the one distributed dimension, or 4 along each of two. */
static struct ddio_map *pattern_map(const struct share_pattern *p)
{
	struct ddio_array array = { .elem_size = p->record, .ndims = p->col == NO_DIM ? 1 : 2 };
	bool both = is_spread(p->row) && p->col != NO_DIM && is_spread(p->col);
	struct ddio_map *map = NULL;

	array.dim[0].size = p->rows;
	array.dim[0].dist = p->row;
	if (is_spread(p->row))
		array.dim[0].procs = both ? 4 : PROCS;
	if (p->col != NO_DIM) {
		array.dim[1].size = p->cols;
		array.dim[1].dist = p->col;
		if (is_spread(p->col))
			array.dim[1].procs = both ? 4 : PROCS;
	}
	ddio_map_new_array(&array, PROCS, &map, NULL);
	return map;
}

/**
 * struct chunks - the chunks of one process in file order
 * @start, @end: the one at hand, to which a run that touches it is added
 */
struct chunks {
	const struct share_pattern *p;
	uint64_t start;
	uint64_t end;
	uint64_t n;
	uint64_t bytes;
	uint64_t faults;
};

static void chunk_close(struct chunks *c)
{
	if (c->end - c->start != c->p->chunk * c->p->record)
		c->faults++;
	c->n++;
}

static void chunk_add(struct chunks *c, uint64_t off, uint64_t len)
{
	uint64_t stride = (off - c->start) / c->p->record;

	c->bytes += len;
	if (c->end && off == c->end) {
		c->end += len;
		return;
	}
	if (c->end) {
		chunk_close(c);
		if (off < c->end || (stride != c->p->stride && stride != c->p->stride2))
			c->faults++;
	}
	c->start = off;
	c->end = off + len;
}

static int chunk_run(void *arg, const struct ddio_map_run *run)
{
	struct chunks *c = arg;
	uint64_t outer = run->nlevels > 1 ? run->level[0].count : 1;
	uint64_t inner = run->nlevels ? run->level[run->nlevels - 1].count : 1;
	uint64_t outer_step = outer > 1 ? run->level[0].file_stride : 0;
	uint64_t step = run->nlevels ? run->level[run->nlevels - 1].file_stride : 0;
	uint64_t i, j;

	c->faults += run->nlevels > 2;
	for (i = 0; i < outer; i++)
		for (j = 0; j < inner; j++)
			chunk_add(c, run->file_off + i * outer_step + j * step, run->len);
	return 0;
}

static void check_pattern(const struct share_pattern *p, const struct ddio_map *map)
{
	uint64_t total = 0;
	uint32_t proc;

	for (proc = 0; proc < PROCS; proc++) {
		struct chunks c = { .p = p };

		ddio_map_runs_of(map, proc, 0, FILE_BYTES, false, chunk_run, &c);
		CU_ASSERT_EQUAL(c.bytes, ddio_map_share_size(map, proc));
		total += c.bytes;
		if (!c.bytes)
			continue;
		chunk_close(&c);
		CU_ASSERT_EQUAL(c.faults, 0);
		CU_ASSERT_EQUAL(c.n, c.bytes / p->record / p->chunk);
		if (c.faults)
			printf("%s, %" PRIu64 " bytes, process %u\n", p->name, p->record, proc);
	}
	CU_ASSERT_EQUAL(total, p->row == DDIO_ALL ? PROCS * FILE_BYTES : FILE_BYTES);
}

static void test_table(void)
{
	struct ddio_map *map;
	size_t i;

	for (i = 0; i < NPATTERNS; i++) {
		map = pattern_map(&patterns[i]);
		CU_ASSERT_FATAL(map != NULL);
		check_pattern(&patterns[i], map);
		ddio_map_free(map);
	}
}

/* 40 rows of 32 records over 16 processes, in whole rows. */
static void test_uneven_rows(void)
{
	static const struct share_pattern rbn = { .name = "rbn",
						  .row = DDIO_BLOCK,
						  .col = DDIO_NONE,
						  .record = 8192,
						  .rows = 40,
						  .cols = 32 };
	struct ddio_map *map = pattern_map(&rbn);
	uint32_t proc;

	CU_ASSERT_FATAL(map != NULL);
	for (proc = 0; proc < PROCS; proc++) {
		uint64_t rows = proc < 13 ? 3 : proc == 13 ? 1 : 0;

		CU_ASSERT_EQUAL(ddio_map_share_size(map, proc), rows * 32 * 8192);
	}
	ddio_map_free(map);
}

struct runs {
	struct ddio_map_run run[64];
	size_t n;
};

static int keep_run(void *arg, const struct ddio_map_run *run)
{
	struct runs *r = arg;
	struct ddio_map_run *copy = &r->run[r->n];

	if (r->n == sizeof(r->run) / sizeof(r->run[0]))
		return -1;
	r->n++;
	memset(copy, 0, sizeof(*copy));
	copy->proc = run->proc;
	copy->nlevels = run->nlevels;
	copy->file_off = run->file_off;
	copy->share_off = run->share_off;
	copy->msg_off = run->msg_off;
	copy->len = run->len;
	memcpy(copy->level, run->level, run->nlevels * sizeof(run->level[0]));
	return 0;
}

/* Patterns that the table calls the same give the very same runs. */
static void test_same(void)
{
	struct runs *r = malloc(2 * sizeof(*r));
	struct ddio_map *map;
	size_t i, j, k;

	CU_ASSERT_FATAL(r != NULL);
	for (i = 0; i < NPATTERNS; i++) {
		if (!patterns[i].same_as)
			continue;
		for (j = 0; j < NPATTERNS; j++)
			if (!strcmp(patterns[i].same_as, patterns[j].name) &&
			    patterns[i].record == patterns[j].record)
				break;
		CU_ASSERT_FATAL(j < NPATTERNS);
		for (k = 0; k < 2; k++) {
			map = pattern_map(&patterns[k ? i : j]);
			CU_ASSERT_FATAL(map != NULL);
			r[k].n = 0;
			CU_ASSERT_EQUAL(ddio_map_runs(map, 8192 * 3 + 5, FILE_BYTES - 8192 * 2,
						      false, keep_run, &r[k]),
					0);
			ddio_map_free(map);
		}
		CU_ASSERT_EQUAL(r[0].n, r[1].n);
		CU_ASSERT(r[0].n > 0 && !memcmp(r[0].run, r[1].run, r[0].n * sizeof(r->run[0])));
	}
	free(r);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "chunks and strides of the table", test_table },
		{ "patterns that are the same", test_same },
		{ "rows that do not go round", test_uneven_rows },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "patterns", cases } };

	return ut_run("test_map_patterns", suites, 1);
}
