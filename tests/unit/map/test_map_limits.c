// SPDX-License-Identifier: GPL-2.0-only
/* Sizes beyond 32 bits, the cost of a walk, and every description that is refused. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "map/map.h"
#include "tests/unit/lib/ut.h"

#define TWO(n) (UINT64_C(1) << (n))

static struct ddio_map *map_of(const struct ddio_array *array, uint32_t nprocs)
{
	struct ddio_map *map = NULL;
	const char *why = "";

	if (ddio_map_new_array(array, nprocs, &map, &why))
		printf("%s\n", why);
	return map;
}

struct count {
	uint64_t runs;
	uint64_t bytes;
	struct ddio_map_run last;
};

static int count_run(void *arg, const struct ddio_map_run *run)
{
	struct count *c = arg;
	uint64_t bytes = run->len;
	uint32_t i;

	for (i = 0; i < run->nlevels; i++)
		bytes *= run->level[i].count;
	c->runs++;
	c->bytes += bytes;
	c->last = *run;
	return 0;
}

/* 2^40 elements of 8 bytes, dealt one by one to 1000 processes. */
static void test_cyclic_runs(void)
{
	struct ddio_array array = {
		.elem_size = 8,
		.ndims = 1,
		.dim = { { .size = TWO(40), .dist = DDIO_CYCLIC, .procs = 1000 } },
	};
	struct ddio_map *map = map_of(&array, 1000);
	struct count c = { 0 };

	CU_ASSERT_FATAL(map != NULL);
	CU_ASSERT_EQUAL(ddio_map_runs(map, 0, UINT64_MAX, false, count_run, &c), 0);
	CU_ASSERT_EQUAL(c.runs, 1000);
	CU_ASSERT_EQUAL(c.bytes, TWO(43));
	memset(&c, 0, sizeof(c));
	CU_ASSERT_EQUAL(ddio_map_runs(map, TWO(42) + 3, TWO(43) - 5, false, count_run, &c), 0);
	CU_ASSERT(c.runs >= 1000 && c.runs <= 1002);
	CU_ASSERT_EQUAL(c.bytes, TWO(42) - 8);
	/* A block of 8 elements concerns 8 processes, or 9 when it begins inside one. */
	memset(&c, 0, sizeof(c));
	CU_ASSERT_EQUAL(ddio_map_runs(map, TWO(42), TWO(42) + 64, false, count_run, &c), 0);
	CU_ASSERT_EQUAL(c.runs, 8);
	memset(&c, 0, sizeof(c));
	CU_ASSERT_EQUAL(ddio_map_runs(map, TWO(42) + 1, TWO(42) + 65, false, count_run, &c), 0);
	CU_ASSERT_EQUAL(c.runs, 9);
	ddio_map_free(map);
}

/* The same elements in 8 dimensions, each dealt its own way. */
static void test_deep_runs(void)
{
	static const uint64_t procs[8] = { 2, 3, 1, 2, 3, 2, 1, 2 };
	struct ddio_array array = { .elem_size = 8, .ndims = 8 };
	struct ddio_map *map;
	struct count c = { 0 };
	uint64_t bytes = 0;
	uint32_t d, p;

	for (d = 0; d < 8; d++) {
		array.dim[d].size = 32;
		array.dim[d].procs = procs[d];
		array.dim[d].dist = procs[d] == 1 ? DDIO_NONE : DDIO_CYCLIC;
		array.dim[d].k = procs[d] == 1 ? 0 : 2;
	}
	map = map_of(&array, 144);
	CU_ASSERT_FATAL(map != NULL);
	CU_ASSERT_EQUAL(ddio_map_runs(map, 1, TWO(43) - 1, false, count_run, &c), 0);
	CU_ASSERT_EQUAL(c.bytes, TWO(43) - 2);
	/* At most 17 boxes, three pieces in each dimension, for each process. */
	CU_ASSERT(c.runs < 144 * 17 * 27);
	for (p = 0; p < 144; p++)
		bytes += ddio_map_share_size(map, p);
	CU_ASSERT_EQUAL(bytes, TWO(43));
	ddio_map_free(map);
}

