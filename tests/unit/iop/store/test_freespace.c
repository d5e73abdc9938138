// SPDX-License-Identifier: GPL-2.0-only
/* Sets of ranges and maps of extents, against arrays of one cell a number. */
#include <errno.h>
#include <string.h>
#include "base/rand.h"
#include "iop/store/ranges/extent.h"
#include "iop/store/ranges/freespace.h"
#include "tests/unit/lib/ut.h"

#define CELLS 400

static uint64_t count_runs(const bool *cell)
{
	uint64_t i, n = 0;

	for (i = 0; i < CELLS; i++)
		n += cell[i] && (!i || !cell[i - 1]);
	return n;
}

static void same_set(const struct ranges *set, const bool *cell)
{
	const struct range_node *range = ranges_find(set, 0);
	uint64_t i = 0, total = 0, longest = 0;

	while (i < CELLS) {
		uint64_t start;

		for (; i < CELLS && !cell[i]; i++)
			;
		if (i == CELLS)
			break;
		for (start = i; i < CELLS && cell[i]; i++)
			;
		CU_ASSERT_PTR_NOT_NULL_FATAL(range);
		CU_ASSERT(range->start == start && range->len == i - start);
		total += i - start;
		longest = i - start > longest ? i - start : longest;
		range = ranges_find(set, i);
	}
	CU_ASSERT_PTR_NULL(range);
	CU_ASSERT_EQUAL(set->total, total);
	CU_ASSERT_EQUAL(set->n, count_runs(cell));
	CU_ASSERT_EQUAL(ranges_longest(set), longest);
}

static bool naive_fit(const bool *cell, uint64_t from, uint64_t len, uint64_t align, uint64_t *at)
{
	uint64_t i;

	for (*at = (from + align - 1) / align * align; *at + len <= CELLS; *at += align) {
		for (i = 0; i < len && cell[*at + i]; i++)
			;
		if (i == len)
			return true;
	}
	return false;
}

static bool any(const bool *cell, uint64_t start, uint64_t len, bool value)
{
	uint64_t i;

	for (i = 0; i < len; i++)
		if (cell[start + i] == value)
			return true;
	return false;
}

static void random_step(struct ranges *set, bool *cell, uint64_t *rand)
{
	uint64_t start = ddio_rand_below(rand, CELLS);
	uint64_t len = ddio_rand_below(rand, 30), want, got, align, i;
	bool fits;

	if (len > CELLS - start)
		len = CELLS - start;
	if (ddio_rand_next(rand) % 2) {
		fits = any(cell, start, len, true);
		CU_ASSERT_EQUAL(ranges_add(set, start, len), fits ? -EEXIST : 0);
		for (i = 0; i < len && !fits; i++)
			cell[start + i] = true;
	} else {
		CU_ASSERT_EQUAL(ranges_remove(set, start, len), 0);
		for (i = 0; i < len; i++)
			cell[start + i] = false;
	}
	start = ddio_rand_below(rand, CELLS);
	len = 1 + ddio_rand_below(rand, 20);
	if (start + len <= CELLS)
		CU_ASSERT_EQUAL(ranges_contain(set, start, len), !any(cell, start, len, false));
	align = 1ull << ddio_rand_below(rand, 4);
	fits = naive_fit(cell, start, len, align, &want);
	CU_ASSERT_EQUAL(ranges_fit(set, start, len, align, &got), fits);
	if (fits)
		CU_ASSERT_EQUAL(want, got);
}

static void test_ranges(void)
{
	struct ranges set;
	bool cell[CELLS];
	uint64_t rand, seed, i;

	for (seed = 0; seed < 20; seed++) {
		rand = seed;
		memset(cell, 0, sizeof(cell));
		ranges_init(&set);
		for (i = 0; i < 500; i++) {
			random_step(&set, cell, &rand);
			same_set(&set, cell);
		}
		ranges_fini(&set);
	}
}

static void test_ranges_at_the_end(void)
{
	struct ranges set;
	uint64_t at;

	ranges_init(&set);
	CU_ASSERT_EQUAL(ranges_add(&set, UINT64_MAX - 10, 20), -EINVAL);
	CU_ASSERT_EQUAL(ranges_add(&set, UINT64_MAX - 10, 10), 0);
	CU_ASSERT_TRUE(ranges_contain(&set, UINT64_MAX - 10, 10));
	CU_ASSERT_FALSE(ranges_fit(&set, 0, 11, 1, &at));
	CU_ASSERT_FALSE(ranges_fit(&set, UINT64_MAX - 1, 1, 4096, &at));
	CU_ASSERT_EQUAL(ranges_remove(&set, 5, UINT64_MAX - 5), 0);
	CU_ASSERT_EQUAL(set.n, 0);
	ranges_fini(&set);
}

