// SPDX-License-Identifier: GPL-2.0-only
/* Block lists of the collective executor: spans, their order, and what they cost. */
#include <stdlib.h>
#include <string.h>
#include "iop/coll/priv.h"
#include "tests/unit/lib/ut.h"

enum { SECTORS = 16 };

static uint64_t rnd = 1;

static uint64_t any(uint64_t n)
{
	rnd = rnd * 6364136223846793005ull + 1442695040888963407ull;
	return (rnd >> 33) % n;
}

static void add(struct plan *plan, uint64_t block, uint64_t count, uint64_t sector, bool same)
{
	struct plan_blocks placed = { block, count, sector, same };

	CU_ASSERT_EQUAL(plan_add(plan, &placed), 0);
}

static uint64_t sector; /* of the block that next_block() gave last */

static bool next_block(struct plan *plan, uint64_t *block, bool *hole)
{
	struct plan_blocks placed;

	if (!plan_next(plan, &placed))
		return false;
	CU_ASSERT_EQUAL(placed.count, 1);
	*block = placed.block;
	sector = placed.sector;
	*hole = sector == SPAN_HOLE;
	return true;
}

/* An object in one piece takes next to no list at all. */
static void test_contiguous(void)
{
	struct plan plan = { .sectors = SECTORS };
	uint64_t block, i;
	bool hole;

	add(&plan, 5, 1000000, 640, false);
	CU_ASSERT_EQUAL(plan.blocks, 1000000);
	CU_ASSERT(plan.n <= 1000000 / SPAN_MAX + 1);
	add(&plan, 1000005, 3, 640 + 1000000ull * SECTORS, true);
	CU_ASSERT(plan.n <= 1000003 / SPAN_MAX + 1);
	plan_rotate(&plan, 0);
	for (i = 0; i < 1000003; i++)
		if (!next_block(&plan, &block, &hole) || block != i + 5 || hole)
			break;
	CU_ASSERT_EQUAL(i, 1000003);
	CU_ASSERT(!next_block(&plan, &block, &hole));
	plan_free(&plan);
}

/* Every seventh block of an extent. */
static void test_strided(void)
{
	struct plan plan = { .sectors = SECTORS };
	uint64_t i, block;
	bool hole;

	for (i = 0; i < 100000; i++)
		add(&plan, i * 7, 1, 64 + i * 7 * SECTORS, i > 0);
	CU_ASSERT_EQUAL(plan.blocks, 100000);
	CU_ASSERT(plan.n <= 100000 / SPAN_MAX + 1);
	plan_rotate(&plan, 40000);
	CU_ASSERT(next_block(&plan, &block, &hole));
	CU_ASSERT_EQUAL(block, 40000 * 7);
	for (i = 1; i < 100000; i++)
		if (!next_block(&plan, &block, &hole) || block != (40000 + i) % 100000 * 7)
			break;
	CU_ASSERT_EQUAL(i, 100000);
	CU_ASSERT(!next_block(&plan, &block, &hole));
	plan_free(&plan);
}

/* What would be one span but is in two extents, with another one between. */
static void test_extents_apart(void)
{
	struct plan plan = { .sectors = 1 };
	uint64_t block[3], i;
	bool hole;

	add(&plan, 0, 1, 100, false);
	add(&plan, 2, 1, 102, false);
	add(&plan, 9, 1, 101, false);
	plan_sort(&plan);
	plan_rotate(&plan, 0);
	for (i = 0; i < 3; i++)
		CU_ASSERT(next_block(&plan, &block[i], &hole));
	CU_ASSERT_EQUAL(block[0], 0);
	CU_ASSERT_EQUAL(block[1], 9);
	CU_ASSERT_EQUAL(block[2], 2);
	plan_free(&plan);
}

static void test_holes(void)
{
	struct plan plan = { .sectors = SECTORS };
	static const uint64_t want[] = { 3, 4, 20, 5, 6, 7, 30 };
	uint64_t block, i;
	bool hole;

	add(&plan, 3, 2, 500, false);
	add(&plan, 5, 3, SPAN_HOLE, false);
	add(&plan, 20, 1, 1000, false);
	add(&plan, 30, 1, SPAN_HOLE, false);
	plan_sort(&plan);
	plan_rotate(&plan, 0);
	for (i = 0; i < 7; i++) {
		CU_ASSERT(next_block(&plan, &block, &hole));
		CU_ASSERT_EQUAL(block, want[i]);
		CU_ASSERT_EQUAL(hole, i >= 3);
	}
	CU_ASSERT(!next_block(&plan, &block, &hole));
	plan_free(&plan);
	plan_rotate(&(struct plan){ 0 }, 0);
}