/* Offsets near 2^45: a run is where arithmetic by hand says. */
static void test_far_offsets(void)
{
	struct ddio_array array = {
		.file_offset = TWO(45),
		.elem_size = 3,
		.ndims = 2,
		.dim = { { .size = TWO(20), .dist = DDIO_BLOCK, .procs = 4 },
			 { .size = TWO(20), .dist = DDIO_CYCLIC, .procs = 2, .k = 5 } },
	};
	struct ddio_map *map = map_of(&array, 8);
	uint64_t row = 3 * TWO(20);
	uint64_t at = TWO(45) + (3 * TWO(18) + 7) * row + 3 * 12;
	struct count c = { 0 };
	uint64_t lo, hi;

	CU_ASSERT_FATAL(map != NULL);
	ddio_map_bounds(map, &lo, &hi);
	CU_ASSERT(lo == TWO(45) && hi == TWO(45) + 3 * TWO(40));
	/* Row 3 * 2^18 + 7 is the 8th of grid row 3; column 12 is the 8th of grid column 0. */
	CU_ASSERT_EQUAL(ddio_map_runs(map, at, at + 6, false, count_run, &c), 0);
	CU_ASSERT(c.runs == 1 && c.last.proc == 6 && c.last.len == 6 && !c.last.nlevels);
	CU_ASSERT_EQUAL(c.last.file_off, at);
	CU_ASSERT_EQUAL(c.last.msg_off, 0);
	/* 2^20 columns are whole cycles of 10 and 6 more, of which grid column 0 has 5. */
	CU_ASSERT_EQUAL(ddio_map_share_size(map, 6) / (3 * TWO(18)), TWO(20) / 10 * 5 + 5);
	CU_ASSERT_EQUAL(c.last.share_off, 7 * 3 * (TWO(20) / 10 * 5 + 5) + 3 * 7);
	CU_ASSERT_EQUAL(ddio_map_msg_size(map, 6, 0, at), c.last.share_off);
	CU_ASSERT_EQUAL(ddio_map_covered(map, TWO(45) - 9, TWO(45) + TWO(40)), TWO(40));
	CU_ASSERT(ddio_map_next(map, 5, &lo, &hi));
	CU_ASSERT(lo == TWO(45) && hi == TWO(45) + 3 * TWO(40));
	CU_ASSERT(!ddio_map_next(map, TWO(45) + 3 * TWO(40), &lo, &hi));
	ddio_map_free(map);
}

/* Every 2^20th element of 2^40: counts and strides both beyond 32 bits in bytes. */
static void test_far_section(void)
{
	struct ddio_array array = {
		.elem_size = 16,
		.ndims = 1,
		.dim = { { .size = TWO(40),
			   .start = 5,
			   .count = TWO(20),
			   .stride = TWO(20),
			   .dist = DDIO_BLOCK,
			   .procs = 2 } },
	};
	struct ddio_map *map = map_of(&array, 2);
	struct count c = { 0 };
	uint64_t lo, hi;

	CU_ASSERT_FATAL(map != NULL);
	CU_ASSERT_EQUAL(ddio_map_share_size(map, 1), TWO(23));
	CU_ASSERT_EQUAL(ddio_map_runs_of(map, 1, 0, UINT64_MAX, false, count_run, &c), 0);
	CU_ASSERT(c.runs == 1 && c.bytes == TWO(23) && c.last.nlevels == 1);
	CU_ASSERT_EQUAL(c.last.file_off, 16 * (5 + TWO(39)));
	CU_ASSERT_EQUAL(c.last.level[0].file_stride, TWO(24));
	CU_ASSERT(ddio_map_next(map, TWO(43), &lo, &hi));
	CU_ASSERT(lo == TWO(43) + 80 && hi == lo + 16);
	ddio_map_free(map);
}

static int keep_piece(void *arg, const struct mem_piece *piece)
{
	*(struct mem_piece *)arg = *piece;
	return 0;
}

