// SPDX-License-Identifier: GPL-2.0-only
/* Lists and nested-strided parts against their twin, made byte by byte. */
#include "map/map_priv.h"
#include "map_gen.h"

#define CASES 6000

static uint64_t seed;

static void print_parts(uint64_t n, const struct gen_parts *g)
{
	uint32_t p, d;
	uint64_t i;

	printf("case %" PRIu64 ": nprocs %u\n", n, g->nprocs);
	for (p = 0; p < g->nprocs; p++)
		for (i = 0; i < g->part[p].n; i++) {
			const struct ddio_strided *s = &g->strided[p][i];

			if (g->part[p].kind == DDIO_PART_LIST) {
				printf("  %u: [%" PRIu64 " + %" PRIu64 ")\n", p,
				       g->list[p][i].offset, g->list[p][i].len);
				continue;
			}
			printf("  %u: at %" PRIu64 " len %" PRIu64, p, s->offset, s->len);
			for (d = 0; d < s->nlevels; d++)
				printf(" x%" PRIu64 "/%" PRId64, s->level[d].count,
				       s->level[d].stride);
			printf("\n");
		}
}

/* Returns true if the order of each share is that of the file. */
static bool twin_monotone(const struct map_twin *t)
{
	uint64_t f, share, next;
	uint32_t p;

	for (p = 0; p < t->nprocs; p++) {
		next = 0;
		for (f = 0; f < t->bytes; f++) {
			share = twin_at(t, p, f);
			if (share != TWIN_NONE && share != next++)
				return false;
		}
	}
	return true;
}

struct map_tally {
	uint32_t good;
	uint32_t bad;
	uint32_t overlap;
	uint32_t shuffled;
};

/* Returns true if messages are contiguous pieces of every share. */
static bool monotone(const struct ddio_map *map)
{
	uint32_t p;

	for (p = 0; p < map->nprocs && map->parts.share[p].monotone; p++)
		;
	return p == map->nprocs;
}

static uint64_t check_parts(struct twin_rng *rng, const struct gen_parts *g, struct map_twin *t,
			    struct map_tally *tally)
{
	struct ddio_map *map = NULL;
	const char *why = NULL;
	uint32_t first, second;
	uint64_t faults, at;
	bool overlap;

	if (ddio_map_new_parts(g->part, g->nprocs, &map, &why))
		return 1;
	overlap = ddio_map_check_overlap(map, &at, &first, &second);
	faults = monotone(map) != twin_monotone(t);
	faults += twin_check_map(t, map, rng, overlap);
	tally->good++;
	tally->overlap += overlap;
	tally->shuffled += !monotone(map);
	ddio_map_free(map);
	return faults;
}

static void test_random(void)
{
	struct map_tally tally = { 0 };
	struct gen_parts *g = malloc(sizeof(*g));
	uint64_t n, cases_run = ut_rounds(CASES);

	for (n = 0; g && n < cases_run; n++) {
		struct twin_rng rng = { seed + n * 1000003 };
		struct ddio_map *map;
		const char *why = "";
		struct map_twin t;
		uint64_t faults;

		memset(g, 0, sizeof(*g));
		if (gen_parts(&rng, g, &t)) {
			faults = check_parts(&rng, g, &t, &tally);
		} else {
			faults = ddio_map_new_parts(g->part, g->nprocs, &map, &why) != -EINVAL;
			faults += strcmp(why, "part: it names a byte twice") != 0;
			tally.bad++;
		}
		CU_ASSERT_EQUAL(faults, 0);
		if (faults)
			print_parts(n, g);
		twin_destroy(&t);
	}
	free(g);
	/* All kinds were met, whatever the seed. */
	CU_ASSERT(tally.good > cases_run / 2);
	CU_ASSERT(tally.bad > cases_run / 100);
	CU_ASSERT(tally.overlap > cases_run / 20);
	CU_ASSERT(tally.shuffled > cases_run / 20);
}

/* Empty parts, of either kind or both, are not an error. */
static void test_empty(void)
{
	struct ddio_part part[3] = { { .kind = DDIO_PART_LIST },
				     { .kind = DDIO_PART_STRIDED },
				     { .kind = DDIO_PART_LIST } };
	struct ddio_map *map = NULL;
	uint64_t lo = 1, hi = 1;

	CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(part, 3, &map, NULL), 0);
	ddio_map_bounds(map, &lo, &hi);
	CU_ASSERT(!lo && !hi);
	CU_ASSERT(!ddio_map_next(map, 0, &lo, &hi));
	CU_ASSERT_EQUAL(ddio_map_covered(map, 0, UINT64_MAX), 0);
	CU_ASSERT_EQUAL(ddio_map_msg_size(map, 1, 0, UINT64_MAX), 0);
	CU_ASSERT(monotone(map));
	ddio_map_free(map);
}

