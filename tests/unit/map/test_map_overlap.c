// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes that are named more than once, by one process or by several, against a naive walk: a byte goes to the first
 * that names it.
 */
#include "map_gen.h"

#define CASES 4000

static uint64_t seed;

/**
 * struct naive - every share, byte by byte
 * @off: of each process: where the bytes of its share lie in the file, in order
 * @t: who has which byte first; the sizes are those of the shares
 */
struct naive {
	uint64_t *off[GEN_MAX_PROCS];
	uint64_t twice;
	struct map_twin t;
};

static void naive_byte(struct naive *v, uint32_t proc, uint64_t file)
{
	uint64_t *share = &v->t.share[proc * v->t.bytes + file];
	uint64_t n = v->t.size[proc]++;

	if (!(n & (n - 1)))
		v->off[proc] = realloc(v->off[proc], 2 * (n + 1) * sizeof(*v->off[proc]));
	v->off[proc][n] = file;
	if (*share == TWIN_NONE)
		*share = n;
	else
		v->twice++;
}

static void naive_entry(struct naive *v, uint32_t proc, const struct ddio_strided *s)
{
	uint64_t idx[DDIO_MAX_DIMS] = { 0 };
	uint64_t at, b;
	uint32_t d;

	if (!s->len)
		return;
	do {
		at = s->offset;
		for (d = 0; d < s->nlevels; d++)
			at += idx[d] * (uint64_t)s->level[d].stride;
		for (b = 0; b < s->len; b++)
			naive_byte(v, proc, at + b);
		for (d = s->nlevels; d-- > 0;) {
			if (++idx[d] < s->level[d].count)
				break;
			idx[d] = 0;
		}
	} while (d != UINT32_MAX);
}

/* Only for process @only, if that is one; the others want nothing. */
static void naive_init(struct naive *v, const struct gen_parts *g, uint64_t bytes, uint32_t only)
{
	uint32_t p;
	uint64_t i;

	memset(v, 0, sizeof(*v));
	twin_init(&v->t, g->nprocs, bytes);
	for (p = 0; p < g->nprocs; p++)
		for (i = 0; i < g->part[p].n && (only == UINT32_MAX || only == p); i++) {
			struct ddio_strided s = gen_entry(g, p, i);

			naive_entry(v, p, &s);
		}
}

static void naive_destroy(struct naive *v)
{
	uint32_t p;

	for (p = 0; p < v->t.nprocs; p++)
		free(v->off[p]);
	twin_destroy(&v->t);
}

/* Takes from each process what a lower one has in @of.  Returns how many bytes that are. */
static uint64_t naive_lowest(struct map_twin *t, const struct map_twin *of)
{
	uint64_t taken = 0, f;
	uint32_t p, q;

	for (f = 0; f < t->bytes; f++)
		for (p = t->nprocs; p-- > 1;) {
			for (q = 0; q < p && twin_at(of, q, f) == TWIN_NONE; q++)
				;
			if (q == p || twin_at(t, p, f) == TWIN_NONE)
				continue;
			t->share[p * t->bytes + f] = TWIN_NONE;
			taken++;
		}
	return taken;
}

static void gen_twice(struct twin_rng *rng, struct gen_parts *g, uint64_t bytes)
{
	uint32_t p;
	uint64_t i;

	for (p = 0; p < g->nprocs; p++)
		for (i = 0; i < g->part[p].n; i++) {
			if (!twin_chance(rng, 10))
				continue;
			if (g->part[p].kind == DDIO_PART_STRIDED && g->strided[p][i].nlevels)
				g->strided[p][i].level[0].stride = 0;
			else
				g->list[p][i].offset = twin_pick(rng, 0, bytes / 2 - 25);
		}
}

/* A read of one process's share of a file that may end early: every place of the share gets its byte. */
static uint64_t check_again(struct twin_rng *rng, const struct naive *v, struct ddio_map *map)
{
	uint32_t p = (uint32_t)twin_pick(rng, 0, v->t.nprocs - 1);
	uint64_t n = v->t.size[p], end = twin_pick(rng, 0, v->t.bytes + 20), span, i, len;
	struct ddio_strided s = { .len = 1, .nlevels = 1, .level = { { n, 3 } } };
	struct ddio_memory memory = { .nstrided = n > 0, .strided = &s };
	bool strided = twin_chance(rng, 50);
	unsigned char *mem = calloc(3, n + 1), *msg = calloc(1, v->t.bytes + 1);
	struct ddio_memmap *memmap = NULL;
	uint64_t faults = 0, all = 0, first = 0;

	if (ddio_memmap_new(map, p, strided ? &memory : NULL, &memmap, &span, NULL))
		return 1;
	ddio_map_clip(map, end);
	for (i = 0, len = 0; i < v->t.bytes && i < end; i++)
		if (twin_at(&v->t, p, i) != TWIN_NONE)
			msg[len++] = twin_byte(0, i);
	ddio_memmap_unpack(memmap, 0, v->t.bytes, msg, mem);
	ddio_memmap_again(memmap, mem);
	for (i = 0; i < n; i++) {
		uint64_t f = v->off[p][i];

		faults += mem[strided ? 3 * i : i] != (f < end ? twin_byte(0, f) : 0);
		all += f < end;
		first += f < end && twin_at(&v->t, p, f) == i;
	}
	faults += ddio_map_again_size(map, p) != all - first;
	ddio_memmap_free(memmap);
	free(mem);
	free(msg);
	return faults;
}