/* A local array of more than 4 GiB with ghost cells. */
static void test_far_memory(void)
{
	struct ddio_array array = {
		.elem_size = 8,
		.ndims = 2,
		.dim = { { .size = TWO(20) }, { .size = TWO(20), .dist = DDIO_BLOCK, .procs = 4 } },
	};
	struct ddio_memory memory = { .ndims = 2,
				      .size = { TWO(20) + 2, TWO(18) + 2 },
				      .start = { 1, 1 } };
	uint64_t wide = 8 * (TWO(18) + 2);
	struct ddio_map *map = map_of(&array, 4);
	struct ddio_memmap *memmap = NULL;
	struct mem_piece piece;
	uint64_t span;

	CU_ASSERT_FATAL(map != NULL);
	CU_ASSERT_EQUAL_FATAL(ddio_memmap_new(map, 3, &memory, &memmap, &span, NULL), 0);
	CU_ASSERT_EQUAL(span, TWO(20) * wide + 8 * (TWO(18) + 1));
	/* The last row but one, all of it. */
	CU_ASSERT_EQUAL(memmap_pieces(memmap, TWO(43) - TWO(24), TWO(43) - TWO(23), false,
				      keep_piece, &piece),
			0);
	CU_ASSERT(!piece.nlevels && piece.len == TWO(21) && !piece.msg_off);
	CU_ASSERT_EQUAL(piece.mem_off, (TWO(20) - 1) * wide + 8);
	CU_ASSERT_EQUAL(memmap_pieces(memmap, 0, TWO(43), false, keep_piece, &piece), 0);
	CU_ASSERT(piece.nlevels == 1 && piece.level[0].count == TWO(20));
	CU_ASSERT_EQUAL(piece.level[0].mem_stride, (int64_t)wide);
	ddio_memmap_free(memmap);
	ddio_map_free(map);
}

/* Empty shares of all sorts are no errors. */
static void test_empty_shares(void)
{
	struct ddio_array array = {
		.elem_size = 4,
		.ndims = 2,
		.dim = { { .size = 5, .dist = DDIO_BLOCK, .procs = 4 }, /* 2, 2, 1, 0 rows */
			 { .size = 3 } },
	};
	struct ddio_map *map = map_of(&array, 6);
	struct ddio_memmap *memmap = NULL;
	uint64_t span = 1, mem_off = 1, len = 1, lo, hi;
	struct count c = { 0 };
	uint32_t p;

	CU_ASSERT_FATAL(map != NULL);
	CU_ASSERT_EQUAL(ddio_map_share_size(map, 2), 12);
	for (p = 3; p < 6; p++) {
		CU_ASSERT_EQUAL(ddio_map_share_size(map, p), 0);
		CU_ASSERT_EQUAL(ddio_map_runs_of(map, p, 0, 1000, false, count_run, &c), 0);
		CU_ASSERT_EQUAL_FATAL(ddio_memmap_new(map, p, NULL, &memmap, &span, NULL), 0);
		CU_ASSERT_EQUAL(span, 0);
		CU_ASSERT(ddio_memmap_contiguous(memmap, 0, 1000, false, &mem_off, &len));
		CU_ASSERT(!mem_off && !len);
		ddio_memmap_free(memmap);
	}
	CU_ASSERT_EQUAL(c.runs, 0);
	ddio_map_free(map);

	array.dim[0].size = 0; /* no element at all; the other size does not matter then */
	array.dim[1].size = UINT64_MAX;
	map = map_of(&array, 6);
	CU_ASSERT_FATAL(map != NULL);
	CU_ASSERT(!ddio_map_next(map, 0, &lo, &hi));
	CU_ASSERT_EQUAL(ddio_map_covered(map, 0, UINT64_MAX), 0);
	ddio_map_bounds(map, &lo, &hi);
	CU_ASSERT(!lo && !hi);
	ddio_map_free(map);
}

/* A range that ends before it begins is empty. */
static void test_turned_range(void)
{
	struct ddio_extent list = { 0, 1000 };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &list };
	struct ddio_array array = { .elem_size = 1, .ndims = 1, .dim = { { .size = 1000 } } };
	struct ddio_memmap *memmap = NULL;
	struct ddio_map *map;
	struct count c = { 0 };
	uint64_t span;
	int i;

	for (i = 0; i < 2; i++) {
		map = NULL;
		if (i)
			CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(&part, 1, &map, NULL), 0);
		if (!i)
			map = map_of(&array, 1);
		CU_ASSERT_FATAL(map != NULL);
		CU_ASSERT_EQUAL_FATAL(ddio_memmap_new(map, 0, NULL, &memmap, &span, NULL), 0);
		CU_ASSERT_EQUAL(ddio_map_covered(map, 20, 10), 0);
		CU_ASSERT_EQUAL(ddio_map_msg_size(map, 0, 20, 10), 0);
		CU_ASSERT_EQUAL(ddio_map_put_size(map, 0, 20, 10), 0);
		CU_ASSERT_EQUAL(ddio_map_runs(map, 20, 10, false, count_run, &c), 0);
		CU_ASSERT_EQUAL(ddio_map_runs_of(map, 0, 20, 10, false, count_run, &c), 0);
		CU_ASSERT_EQUAL(ddio_map_pack(map, 20, 10, NULL, (void *const[]){ NULL }), 0);
		CU_ASSERT_EQUAL(memmap_pieces(memmap, 20, 10, false, keep_piece, NULL), 0);
		CU_ASSERT_EQUAL(c.runs, 0);
		ddio_memmap_free(memmap);
		ddio_map_free(map);
	}
}