static int count_run(void *arg, const struct ddio_map_run *run)
{
	(void)run;
	++*(uint64_t *)arg;
	return 0;
}

/* 16 processes with every 16th record: 2^40 pieces, in order, take a handful of steps. */
static void test_huge_nests(void)
{
	struct ddio_strided strided[16];
	struct ddio_part part[16];
	struct ddio_map *map = NULL;
	uint64_t lo, hi, at, runs = 0;
	uint64_t end = UINT64_C(1) << 46;
	uint32_t p, q;

	memset(strided, 0, sizeof(strided));
	memset(part, 0, sizeof(part));
	for (p = 0; p < 16; p++) {
		strided[p].offset = 8 * p;
		strided[p].len = 8;
		strided[p].nlevels = 2;
		strided[p].level[0] = (struct ddio_level){ 1 << 19, INT64_C(1) << 27 };
		strided[p].level[1] = (struct ddio_level){ 1 << 20, 128 };
		part[p].kind = DDIO_PART_STRIDED;
		part[p].n = 1;
		part[p].strided = &strided[p];
	}
	CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(part, 16, &map, NULL), 0);
	CU_ASSERT(!ddio_map_check_overlap(map, &at, &p, &q));
	ddio_map_bounds(map, &lo, &hi);
	CU_ASSERT(lo == 0 && hi == end);
	CU_ASSERT_EQUAL(ddio_map_share_size(map, 7), end / 16);
	CU_ASSERT_EQUAL(ddio_map_covered(map, 3, end - 5), end - 8);
	CU_ASSERT_EQUAL(ddio_map_msg_size(map, 3, end - 256 + 25, end), 15);
	CU_ASSERT_EQUAL(ddio_map_runs(map, 5, end - 5, false, count_run, &runs), 0);
	CU_ASSERT(runs >= 16 && runs <= 16 * 5);
	CU_ASSERT(ddio_map_next(map, end - 3, &lo, &hi));
	CU_ASSERT(lo == end - 3 && hi == end);
	ddio_map_free(map);

	/* The same, all processes one and the same part: overlap is told at once too. */
	for (p = 0; p < 16; p++)
		part[p].strided = &strided[3];
	CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(part, 16, &map, NULL), 0);
	CU_ASSERT(ddio_map_check_overlap(map, &at, &p, &q));
	CU_ASSERT(at == 24 && p == 0 && q == 1);
	CU_ASSERT_EQUAL(ddio_map_covered(map, 0, end), end / 16);
	ddio_map_free(map);
}

/* A map is refused if checking it would take unreasonably many pieces. */
static void test_too_many_pieces(void)
{
	struct ddio_strided s[2] = {
		{ .len = 8, .nlevels = 2, .level = { { 1 << 20, 8 }, { 1 << 20, 1 << 23 } } },
		{ .offset = 1 << 22,
		  .len = 1,
		  .nlevels = 1,
		  .level = { { 1 << 30, (1 << 23) + 1 } } },
	};
	struct ddio_part part[2] = { { .kind = DDIO_PART_STRIDED, .n = 1, .strided = s } };
	struct ddio_map *map = NULL;
	const char *why = "";

	part[1] = part[0];
	part[1].n = 0;
	CU_ASSERT_EQUAL(ddio_map_new_parts(part, 2, &map, &why), -EOVERFLOW);
	CU_ASSERT_STRING_EQUAL(why, "part: out of file order in more than 2^24 pieces");
	/* They will meet, but only after millions of steps. */
	s[0] = (struct ddio_strided){ .len = 1, .nlevels = 1, .level = { { 1 << 30, 1 << 23 } } };
	part[1] = part[0];
	part[1].strided = &s[1];
	CU_ASSERT_EQUAL(ddio_map_new_parts(part, 2, &map, &why), -EOVERFLOW);
	CU_ASSERT_STRING_EQUAL(why, "part: parts interleave irregularly in too many pieces");
}