static uint64_t check_twice(struct twin_rng *rng, const struct gen_parts *g, struct naive *v)
{
	struct ddio_map *map = NULL;
	uint64_t faults;

	if (ddio_map_new_overlapping(g->part, g->nprocs, MAP_TWICE | MAP_AGAIN, &map, NULL))
		return 1;
	faults = ddio_map_overlaps(map) != !!v->twice;
	faults += twin_check_ranges(&v->t, map, rng, true, TWIN_NONE);
	faults += check_again(rng, v, map);
	ddio_map_free(map);
	return faults;
}

/* The claims are the bytes that several name, with the lowest of these. */
static uint64_t check_claims(const struct naive *v, const struct ddio_map *map)
{
	uint32_t *whose = calloc(v->t.bytes, sizeof(*whose)), p, holders;
	uint64_t faults = 0, i, f, end = 0;
	struct ddio_map_claim claim;

	for (i = 0; i < ddio_map_claims(map); i++) {
		claim = ddio_map_claim(map, i);
		faults += claim.off < end || !claim.len;
		end = claim.off + claim.len;
		for (f = claim.off; f < end && f < v->t.bytes; f++)
			whose[f] = claim.proc + 1;
	}
	for (f = 0; f < v->t.bytes; f++) {
		uint32_t want = 0;

		for (p = v->t.nprocs, holders = 0; p-- > 0;)
			if (twin_at(&v->t, p, f) != TWIN_NONE) {
				holders++;
				want = p + 1;
			}
		faults += whose[f] != (holders > 1 ? want : 0);
	}
	free(whose);
	return faults;
}

/* A process that knows only its own part and the claims has what the map of all gives it. */
static uint64_t check_yield(struct twin_rng *rng, const struct gen_parts *g, const struct naive *v,
			    const struct ddio_map *whole)
{
	uint32_t p = (uint32_t)twin_pick(rng, 0, g->nprocs - 1);
	uint64_t n = ddio_map_claims(whole), faults, i;
	struct ddio_map_claim *claim = calloc(n + 1, sizeof(*claim));
	struct ddio_part part[GEN_MAX_PROCS] = { 0 };
	struct ddio_map *map = NULL;
	struct naive own;

	for (i = 0; i < n; i++)
		claim[i] = ddio_map_claim(whole, i);
	for (i = 0; i < g->nprocs; i++)
		part[i].kind = g->part[p].kind;
	part[p] = g->part[p];
	naive_init(&own, g, v->t.bytes, p);
	naive_lowest(&own.t, &v->t);
	faults = !!ddio_map_new_overlapping(part, g->nprocs, MAP_TWICE, &map, NULL);
	faults += !!ddio_map_yield(map, p, claim, n);
	faults += twin_check_ranges(&own.t, map, rng, false, TWIN_NONE);
	ddio_map_free(map);
	naive_destroy(&own);
	free(claim);
	return faults;
}

static uint64_t check_lowest(struct twin_rng *rng, const struct gen_parts *g, struct naive *v,
			     uint64_t *taken)
{
	struct ddio_map *map = NULL;
	struct naive lowest;
	uint64_t faults;

	*taken = 0;
	if (ddio_map_new_overlapping(g->part, g->nprocs, MAP_TWICE | MAP_LOWEST, &map, NULL))
		return 1;
	naive_init(&lowest, g, v->t.bytes, UINT32_MAX);
	*taken = naive_lowest(&lowest.t, &v->t);
	faults = ddio_map_overlaps(map) != (v->twice || *taken);
	faults += check_claims(v, map);
	faults += twin_check_map(&lowest.t, map, rng, false);
	faults += check_yield(rng, g, v, map);
	ddio_map_free(map);
	naive_destroy(&lowest);
	return faults;
}