/* As many levels as there may be, none of which merges with another. */
static void test_all_levels(void)
{
	struct ddio_strided s = { .offset = 7, .len = 1, .nlevels = DDIO_MAX_DIMS };
	struct ddio_part part = { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &s };
	struct ddio_memory memory = { .nstrided = 1, .strided = &s };
	struct ddio_memmap *memmap = NULL;
	struct ddio_map *map = NULL;
	struct mem_piece piece;
	struct count c = { 0 };
	uint64_t span;
	uint32_t d;

	for (d = 0; d < DDIO_MAX_DIMS; d++)
		s.level[d] = (struct ddio_level){ 2, INT64_C(3) << (2 * (DDIO_MAX_DIMS - d)) };
	CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(&part, 1, &map, NULL), 0);
	CU_ASSERT_EQUAL(ddio_map_runs(map, 0, UINT64_MAX, false, count_run, &c), 0);
	CU_ASSERT(c.runs == 1 && c.bytes == 256 && c.last.nlevels == DDIO_MAX_DIMS);
	CU_ASSERT_EQUAL_FATAL(ddio_memmap_new(map, 0, &memory, &memmap, &span, NULL), 0);
	CU_ASSERT_EQUAL(memmap_pieces(memmap, 0, UINT64_MAX, false, keep_piece, &piece), 0);
	CU_ASSERT_EQUAL(piece.nlevels, DDIO_MAX_DIMS);
	ddio_memmap_free(memmap);
	ddio_map_free(map);
}

struct map_refusal {
	const char *why;
	int rc;
	struct ddio_array array;
};

#define DIM(...) .elem_size = 8, .ndims = 1, .dim = { { __VA_ARGS__ } }

static const struct map_refusal refused_arrays[] = {
	{ "array.ndims is not 1 to 8", -EINVAL, { .elem_size = 1 } },
	{ "array.ndims is not 1 to 8", -EINVAL, { .elem_size = 1, .ndims = 9 } },
	{ "array.elem_size is 0", -EINVAL, { .ndims = 1 } },
	{ "array.reserved is not 0", -EINVAL, { DIM(.size = 1), .reserved = 1 } },
	{ "array.dim.reserved is not 0", -EINVAL, { DIM(.size = 1, .reserved = 1) } },
	{ "array.dim.start is beyond size", -EINVAL, { DIM(.size = 4, .start = 5, .count = 1) } },
	{ "array.dim.count: the section ends beyond size",
	  -EINVAL,
	  { DIM(.size = 4, .start = 2, .count = 3) } },
	{ "array.dim.count: the section ends beyond size",
	  -EINVAL,
	  { DIM(.size = 4, .start = 4, .count = 1) } },
	{ "array.dim.count: the section ends beyond size",
	  -EINVAL,
	  { DIM(.size = 4, .count = 3, .stride = 2) } },
	{ "array.dim.count: the section ends beyond size",
	  -EINVAL,
	  { DIM(.size = 4, .count = TWO(33), .stride = TWO(33)) } },
	{ "array.dim.procs is above 1 in a NONE dimension",
	  -EINVAL,
	  { DIM(.size = 4, .procs = 2) } },
	{ "array.dim.k: BLOCK(k) times procs is below count",
	  -EINVAL,
	  { DIM(.size = 9, .dist = DDIO_BLOCK, .procs = 2, .k = 4) } },
	{ "array.dim.k is set in a dimension that is not BLOCK or CYCLIC",
	  -EINVAL,
	  { DIM(.size = 9, .dist = DDIO_ALL, .procs = 2, .k = 4) } },
	{ "array.dim.k is set in a dimension that is not BLOCK or CYCLIC",
	  -EINVAL,
	  { DIM(.size = 9, .k = 1) } },
	{ "array.dim.dist is not NONE, BLOCK, CYCLIC or ALL",
	  -EINVAL,
	  { DIM(.size = 9, .dist = 4) } },
	{ "array.dim.procs: the grid has more processes than the group",
	  -EINVAL,
	  { DIM(.size = 9, .dist = DDIO_BLOCK, .procs = 17) } },
	{ "array.dim.procs: the grid has more than 2^32 processes",
	  -EINVAL,
	  { .elem_size = 8,
	    .ndims = 2,
	    .dim = { { .size = 1, .dist = DDIO_ALL, .procs = TWO(33) },
		     { .size = 1, .dist = DDIO_ALL, .procs = TWO(33) } } } },
	{ "array: its last byte is beyond 2^63", -EOVERFLOW, { DIM(.size = TWO(60)) } },
	{ "array: its last byte is beyond 2^63",
	  -EOVERFLOW,
	  { DIM(.size = TWO(59)), .file_offset = TWO(62) } },
	{ "array: its last byte is beyond 2^63",
	  -EOVERFLOW,
	  { .elem_size = 1,
	    .ndims = 3,
	    .dim = { { .size = TWO(40) }, { .size = TWO(40) }, { .size = 2 } } } },
};