/* The tree stays flat enough for ranges that come in order. */
static void test_many_ranges(void)
{
	struct ranges set;
	uint64_t i, at;

	ranges_init(&set);
	for (i = 0; i < 200000; i++)
		if (ranges_add(&set, i * 3, 2))
			CU_FAIL_FATAL("add");
	CU_ASSERT_EQUAL(set.n, 200000);
	CU_ASSERT_FALSE(ranges_fit(&set, 0, 3, 1, &at));
	for (i = 0; i < 200000; i++)
		if (ranges_add(&set, i * 3 + 2, 1))
			CU_FAIL_FATAL("add");
	CU_ASSERT_EQUAL(set.n, 1);
	CU_ASSERT_EQUAL(set.total, 600000);
	ranges_fini(&set);
}

#define BS 512u

/* Places by block; 0: none. */
static void same_map(const struct extent_map *map, const uint64_t *place)
{
	uint64_t block, n = 0;
	size_t at, i;

	for (block = 0; block < CELLS; block++) {
		at = extent_map_find(map, block);
		if (!place[block]) {
			CU_ASSERT(at == map->n || map->v[at].block > block);
			continue;
		}
		n++;
		CU_ASSERT_FATAL(at < map->n && map->v[at].block <= block);
		CU_ASSERT_EQUAL(map->v[at].start + (block - map->v[at].block) * BS, place[block]);
	}
	CU_ASSERT_EQUAL(map->blocks, n);
	for (i = 1; i < map->n; i++)
		CU_ASSERT(map->v[i - 1].block + map->v[i - 1].count != map->v[i].block ||
			  map->v[i - 1].start + map->v[i - 1].count * BS != map->v[i].start);
}

/* Some holes at once get places, near each other or not. */
static void map_step(struct extent_map *map, uint64_t *place, uint64_t *rand)
{
	struct extent ext[8];
	uint64_t block = ddio_rand_below(rand, CELLS), base, i;
	size_t n = 0;

	if (!ddio_rand_below(rand, 12)) {
		i = ddio_rand_below(rand, 2) ? CELLS : block + 1 + ddio_rand_below(rand, 9);
		CU_ASSERT_EQUAL(extent_map_reserve(map, 1), 0);
		extent_map_cut(map, block, i, BS);
		for (; block < CELLS && block < i; block++)
			place[block] = 0;
		return;
	}
	base = (1 + ddio_rand_below(rand, 3)) * (1u << 20);
	while (block < CELLS && n < 8) {
		uint64_t run = 1 + ddio_rand_below(rand, 4);

		for (i = 0; i < run && block + i < CELLS && !place[block + i]; i++)
			place[block + i] = base + (block + i) * BS;
		if (i)
			ext[n++] = (struct extent){ block, base + block * BS, i };
		block += i + 1;
	}
	CU_ASSERT_EQUAL(extent_map_add(map, ext, n, BS), 0);
}

static void test_extents(void)
{
	struct extent_map map;
	uint64_t place[CELLS], rand, seed, i;

	for (seed = 0; seed < 20; seed++) {
		rand = seed + 100;
		memset(&map, 0, sizeof(map));
		memset(place, 0, sizeof(place));
		for (i = 0; i < 300; i++) {
			map_step(&map, place, &rand);
			same_map(&map, place);
		}
		extent_map_fini(&map);
	}
}

static void test_rand(void)
{
	uint64_t state = 1234567, i, n[7] = { 0 };

	/* The published sequence of splitmix64 for this seed. */
	CU_ASSERT_EQUAL(ddio_rand_next(&state), UINT64_C(6457827717110365317));
	CU_ASSERT_EQUAL(ddio_rand_next(&state), UINT64_C(3203168211198807973));
	for (i = 0; i < 70000; i++)
		n[ddio_rand_below(&state, 7)]++;
	for (i = 0; i < 7; i++)
		CU_ASSERT(n[i] > 9500 && n[i] < 10500);
	CU_ASSERT_EQUAL(ddio_rand_below(&state, 1), 0);
}

static const struct ut_case cases[] = {
	{ "ranges as cells", test_ranges },
	{ "ranges at the end of numbers", test_ranges_at_the_end },
	{ "many ranges", test_many_ranges },
	{ "extents as cells", test_extents },
	{ "random numbers", test_rand },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "free space", cases } };

	return ut_run("freespace", suites, 1);
}