static void test_random(void)
{
	uint64_t n, cases_run = ut_rounds(CASES), faults, taken, twice = 0, lowest = 0;
	struct gen_parts *g = malloc(sizeof(*g));

	for (n = 0; g && n < cases_run; n++) {
		struct twin_rng rng = { seed + n * 1000003 };
		struct naive v;
		uint64_t bytes;

		memset(g, 0, sizeof(*g));
		bytes = gen_parts_draw(&rng, g);
		if (bytes >= 50 && twin_chance(&rng, 50))
			gen_twice(&rng, g, bytes);
		naive_init(&v, g, bytes, UINT32_MAX);
		faults = check_twice(&rng, g, &v);
		faults += check_lowest(&rng, g, &v, &taken);
		CU_ASSERT_EQUAL(faults, 0);
		if (faults)
			printf("case %" PRIu64 "\n", n);
		twice += v.twice > 0;
		lowest += taken > 0;
		naive_destroy(&v);
	}
	free(g);
	/* All kinds were met, whatever the seed. */
	CU_ASSERT(twice > cases_run / 10);
	CU_ASSERT(lowest > cases_run / 10);
}

/* Every process writes the same scalar: one claim, whatever their number. */
static void test_scalar(void)
{
	enum { PROCS = 16384 };
	struct ddio_part *part = calloc(PROCS, sizeof(*part));
	struct ddio_extent e = { 100, 8 };
	struct ddio_map *map = NULL;
	struct ddio_map_claim claim;
	uint32_t p;

	for (p = 0; p < PROCS; p++)
		part[p] = (struct ddio_part){ .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	CU_ASSERT_EQUAL_FATAL(
		ddio_map_new_overlapping(part, PROCS, MAP_TWICE | MAP_LOWEST, &map, NULL), 0);
	CU_ASSERT_EQUAL(ddio_map_claims(map), 1);
	claim = ddio_map_claim(map, 0);
	CU_ASSERT(claim.off == 100 && claim.len == 8 && claim.proc == 0);
	CU_ASSERT_EQUAL(ddio_map_put_size(map, 0, 0, 1000), 8);
	CU_ASSERT_EQUAL(ddio_map_put_size(map, 1, 0, 1000), 0);
	CU_ASSERT_EQUAL(ddio_map_put_size(map, PROCS - 1, 0, 1000), 0);
	ddio_map_free(map);
	free(part);
}

/* What a short description can ask for is bounded; claims that make no sense are refused. */
static void test_bounds(void)
{
	struct ddio_strided s[2] = {
		{ .len = 1, .nlevels = 1, .level = { { 1ull << 40, 0 } } },
		{ .len = 2, .nlevels = 1, .level = { { (1 << 20) + 1, 1 } } },
	};
	struct ddio_part part = { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &s[0] };
	struct ddio_map_claim claim[2] = { { 10, 5, 0 }, { 14, 1, 0 } };
	const char *why = "";
	struct ddio_map *map = NULL;

	CU_ASSERT_EQUAL(ddio_map_new_overlapping(&part, 1, MAP_TWICE, &map, &why), -EOVERFLOW);
	part.strided = &s[1];
	CU_ASSERT_EQUAL(ddio_map_new_overlapping(&part, 1, MAP_TWICE, &map, &why), -EOVERFLOW);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "twice"));
	s[1].level[0].count--;
	CU_ASSERT_EQUAL_FATAL(ddio_map_new_overlapping(&part, 1, MAP_TWICE, &map, &why), 0);
	CU_ASSERT_EQUAL(ddio_map_msg_size(map, 0, 0, UINT64_MAX), (1 << 20) + 1);
	CU_ASSERT_EQUAL(ddio_map_share_size(map, 0), 2 << 20);
	CU_ASSERT_EQUAL(ddio_map_yield(map, 0, claim, 2), -EINVAL);
	claim[0].len = 0;
	CU_ASSERT_EQUAL(ddio_map_yield(map, 0, claim, 1), -EINVAL);
	claim[0] = (struct ddio_map_claim){ UINT64_MAX - 2, 5, 0 };
	CU_ASSERT_EQUAL(ddio_map_yield(map, 0, claim, 1), -EINVAL);
	claim[0] = (struct ddio_map_claim){ 10, 5, 1 };
	CU_ASSERT_EQUAL(ddio_map_yield(map, 0, claim, 1), 0);
	CU_ASSERT_EQUAL(ddio_map_msg_size(map, 0, 0, UINT64_MAX), (1 << 20) - 4);
	ddio_map_free(map);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "random parts agree with a naive walk", test_random },
		{ "a scalar that all write", test_scalar },
		{ "bounds", test_bounds },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "overlaps", cases } };

	seed = twin_seed("test_map_overlap");
	return ut_run("test_map_overlap", suites, 1);
}