/* A long list at one distance is kept as one item, and its runs are strided. */
static void test_list_rows(void)
{
	enum { N = 100000 };
	struct ddio_extent *list = malloc(N * sizeof(*list));
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = N, .list = list };
	struct ddio_map *map = NULL;
	uint64_t runs = 0;
	uint64_t i;

	CU_ASSERT_FATAL(list != NULL);
	for (i = 0; i < N; i++)
		list[i] = (struct ddio_extent){ 1000 + i * 48, 16 };
	CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(&part, 1, &map, NULL), 0);
	free(list);
	CU_ASSERT_EQUAL(ddio_map_runs(map, 0, UINT64_MAX, false, count_run, &runs), 0);
	CU_ASSERT_EQUAL(runs, 1);
	CU_ASSERT_EQUAL(ddio_map_msg_size(map, 0, 1008, 1000 + 48 * 10 + 4), 16 * 10 - 8 + 4);
	ddio_map_free(map);
}

/* Entries that touch become one piece. */
static void test_list_joins(void)
{
	struct ddio_extent list[5] = { { 0, 8 }, { 8, 0 }, { 8, 3 }, { 11, 50 }, { 61, 1 } };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 5, .list = list };
	struct ddio_map *map = NULL;
	uint64_t runs = 0;

	CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(&part, 1, &map, NULL), 0);
	CU_ASSERT_EQUAL(ddio_map_runs(map, 0, UINT64_MAX, false, count_run, &runs), 0);
	CU_ASSERT_EQUAL(runs, 1);
	CU_ASSERT_EQUAL(ddio_map_msg_size(map, 0, 0, 100), 62);
	ddio_map_free(map);
}

static void check_union(const struct ddio_strided *strided, uint32_t nprocs, uint64_t covered,
			bool overlap)
{
	struct ddio_part part[8] = { { 0 } };
	struct ddio_map *map = NULL;
	uint32_t first, second, p;
	uint64_t at;

	for (p = 0; p < nprocs; p++) {
		part[p].kind = DDIO_PART_STRIDED;
		part[p].n = 1;
		part[p].strided = &strided[p];
	}
	CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(part, nprocs, &map, NULL), 0);
	CU_ASSERT_EQUAL(ddio_map_covered(map, 0, UINT64_MAX), covered);
	CU_ASSERT_EQUAL(ddio_map_check_overlap(map, &at, &first, &second), overlap);
	ddio_map_free(map);
}

/* Parts with the same first and last byte that differ inside. */
static void test_alike(void)
{
	struct ddio_strided s[2] = {
		{ .len = 4, .nlevels = 1, .level = { { 3, 50 } } },
		{ .len = 4, .nlevels = 1, .level = { { 2, 100 } } },
	};

	check_union(s, 2, 12, true);
	s[1].level[0] = (struct ddio_level){ 5, 25 };
	check_union(s, 2, 20, true);
	s[0] = (struct ddio_strided){ .len = 4, .nlevels = 2, .level = { { 3, 50 }, { 2, 10 } } };
	s[1] = (struct ddio_strided){ .len = 4, .nlevels = 2, .level = { { 2, 100 }, { 2, 10 } } };
	check_union(s, 2, 24, true);
	s[1] = (struct ddio_strided){ .len = 14, .nlevels = 1, .level = { { 2, 100 } } };
	check_union(s, 2, 36, true);
	s[0] = (struct ddio_strided){ .len = 114 };
	check_union(s, 2, 114, true);
}

/* Two rows of two tiles each: apart, until a fifth part lies over the last of them. */
static void test_tiles(void)
{
	struct ddio_strided s[5];
	uint32_t p;

	memset(s, 0, sizeof(s));
	for (p = 0; p < 5; p++) {
		s[p].offset = p / 2 % 2 * 100 + p % 2 * 8;
		s[p].len = 8;
		s[p].nlevels = 2;
		s[p].level[0] = (struct ddio_level){ 1000, 200 };
		s[p].level[1] = (struct ddio_level){ 5, 16 };
	}
	check_union(s, 4, 4 * 1000 * 40, false);
	s[4].offset = 100 + 80 + 12; /* to the right of the second row */
	s[4].nlevels = 1;
	check_union(s, 5, 4 * 1000 * 40 + 1000 * 8, false);
	s[4].offset = 100 + 72 + 4; /* half on its last tile */
	check_union(s, 5, 4 * 1000 * 40 + 1000 * 4, true);
	s[4].offset = 72 + 4; /* half on the first row */
	check_union(s, 5, 4 * 1000 * 40 + 1000 * 4, true);
}

/* Two nests that would meet at the 500th piece of the second, which has only 400. */
static void test_near_miss(void)
{
	struct ddio_strided s[2] = {
		{ .len = 1, .nlevels = 1, .level = { { 100000, 1000 } } },
		{ .offset = 500, .len = 1, .nlevels = 1, .level = { { 400, 1001 } } },
	};

	check_union(s, 2, 100400, false);
	s[1].level[0].count = 501;
	check_union(s, 2, 100500, true);
}

