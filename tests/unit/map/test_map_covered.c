// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many distinct bytes of a range anybody wants, where large parts overlap and are not flattened: against a bit for each
 * byte.  Small pieces of many processes are counted together; a long one counts as it is.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "map_twin.h"

enum { PROCS = 40, PIECES = 4096, LENGTHS = 3, RANGE = (60 + PROCS) * PIECES + 70000 };

static uint8_t wanted[RANGE];

/* Pieces of @len bytes: those of process p are 60 + p bytes apart, so all of them overlap somewhere; one is @longest. */
static struct ddio_map *covered_map(uint64_t len, uint64_t longest)
{
	static struct ddio_strided s[PROCS][2];
	struct ddio_part part[PROCS];
	struct ddio_map *map = NULL;
	uint64_t p, i, b;

	memset(wanted, 0, sizeof(wanted));
	for (p = 0; p < PROCS; p++) {
		s[p][0] = (struct ddio_strided){ .offset = 3 * p,
						 .len = len,
						 .nlevels = 1,
						 .level = { { .count = PIECES,
							      .stride = (int64_t)(60 + p) } } };
		s[p][1] = (struct ddio_strided){ .offset = (60 + p) * (uint64_t)PIECES + 3 * p + 20,
						 .len = longest };
		part[p] = (struct ddio_part){ .kind = DDIO_PART_STRIDED,
					      .n = p == PROCS - 1 ? 2 : 1,
					      .strided = s[p] };
		for (i = 0; i < PIECES; i++)
			for (b = 0; b < len; b++)
				wanted[s[p][0].offset + i * (60 + p) + b] = 1;
	}
	for (b = 0; b < longest; b++)
		wanted[s[PROCS - 1][1].offset + b] = 1;
	CU_ASSERT_EQUAL(ddio_map_new_parts(part, PROCS, &map, NULL), 0);
	return map;
}

static uint64_t naive(uint64_t lo, uint64_t hi)
{
	uint64_t sum = 0;

	for (; lo < hi && lo < RANGE; lo++)
		sum += wanted[lo];
	return sum;
}

/* Ranges of all lengths, at the ends of words and windows, too. */
static void ranges(const struct ddio_map *map, struct twin_rng *rng)
{
	static const uint64_t ends[] = { 0, 1, 63, 64, 65, 32767, 32768, 32769, 65536, RANGE };
	uint64_t bad = 0, i, j, lo, hi;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		for (j = i; j < sizeof(ends) / sizeof(ends[0]); j++)
			bad += ddio_map_covered(map, ends[i], ends[j]) != naive(ends[i], ends[j]);
	for (i = 0; i < 200; i++) {
		lo = twin_rand(rng) % RANGE;
		hi = lo + twin_rand(rng) % (i % 2 ? 200 : RANGE);
		bad += ddio_map_covered(map, lo, hi) != naive(lo, hi);
	}
	CU_ASSERT_EQUAL(bad, 0);
}

static void test_covered(void)
{
	static const uint64_t len[LENGTHS] = { 1, 2, 59 };
	struct twin_rng rng = { twin_seed("test_map_covered") };
	uint64_t i;
	struct ddio_map *map;
	struct timespec from, to;

	for (i = 0; i < LENGTHS; i++) {
		map = covered_map(len[i], i ? 69000 : 1);
		if (!map)
			continue;
		ranges(map, &rng);
		clock_gettime(CLOCK_MONOTONIC, &from);
		CU_ASSERT_EQUAL(ddio_map_covered(map, 0, UINT64_MAX), naive(0, RANGE));
		clock_gettime(CLOCK_MONOTONIC, &to);
		printf("# pieces of %llu bytes: all are counted in %.1f ms\n",
		       (unsigned long long)len[i],
		       (double)(to.tv_sec - from.tv_sec) * 1e3 +
			       (double)(to.tv_nsec - from.tv_nsec) / 1e6);
		ddio_map_free(map);
	}
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "small pieces of many", test_covered },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "covered", cases } };

	return ut_run("test_map_covered", suites, 1);
}