static void test_refused_arrays(void)
{
	size_t i;

	for (i = 0; i < sizeof(refused_arrays) / sizeof(refused_arrays[0]); i++) {
		const struct map_refusal *r = &refused_arrays[i];
		struct ddio_map *map = NULL;
		const char *why = "";

		CU_ASSERT_EQUAL(ddio_map_new_array(&r->array, 16, &map, &why), r->rc);
		CU_ASSERT_STRING_EQUAL(why, r->why);
		CU_ASSERT_EQUAL(ddio_map_new_array(&r->array, 16, &map, NULL), r->rc);
		CU_ASSERT_PTR_NULL(map);
	}
}

struct part_refusal {
	const char *why;
	int rc;
	struct ddio_part part;
};

static const struct ddio_extent far_extent = { TWO(62), TWO(62) };
static const struct ddio_extent too_much[3] = { { 0, TWO(62) }, { 0, TWO(62) }, { 0, 1 } };
static const struct ddio_extent same_twice[2] = { { 8, 4 }, { 4, 5 } };
static const struct ddio_extent too_long[2] = { { TWO(62), 5 }, { 0, UINT64_MAX } };
static const struct ddio_strided deep = { .len = 1, .nlevels = 9 };
static const struct ddio_strided marked = { .len = 1, .reserved = 7 };
static const struct ddio_strided none = { .len = 1, .nlevels = 1 };
static const struct ddio_strided back = { .len = 1, .nlevels = 1, .level = { { 2, -1 } } };
static const struct ddio_strided stuck = { .len = 1, .nlevels = 1, .level = { { 2, 0 } } };
static const struct ddio_strided far = { .len = 1,
					 .nlevels = 1,
					 .level = { { TWO(40), TWO(40) } } };
static const struct ddio_strided over = { .len = 8, .nlevels = 1, .level = { { 3, 7 } } };
static const struct ddio_strided many = {
	.len = 1, .nlevels = 3, .level = { { TWO(22), 1 }, { TWO(22), 1 }, { TWO(22), 1 } }
};

#define LIST(entries, count)                                        \
	{                                                           \
		.kind = DDIO_PART_LIST, .n = count, .list = entries \
	}
#define STRIDED(entries)                                              \
	{                                                             \
		.kind = DDIO_PART_STRIDED, .n = 1, .strided = entries \
	}