#define LARGE_CASES 25
#define LARGE_PROCS 4

/* How many processes name each byte; true if a part fits in the file. */
static bool large_expand(const struct ddio_strided *s, unsigned char *holders, uint64_t bytes)
{
	uint64_t i, j, b, at;

	if (gen_nest_end(s) > bytes)
		return false;
	for (i = 0; i < s->level[0].count; i++)
		for (j = 0; j < s->level[1].count; j++)
			for (b = 0; b < s->len; b++) {
				at = s->offset + i * (uint64_t)s->level[0].stride +
				     j * (uint64_t)s->level[1].stride + b;
				holders[at]++;
			}
	return true;
}

static uint64_t large_check(struct twin_rng *rng, const struct ddio_map *map,
			    const unsigned char *holders, uint64_t bytes, bool overlap)
{
	uint32_t first, second;
	uint64_t faults = 0;
	uint64_t lo, hi, at, n, f;
	int i;

	faults += ddio_map_check_overlap(map, &at, &first, &second) != overlap;
	if (overlap)
		faults += holders[at] < 2 || first >= second ||
			  !ddio_map_msg_size(map, first, at, at + 1) ||
			  !ddio_map_msg_size(map, second, at, at + 1);
	for (i = 0; i < 20; i++) {
		lo = twin_pick(rng, 0, bytes);
		hi = lo + twin_pick(rng, 0, i ? 3000 : bytes);
		n = 0;
		for (f = lo; f < hi && f < bytes; f++)
			n += holders[f] > 0;
		faults += n != ddio_map_covered(map, lo, hi);
		if (!ddio_map_next(map, lo, &at, &n))
			at = n = bytes;
		for (f = lo; f < at; f++)
			faults += holders[f] != 0;
		for (; f < n; f++)
			faults += !holders[f];
	}
	return faults;
}

/* Nests of many pieces, some of which overlap: they stay nests. */
static void test_large_overlaps(void)
{
	enum { BYTES = 4 << 20 };
	struct ddio_strided s[LARGE_PROCS];
	struct ddio_part part[LARGE_PROCS];
	unsigned char *holders = malloc(BYTES);
	struct ddio_map *map = NULL;
	uint32_t p, overlaps = 0, large = 0;
	uint64_t n, f, cases_run = ut_rounds(LARGE_CASES);

	CU_ASSERT_FATAL(holders != NULL);
	for (n = 0; n < cases_run; n++) {
		struct twin_rng rng = { seed + n * 1000003 };
		uint64_t stride = twin_pick(&rng, 6, 12);
		uint64_t count = twin_pick(&rng, 300, 540);
		bool overlap = false;

		memset(s, 0, sizeof(s));
		memset(part, 0, sizeof(part));
		memset(holders, 0, BYTES);
		for (p = 0; p < LARGE_PROCS; p++) {
			s[p].offset = twin_pick(&rng, 0, 9) + (twin_chance(&rng, 20) ? 2000000 : 0);
			s[p].len = twin_pick(&rng, 1, 3);
			s[p].nlevels = 2;
			s[p].level[0] = (struct ddio_level){ count - p, count * 14 + p % 2 };
			s[p].level[1] = (struct ddio_level){ count, stride + p / 2 };
			part[p].kind = DDIO_PART_STRIDED;
			part[p].strided = &s[p];
			part[p].n = large_expand(&s[p], holders, BYTES);
			large += part[p].n && count * count > 65536;
		}
		for (f = 0; f < BYTES; f++)
			overlap |= holders[f] > 1;
		overlaps += overlap;
		CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(part, LARGE_PROCS, &map, NULL), 0);
		CU_ASSERT_EQUAL(large_check(&rng, map, holders, BYTES, overlap), 0);
		ddio_map_free(map);
	}
	CU_ASSERT(cases_run < LARGE_CASES || (overlaps > 2 && large > 2));
	free(holders);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "random parts agree with the twin", test_random },
		{ "empty parts", test_empty },
		{ "huge nests in few steps", test_huge_nests },
		{ "too many pieces", test_too_many_pieces },
		{ "lists at one distance", test_list_rows },
		{ "lists that touch", test_list_joins },
		{ "parts that look alike", test_alike },
		{ "tiles", test_tiles },
		{ "nests that nearly meet", test_near_miss },
		{ "large nests that overlap", test_large_overlaps },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "parts", cases } };

	seed = twin_seed("test_map_parts");
	return ut_run("test_map_parts", suites, 1);
}