/* The largest numbers that a file and a disk can have. */
static void test_large(void)
{
	struct plan plan = { .sectors = DDIO_MAX_BLOCK / 512 };
	uint64_t last = DDIO_MAX_FILE / DDIO_MIN_BLOCK - 3, block;
	bool hole;

	add(&plan, last, 2, SPAN_HOLE - 1 - 2ull * plan.sectors, false);
	plan_rotate(&plan, 1);
	CU_ASSERT(next_block(&plan, &block, &hole));
	CU_ASSERT_EQUAL(block, last + 1);
	CU_ASSERT(!hole);
	CU_ASSERT(next_block(&plan, &block, &hole));
	CU_ASSERT_EQUAL(block, last);
	plan_free(&plan);
}

/*
 * Against a twin: an array with an entry for each block
 */
struct plan_twin {
	uint64_t block, sector;
	bool hole;
};

static int twin_compare(const void *a, const void *b)
{
	const struct plan_twin *x = a, *y = b;

	if (x->sector != y->sector)
		return x->sector < y->sector ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

enum { TWIN_MAX = 4000, EXTENT_SECTORS = 10000000, EXTENTS = 5003 };

/* Extents at random places, of which runs, strides or single blocks are taken. */
static uint64_t random_list(struct plan *plan, struct plan_twin *twin)
{
	uint64_t n = 0, block = any(50), at_random = 1 + any(EXTENTS - 1), extent = 0;
	uint64_t count, base, stride, i, k, first;

	while (n < TWIN_MAX / 2) {
		bool hole = !any(5);

		extent = (extent + at_random) % EXTENTS; /* a prime: each comes once */
		base = extent * EXTENT_SECTORS;
		first = block;
		count = 1 + any(100);
		stride = any(3) ? 1 : 1 + any(5);
		for (i = 0; i < count; i++) {
			uint64_t run = stride == 1 ? 1 + any(4) : 1;
			uint64_t at = block, sector = base + (at - first) * SECTORS;

			if (hole)
				sector = SPAN_HOLE;

			add(plan, at, run, sector, i > 0);
			for (k = 0; k < run; k++)
				twin[n++] = (struct plan_twin){
					at + k, hole ? SPAN_HOLE : sector + k * SECTORS, hole
				};
			block += run - 1 + stride;
			if (!any(10))
				block += any(2000);
		}
		block += 1 + any(10);
	}
	return n;
}

static void compare(struct plan *plan, const struct plan_twin *twin, uint64_t n, uint64_t skip)
{
	uint64_t i, block = 0;
	bool hole = false;

	CU_ASSERT_EQUAL_FATAL(plan->blocks, n);
	plan_rotate(plan, skip);
	for (i = 0; i < n; i++) {
		const struct plan_twin *t = &twin[(i + skip) % n];

		if (!next_block(plan, &block, &hole) || block != t->block || hole != t->hole ||
		    sector != t->sector)
			break;
	}
	CU_ASSERT_EQUAL(i, n);
	CU_ASSERT(!next_block(plan, &block, &hole));
}

static void test_twin(void)
{
	static struct plan_twin twin[TWIN_MAX + 8];
	uint64_t seed, n;

	printf("\n  seeds 1 to 300 ");
	for (seed = 1; seed <= 300; seed++) {
		struct plan plan = { .sectors = SECTORS };

		rnd = seed;
		n = random_list(&plan, twin);
		compare(&plan, twin, n, 0);
		compare(&plan, twin, n, any(n));
		plan_sort(&plan);
		qsort(twin, n, sizeof(*twin), twin_compare);
		compare(&plan, twin, n, 0);
		compare(&plan, twin, n, any(n));
		CU_ASSERT(plan.n < n);
		plan_free(&plan);
	}
}

static const struct ut_case plan_cases[] = {
	{ "contiguous", test_contiguous },
	{ "strided", test_strided },
	{ "extents apart do not become one span", test_extents_apart },
	{ "holes come last", test_holes },
	{ "the largest numbers", test_large },
	{ "random lists against a twin", test_twin },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "block lists", plan_cases } };

	return ut_run("test_coll_plan", suites, 1);
}