static const struct part_refusal refused_parts[] = {
	{ "part.kind is not STRIDED, LIST or VIEW", -EINVAL, { .kind = DDIO_PART_ARRAY } },
	{ "part.kind is not STRIDED, LIST or VIEW", -EINVAL, { .kind = 0 } },
	{ "part.reserved is not 0", -EINVAL, { .kind = DDIO_PART_LIST, .reserved = 1 } },
	{ "part.list is missing", -EINVAL, LIST(NULL, 1) },
	{ "part.strided is missing", -EINVAL, STRIDED(NULL) },
	{ "part.kind differs between processes", -EINVAL, LIST(same_twice, 1) },
	{ "part: it names a byte twice", -EINVAL, LIST(same_twice, 2) },
	{ "part: it names a byte twice", -EINVAL, STRIDED(&over) },
	{ "list: its last byte is beyond 2^63", -EOVERFLOW, LIST(&far_extent, 1) },
	{ "list: its last byte is beyond 2^63", -EOVERFLOW, LIST(too_long, 2) },
	{ "part: it has more than 2^63 bytes", -EOVERFLOW, LIST(too_much, 3) },
	{ "strided.nlevels is above 8", -EINVAL, STRIDED(&deep) },
	{ "strided.reserved is not 0", -EINVAL, STRIDED(&marked) },
	{ "strided.level.count is 0", -EINVAL, STRIDED(&none) },
	{ "strided.level.stride is negative in a file", -EINVAL, STRIDED(&back) },
	{ "strided.level.stride is 0: a byte is named twice", -EINVAL, STRIDED(&stuck) },
	{ "strided: its last byte is beyond 2^63", -EOVERFLOW, STRIDED(&far) },
	{ "strided: its last byte is beyond 2^63", -EOVERFLOW, STRIDED(&many) },
};

static void test_refused_parts(void)
{
	static const struct ddio_strided good = { .len = 1 };
	struct ddio_part part[2] = { STRIDED(&good) };
	size_t i;

	for (i = 0; i < sizeof(refused_parts) / sizeof(refused_parts[0]); i++) {
		const struct part_refusal *r = &refused_parts[i];
		struct ddio_map *map = NULL;
		const char *why = "";

		part[1] = r->part;
		CU_ASSERT_EQUAL(ddio_map_new_parts(part, 2, &map, &why), r->rc);
		CU_ASSERT_STRING_EQUAL(why, r->why);
		if (strcmp(why, r->why))
			printf("%s\n", r->why);
		CU_ASSERT_PTR_NULL(map);
	}
	CU_ASSERT_EQUAL(ddio_map_new_parts(NULL, 2, &(struct ddio_map *){ NULL }, NULL), -EINVAL);
	CU_ASSERT_EQUAL(ddio_map_new_parts(part, 0, &(struct ddio_map *){ NULL }, NULL), -EINVAL);
	CU_ASSERT_EQUAL(ddio_map_new_array(NULL, 2, &(struct ddio_map *){ NULL }, NULL), -EINVAL);
	ddio_map_free(NULL);
}

static int stop_at_third(void *arg, const struct ddio_map_run *run)
{
	(void)run;
	return ++*(int *)arg == 3 ? -ECANCELED : 0;
}

/* What a callback returns ends the walk and is its result. */
static void test_stopped(void)
{
	struct ddio_extent list[5] = { { 0, 1 }, { 5, 3 }, { 9, 2 }, { 20, 4 }, { 40, 1 } };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 5, .list = list };
	struct ddio_array array = { DIM(.size = 100, .dist = DDIO_ALL, .procs = 9) };
	struct ddio_map *map = map_of(&array, 9);
	int calls = 0;

	CU_ASSERT_FATAL(map != NULL);
	CU_ASSERT_EQUAL(ddio_map_runs(map, 0, 800, false, stop_at_third, &calls), -ECANCELED);
	CU_ASSERT_EQUAL(calls, 3);
	ddio_map_free(map);
	CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(&part, 1, &map, NULL), 0);
	calls = 0;
	CU_ASSERT_EQUAL(ddio_map_runs(map, 0, 800, false, stop_at_third, &calls), -ECANCELED);
	CU_ASSERT_EQUAL(calls, 3);
	ddio_map_free(map);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "2^40 elements dealt one by one", test_cyclic_runs },
		{ "2^40 elements in 8 dimensions", test_deep_runs },
		{ "an array at 2^45", test_far_offsets },
		{ "a section of 2^43 bytes", test_far_section },
		{ "memory beyond 4 GiB", test_far_memory },
		{ "empty shares", test_empty_shares },
		{ "ranges that end before they begin", test_turned_range },
		{ "eight levels", test_all_levels },
		{ "arrays refused, and why", test_refused_arrays },
		{ "parts refused, and why", test_refused_parts },
		{ "a walk can be stopped", test_stopped },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "limits", cases } };

	return ut_run("test_map_limits", suites, 1);
}
