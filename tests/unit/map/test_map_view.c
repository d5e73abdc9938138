// SPDX-License-Identifier: GPL-2.0-only
/* Views of trees, in files and in memory, against a naive walk. */
#include "map/map_priv.h"
#include "tree_gen.h"

#define CASES 6000

static uint64_t seed;

struct view_tally {
	uint64_t good, twice, overlap, shuffled, trees;
};

static void count_shares(const struct ddio_map *map, struct view_tally *tally)
{
	bool monotone = true;
	uint64_t i;
	uint32_t p;

	for (p = 0; p < map->nprocs; p++) {
		const struct map_share *share = &map->parts.share[p];

		monotone &= share->monotone;
		for (i = 0; i < share->items.n; i++)
			tally->trees += share->items.item[i].len == ITEM_TREE;
	}
	tally->shuffled += !monotone;
}

static uint64_t check_case(struct twin_rng *rng, struct gen_views *c, struct view_tally *tally)
{
	struct ddio_map *map = NULL;
	const char *why = "";
	uint32_t first, second;
	struct map_twin t;
	uint64_t faults = 0, at;
	bool far;
	int want = gen_views_expand(c, &t, &far), rc;

	if (!far) {
		rc = ddio_map_new_parts(c->part, c->nprocs, &map, &why);
		faults = rc != want;
		tally->twice += want != 0;
	}
	if (map && !faults) {
		tally->good++;
		tally->overlap += ddio_map_check_overlap(map, &at, &first, &second);
		count_shares(map, tally);
		faults = twin_check_map(&t, map, rng,
					ddio_map_check_overlap(map, &at, &first, &second));
	}
	ddio_map_free(map);
	twin_destroy(&t);
	return faults;
}

static void print_view(uint32_t p, const struct ddio_view *v)
{
	uint64_t i;

	printf("  %u: offset %" PRIu64 " extent %" PRIu64 " skip %" PRIu64 " len %" PRIu64 "\n", p,
	       v->offset, v->extent, v->skip, v->len);
	for (i = 0; v->tree && i < v->tree->nnodes; i++)
		printf("    %" PRIu64 ": kind %u n %" PRIu64 " stride %" PRId64 " child %" PRIu64
		       "\n",
		       i, v->tree->node[i].kind, v->tree->node[i].n, v->tree->node[i].stride,
		       v->tree->node[i].child);
	for (i = 0; v->tree && i < v->tree->nchildren; i++)
		printf("    [%" PRIu64 "] at %" PRId64 " node %" PRIu64 "\n", i,
		       v->tree->child[i].offset, v->tree->child[i].node);
}

static void test_random(void)
{
	struct gen_views *c = malloc(sizeof(*c));
	uint64_t n, i, rounds = ut_rounds(CASES);
	struct view_tally tally = { 0 };
	uint32_t p;

	for (n = 0; c && n < rounds; n++) {
		struct twin_rng rng = { seed + n * 1000003 };
		uint64_t faults;

		gen_views(&rng, c);
		faults = check_case(&rng, c, &tally);
		CU_ASSERT_EQUAL(faults, 0);
		if (!faults)
			continue;
		printf("case %" PRIu64 ": nprocs %u\n", n, c->nprocs);
		for (p = 0; p < c->nprocs; p++)
			for (i = 0; i < c->part[p].n; i++)
				print_view(p, &c->view[p][i]);
		break;
	}
	free(c);
	printf("%" PRIu64 " good, %" PRIu64 " twice, %" PRIu64 " overlap, %" PRIu64
	       " shuffled, %" PRIu64 " trees\n",
	       tally.good, tally.twice, tally.overlap, tally.shuffled, tally.trees);
	CU_ASSERT(tally.good > rounds / 3);
	CU_ASSERT(tally.twice > rounds / 200);
	CU_ASSERT(tally.overlap > rounds / 50);
	CU_ASSERT(tally.shuffled > rounds / 200);
	CU_ASSERT(tally.trees > rounds / 10);
}

/*
 * Bytes that are named more than once: the same as of lists of the same bytes
 */
struct lists {
	struct ddio_extent list[GEN_VIEWS_PROCS][4 * GEN_TREE_BYTES * 3];
	struct ddio_part part[GEN_VIEWS_PROCS];
};

struct list_taker {
	struct ddio_part *part;
	struct ddio_extent *list;
	bool far;
};

static bool take_extent(void *arg, uint64_t addr)
{
	struct list_taker *to = arg;
	struct ddio_extent *last = to->part->n ? &to->list[to->part->n - 1] : NULL;

	to->far = addr >= GEN_VIEWS_BYTES;
	if (last && last->offset + last->len == addr)
		last->len++;
	else if (!to->far)
		to->list[to->part->n++] = (struct ddio_extent){ addr, 1 };
	return !to->far;
}

/* Writes down the bytes of all views.  Returns false if some are far away. */
static bool lists_make(const struct gen_views *c, struct lists *l)
{
	uint32_t p;
	uint64_t i;

	for (p = 0; p < c->nprocs; p++) {
		struct list_taker to = { &l->part[p], l->list[p], false };

		l->part[p] = (struct ddio_part){ .kind = DDIO_PART_LIST, .list = l->list[p] };
		for (i = 0; i < c->part[p].n; i++)
			if (!gen_walk_view(&c->view[p][i], take_extent, &to))
				return false;
	}
	return true;
}

/* Compares what two maps say of one process. */
static uint64_t compare_share(struct twin_rng *rng, const struct ddio_map *a,
			      const struct ddio_map *b, uint32_t p)
{
	unsigned char block[GEN_VIEWS_BYTES], got[2][GEN_VIEWS_BYTES + 1] = { { 0 } };
	uint64_t lo = twin_pick(rng, 0, GEN_VIEWS_BYTES), hi = twin_pick(rng, lo, GEN_VIEWS_BYTES);
	void *msg_a[GEN_VIEWS_PROCS] = { NULL }, *msg_b[GEN_VIEWS_PROCS] = { NULL };
	uint64_t faults, i;

	for (i = 0; i < GEN_VIEWS_BYTES; i++)
		block[i] = twin_byte(0, i);
	msg_a[p] = got[0];
	msg_b[p] = got[1];
	faults = ddio_map_msg_size(a, p, lo, hi) != ddio_map_msg_size(b, p, lo, hi);
	faults += ddio_map_share_size(a, p) != ddio_map_share_size(b, p);
	faults += ddio_map_again_size(a, p) != ddio_map_again_size(b, p);
	faults += ddio_map_pack(a, lo, hi, block + lo, msg_a) != 0;
	faults += ddio_map_pack(b, lo, hi, block + lo, msg_b) != 0;
	return faults + (memcmp(got[0], got[1], sizeof(got[0])) != 0);
}

static uint64_t compare_maps(struct twin_rng *rng, const struct ddio_map *a,
			     const struct ddio_map *b, uint32_t nprocs)
{
	uint64_t faults = ddio_map_claims(a) != ddio_map_claims(b), i, lo;
	uint32_t p;

	for (i = 0; i < ddio_map_claims(a) && !faults; i++) {
		struct ddio_map_claim x = ddio_map_claim(a, i), y = ddio_map_claim(b, i);

		faults += x.off != y.off || x.len != y.len || x.proc != y.proc;
	}
	for (p = 0; p < nprocs; p++)
		faults += compare_share(rng, a, b, p);
	lo = twin_pick(rng, 0, GEN_VIEWS_BYTES);
	return faults + (ddio_map_covered(a, lo, lo + 100) != ddio_map_covered(b, lo, lo + 100));
}

/* The view of process 0 alone, told what others have, is what is left of it in the map of all. */
static uint64_t check_yield(struct twin_rng *rng, const struct gen_views *c,
			    const struct ddio_map *all)
{
	uint64_t n = ddio_map_claims(all), i, faults = 0;
	struct ddio_map_claim *claim = malloc((n + 1) * sizeof(*claim));
	struct ddio_part part[GEN_VIEWS_PROCS];
	uint32_t p = (uint32_t)twin_pick(rng, 0, c->nprocs - 1);
	struct ddio_map *own = NULL;

	for (i = 0; i < GEN_VIEWS_PROCS; i++)
		part[i] = (struct ddio_part){ .kind = DDIO_PART_VIEW };
	part[p] = c->part[p];
	for (i = 0; i < n; i++)
		claim[i] = ddio_map_claim(all, i);
	faults = ddio_map_new_overlapping(part, c->nprocs, MAP_TWICE | MAP_AGAIN, &own, NULL) != 0;
	if (!faults)
		faults = ddio_map_yield(own, p, claim, n) != 0;
	if (!faults)
		faults = compare_share(rng, all, own, p);
	ddio_map_free(own);
	free(claim);
	return faults;
}

static void test_overlapping(void)
{
	struct gen_views *c = malloc(sizeof(*c));
	struct lists *l = calloc(1, sizeof(*l));
	uint64_t n, claimed = 0, rounds = ut_rounds(CASES / 2);

	for (n = 0; c && l && n < rounds; n++) {
		struct twin_rng rng = { seed + n * 31337 };
		uint32_t rules = MAP_TWICE | MAP_AGAIN | (n & 1 ? MAP_LOWEST : 0);
		struct ddio_map *a = NULL, *b = NULL;
		uint64_t faults;

		gen_views(&rng, c);
		if (!lists_make(c, l))
			continue;
		faults = ddio_map_new_overlapping(c->part, c->nprocs, rules, &a, NULL) != 0;
		faults += ddio_map_new_overlapping(l->part, c->nprocs, rules, &b, NULL) != 0;
		if (!faults)
			faults = compare_maps(&rng, a, b, c->nprocs);
		if (!faults && rules & MAP_LOWEST)
			faults = check_yield(&rng, c, a);
		if (a)
			claimed += ddio_map_claims(a) > 0;
		ddio_map_free(a);
		ddio_map_free(b);
		CU_ASSERT_EQUAL(faults, 0);
		if (faults) {
			printf("overlapping case %" PRIu64 "\n", n);
			break;
		}
	}
	CU_ASSERT(claimed > rounds / 50);
	free(c);
	free(l);
}

/*
 * Memory
 */
#define MEM_BYTES 4096

struct memory_places {
	uint64_t at[MEM_BYTES];
	uint64_t n;
	bool below;
};

static bool take_memory(void *arg, uint64_t addr)
{
	struct memory_places *to = arg;

	if (addr >= MEM_BYTES || to->n == MEM_BYTES) {
		to->below = true;
		return false;
	}
	to->at[to->n++] = addr;
	return true;
}

/* The message for some of the file goes to memory and comes back. */
static uint64_t check_memmap(struct twin_rng *rng, const struct ddio_memmap *memmap,
			     const struct memory_places *m)
{
	unsigned char mem[MEM_BYTES] = { 0 }, msg[MEM_BYTES], want[MEM_BYTES] = { 0 };
	uint64_t lo = twin_pick(rng, 0, m->n), hi = twin_pick(rng, lo, m->n), i;
	uint64_t faults = 0;
	bool same = true;

	for (i = 0; i < MEM_BYTES; i++)
		mem[i] = twin_byte(1, i);
	ddio_memmap_pack(memmap, lo, hi, true, msg, mem);
	for (i = lo; i < hi; i++)
		faults += msg[i - lo] != twin_byte(1, m->at[i]);
	memset(mem, 0, sizeof(mem));
	for (i = 0; i < hi - lo; i++)
		msg[i] = twin_byte(2, i);
	ddio_memmap_unpack(memmap, lo, hi, msg, mem);
	/* A place that several bytes go to has one of them. */
	for (i = lo; i < hi; i++) {
		same &= !want[m->at[i]];
		want[m->at[i]] = twin_byte(2, i - lo);
	}
	for (i = 0; i < MEM_BYTES; i++)
		faults += same ? mem[i] != want[i] : !mem[i] != !want[i];
	return faults;
}

static uint64_t check_memory(struct twin_rng *rng, uint64_t *kept)
{
	struct gen_tree g[2];
	struct ddio_view view[2];
	struct ddio_extent extent = { 0 };
	struct ddio_part part = { .kind = DDIO_PART_LIST, .n = 1, .list = &extent };
	struct ddio_memory memory = { .kind = DDIO_MEMORY_VIEW, .nstrided = 2, .view = view };
	struct ddio_memmap *memmap = NULL;
	struct ddio_map *map = NULL;
	const char *why = "";
	struct memory_places m = { .n = 0 };
	uint64_t faults, span, most = 0, i;

	for (i = 0; i < 2; i++) {
		gen_tree(rng, &g[i], GEN_WILD);
		gen_view(rng, &g[i], twin_pick(rng, 0, 50), GEN_WILD, &view[i]);
		if (!m.below)
			gen_walk_view(&view[i], take_memory, &m);
	}
	extent.len = m.n;
	for (i = 0; i < m.n; i++)
		if (m.at[i] >= most)
			most = m.at[i] + 1;
	if (m.below || ddio_map_new_parts(&part, 1, &map, &why))
		return 0;
	++*kept;
	faults = ddio_memmap_new(map, 0, &memory, &memmap, &span, &why) != 0;
	if (!faults)
		faults = (span != most) + check_memmap(rng, memmap, &m) +
			 check_memmap(rng, memmap, &m);
	ddio_memmap_free(memmap);
	ddio_map_free(map);
	return faults;
}

static void test_memory(void)
{
	uint64_t n, kept = 0, rounds = ut_rounds(CASES);

	for (n = 0; n < rounds; n++) {
		struct twin_rng rng = { seed + n * 77773 };
		uint64_t faults = check_memory(&rng, &kept);

		CU_ASSERT_EQUAL(faults, 0);
		if (faults) {
			printf("memory case %" PRIu64 "\n", n);
			break;
		}
	}
	CU_ASSERT(kept > rounds / 2);
}

/*
 * Costs
 */

/* Pairs of 8 bytes with a hole, dealt to @nprocs processes: @pieces pieces each. */
static struct ddio_map *pairs_map(uint32_t nprocs, uint64_t pieces)
{
	static const struct ddio_tree_node node[] = {
		{ .kind = DDIO_TREE_LEAF, .n = 8 },
		{ .kind = DDIO_TREE_SEQUENCE, .n = 3 },
	};
	static const struct ddio_tree_child child[] = { { 0, 0 }, { 16, 0 }, { 48, 0 } };
	static const struct ddio_tree tree = { 2, node, 3, child };
	struct ddio_view view[16];
	struct ddio_part part[16];
	struct ddio_map *map = NULL;
	uint32_t p;

	for (p = 0; p < nprocs; p++) {
		view[p] = (struct ddio_view){ &tree, 64 * p, 64 * nprocs, 8, pieces * 8 };
		part[p] = (struct ddio_part){ .kind = DDIO_PART_VIEW, .n = 1, .view = &view[p] };
	}
	CU_ASSERT_EQUAL(ddio_map_new_parts(part, nprocs, &map, NULL), 0);
	return map;
}

/* Returns the bytes that the map of @pieces pieces each is kept in. */
static uint64_t map_bytes(uint64_t pieces)
{
	struct ddio_map *map = pairs_map(16, pieces);
	uint64_t sum = map->parts.all.room * sizeof(*map->parts.all.cluster) +
		       map->parts.all.items.room * sizeof(struct item);
	uint32_t p;

	for (p = 0; p < map->nprocs; p++) {
		const struct items *items = &map->parts.share[p].items;
		const struct tree_form *form = items->item[0].tree->form;

		CU_ASSERT(items->n == 1 && items->item[0].len == ITEM_TREE);
		sum += items->room * sizeof(struct item) + sizeof(*form) +
		       sizeof(*items->item[0].tree) + form->room * sizeof(*form->node) +
		       form->nchildren * sizeof(*form->child);
	}
	ddio_map_free(map);
	return sum;
}

/* 1 GB in pieces of 8 bytes is kept in as little memory as 3 KB. */
static void test_memory_of_large(void)
{
	uint64_t small = map_bytes(384);

	CU_ASSERT_EQUAL(map_bytes(UINT64_C(1) << 27), small);
	CU_ASSERT(small < 48 * 1024);
}

static int count_run(void *arg, const struct ddio_map_run *run)
{
	(void)run;
	++*(uint64_t *)arg;
	return 0;
}

/* A block of 1 MB in the middle: three runs with levels a process, and a few for its ends. */
static void test_runs_of_large(void)
{
	struct ddio_map *map = pairs_map(16, UINT64_C(1) << 27);
	uint64_t lo = (UINT64_C(1) << 34) + 100, runs = 0, at, start, end;
	uint32_t first, second;

	CU_ASSERT_FATAL(map != NULL);
	CU_ASSERT(!ddio_map_check_overlap(map, &at, &first, &second));
	CU_ASSERT_EQUAL(ddio_map_share_size(map, 15), UINT64_C(1) << 30);
	CU_ASSERT_EQUAL(ddio_map_runs(map, lo, lo + (1 << 20), false, count_run, &runs), 0);
	CU_ASSERT(runs >= 16 * 3 && runs <= 16 * 9);
	CU_ASSERT_EQUAL(ddio_map_covered(map, 1 << 20, 2 << 20), (1 << 20) / 64 * 24);
	CU_ASSERT(ddio_map_next(map, 1 << 20, &start, &end));
	CU_ASSERT(start == 1 << 20 && end == (1 << 20) + 8);
	ddio_map_free(map);
}

static int try_tree(const struct ddio_tree_node *node, uint64_t nnodes,
		    const struct ddio_tree_child *child, uint64_t nchildren, const char **why)
{
	struct ddio_tree tree = { nnodes, node, nchildren, child };
	struct ddio_view view = { &tree, 0, 1 << 20, 0, 1 };
	struct ddio_part part = { .kind = DDIO_PART_VIEW, .n = 1, .view = &view };
	struct ddio_map *map = NULL;
	int rc = ddio_map_new_parts(&part, 1, &map, why);

	ddio_map_free(map);
	return rc;
}

/* 31 sequences of twice the one before and a byte: 2^32 leaves, and a view of most of them. */
static void test_doubling(void)
{
	struct ddio_tree_node node[32] = { { .kind = DDIO_TREE_LEAF, .n = 1 } };
	struct ddio_tree_child child[93];
	struct ddio_tree tree = { 32, node, 93, child };
	struct ddio_view view = { &tree, 0, 0, 1000, (UINT64_C(1) << 32) - 2000 };
	struct ddio_part part = { .kind = DDIO_PART_VIEW, .n = 1, .view = &view };
	struct ddio_map *map = NULL;
	uint64_t i, runs = 0, start, end;
	int64_t far = 1;

	for (i = 1; i < 32; i++) {
		far *= 3;
		node[i] = (struct ddio_tree_node){ .kind = DDIO_TREE_SEQUENCE,
						   .n = 3,
						   .child = 3 * (i - 1) };
		child[3 * i - 3] = (struct ddio_tree_child){ 0, i - 1 };
		child[3 * i - 2] = (struct ddio_tree_child){ far, i - 1 };
		child[3 * i - 1] = (struct ddio_tree_child){ 2 * far, 0 };
	}
	CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(&part, 1, &map, NULL), 0);
	CU_ASSERT_EQUAL(ddio_map_msg_size(map, 0, 0, UINT64_MAX), view.len);
	CU_ASSERT_FATAL(ddio_map_next(map, UINT64_C(1) << 40, &start, &end));
	CU_ASSERT_EQUAL(ddio_map_runs(map, start, start + 4096, false, count_run, &runs), 0);
	CU_ASSERT(runs > 0 && runs <= 4096);
	ddio_map_free(map);
}

/* Windows that begin and end with whole repetitions of an inner node: they are nests, and where they should be. */
static void test_windows(void)
{
	static const struct ddio_tree_node node[] = {
		{ .kind = DDIO_TREE_LEAF, .n = 2 },
		{ .kind = DDIO_TREE_REPEAT, .n = 4, .stride = 3, .child = 0 },
		{ .kind = DDIO_TREE_REPEAT, .n = 5, .stride = 100, .child = 1 },
	};
	static const struct {
		struct ddio_view view;
		uint64_t lo, hi;
	} want[] = {
		{ { NULL, 0, 1000, 2, 4 }, 3, 8 },	       /* two of the four */
		{ { NULL, 7, 1000, 8, 16 }, 107, 218 },	       /* two of the five */
		{ { NULL, 7, 1000, 40 + 18, 2 }, 1210, 1212 }, /* one leaf of the second tile */
		{ { NULL, 7, 1000, 40, 80 }, 1007, 2418 },     /* the second and the third tile */
	};
	struct ddio_tree tree = { 3, node, 0, NULL };
	uint64_t i, lo, hi;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct ddio_view view = want[i].view;
		struct ddio_part part = { .kind = DDIO_PART_VIEW, .n = 1, .view = &view };
		struct ddio_map *map = NULL;

		view.tree = &tree;
		CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(&part, 1, &map, NULL), 0);
		CU_ASSERT_EQUAL(map->parts.share[0].items.n, 1);
		CU_ASSERT_NOT_EQUAL(map->parts.share[0].items.item[0].len, ITEM_TREE);
		ddio_map_bounds(map, &lo, &hi);
		CU_ASSERT_EQUAL(lo, want[i].lo);
		CU_ASSERT_EQUAL(hi, want[i].hi);
		CU_ASSERT_EQUAL(ddio_map_covered(map, 0, UINT64_MAX), view.len);
		ddio_map_free(map);
	}
}

/* Backwards from byte 4: down to 0, but not below. */
static void test_backwards(void)
{
	static const struct ddio_tree_node node[] = {
		{ .kind = DDIO_TREE_LEAF, .n = 1 },
		{ .kind = DDIO_TREE_REPEAT, .n = 3, .stride = -2, .child = 0 },
	};
	static const struct ddio_tree tree = { 2, node, 0, NULL };
	struct ddio_view view = { &tree, 4, 0, 0, 3 };
	struct ddio_part part = { .kind = DDIO_PART_VIEW, .n = 1, .view = &view };
	struct ddio_memory memory = { .kind = DDIO_MEMORY_VIEW, .nstrided = 1, .view = &view };
	struct ddio_memmap *memmap = NULL;
	struct ddio_map *map = NULL, *none = NULL;
	const char *why = "";
	uint64_t lo, hi, span;

	CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(&part, 1, &map, NULL), 0);
	ddio_map_bounds(map, &lo, &hi);
	CU_ASSERT(lo == 0 && hi == 5);
	CU_ASSERT_EQUAL(ddio_memmap_new(map, 0, &memory, &memmap, &span, &why), 0);
	CU_ASSERT_EQUAL(span, 5);
	ddio_memmap_free(memmap);
	view.offset = 3;
	CU_ASSERT_EQUAL(ddio_memmap_new(map, 0, &memory, &memmap, &span, &why), -EINVAL);
	CU_ASSERT_STRING_EQUAL(why, "view: it reaches below offset 0");
	CU_ASSERT_EQUAL(ddio_map_new_parts(&part, 1, &none, &why), -EINVAL);
	ddio_map_free(map);
}

/* What touches is in order, and stays a tree; what overlaps by a byte is not. */
static void test_touching(void)
{
	static const struct ddio_tree_child child[] = { { 0, 0 }, { 4, 1 } };
	struct ddio_tree_node node[] = {
		{ .kind = DDIO_TREE_LEAF, .n = 2 },
		{ .kind = DDIO_TREE_LEAF, .n = 1 },
		{ .kind = DDIO_TREE_SEQUENCE, .n = 2 },
		{ .kind = DDIO_TREE_REPEAT, .n = 3, .stride = 5, .child = 2 },
	};
	struct ddio_tree tree = { 4, node, 2, child };
	struct ddio_view view = { &tree, 0, 15, 0, 18 };
	struct ddio_part part = { .kind = DDIO_PART_VIEW, .n = 1, .view = &view };
	struct ddio_map *map = NULL;

	CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(&part, 1, &map, NULL), 0);
	CU_ASSERT_EQUAL(map->parts.share[0].items.item[0].len, ITEM_TREE);
	ddio_map_free(map);
	node[3].stride = 4;
	CU_ASSERT_EQUAL(ddio_map_new_parts(&part, 1, &map, NULL), -EINVAL);
}

/* Equal entries at one distance are a repetition; at two they are not. */
static void test_even(void)
{
	static const struct ddio_tree_node node[] = {
		{ .kind = DDIO_TREE_LEAF, .n = 2 },
		{ .kind = DDIO_TREE_SEQUENCE, .n = 3 },
	};
	struct ddio_tree_child child[] = { { 0, 0 }, { 5, 0 }, { 10, 0 } };
	struct ddio_tree tree = { 2, node, 3, child };
	struct ddio_view view = { &tree, 0, 15, 0, 12 };
	struct ddio_part part = { .kind = DDIO_PART_VIEW, .n = 1, .view = &view };
	struct ddio_map *map = NULL;
	uint64_t lo, hi;

	CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(&part, 1, &map, NULL), 0);
	CU_ASSERT_NOT_EQUAL(map->parts.share[0].items.item[0].len, ITEM_TREE);
	ddio_map_free(map);
	child[2].offset = 11;
	CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(&part, 1, &map, NULL), 0);
	CU_ASSERT_EQUAL(map->parts.share[0].items.item[0].len, ITEM_TREE);
	ddio_map_bounds(map, &lo, &hi);
	CU_ASSERT(lo == 0 && hi == 28);
	ddio_map_free(map);
}

/* Members whose trees are the same have one form; any difference makes another. */
static void test_same_forms(void)
{
	static const struct ddio_tree_node node[2][2] = {
		{ { .kind = DDIO_TREE_LEAF, .n = 2 }, { .kind = DDIO_TREE_SEQUENCE, .n = 3 } },
		{ { .kind = DDIO_TREE_LEAF, .n = 2 }, { .kind = DDIO_TREE_SEQUENCE, .n = 3 } },
	};
	static const struct ddio_tree_node other[] = { { .kind = DDIO_TREE_LEAF, .n = 3 },
						       { .kind = DDIO_TREE_SEQUENCE, .n = 3 } };
	static const struct ddio_tree_child child[3][4] = {
		{ { 0, 0 }, { 5, 0 }, { 12, 0 } },
		{ { 0, 0 }, { 5, 0 }, { 12, 0 } },
		{ { 0, 0 }, { 5, 0 }, { 13, 0 } },
	};
	const struct ddio_tree tree[] = { { 2, node[0], 3, child[0] }, { 2, node[1], 3, child[1] },
					  { 2, node[0], 3, child[2] }, { 2, node[0], 4, child[2] },
					  { 2, other, 4, child[2] },   { 2, node[0], 3, child[0] } };
	const struct tree_form *form[6];
	struct ddio_view view[6];
	struct ddio_part part[6];
	struct ddio_map *map = NULL;
	uint32_t i;

	for (i = 0; i < 6; i++) {
		view[i] = (struct ddio_view){ &tree[i], 100 * i, 20, 0, tree[i].node[0].n * 6 };
		part[i] = (struct ddio_part){ .kind = DDIO_PART_VIEW, .n = 1, .view = &view[i] };
	}
	CU_ASSERT_EQUAL_FATAL(ddio_map_new_parts(part, 6, &map, NULL), 0);
	for (i = 0; i < 6; i++)
		form[i] = map->parts.share[i].items.item[0].tree->form;
	CU_ASSERT_PTR_EQUAL(form[0], form[1]);
	for (i = 2; i < 6; i++)
		CU_ASSERT_PTR_NOT_EQUAL(form[i], form[i - 1]);
	CU_ASSERT_EQUAL(map->parts.share[1].items.item[0].hi, 100 + 20 + 14);
	CU_ASSERT_EQUAL(map->parts.share[2].items.item[0].hi, 200 + 20 + 15);
	CU_ASSERT_EQUAL(map->parts.share[4].items.item[0].hi, 400 + 20 + 16);
	ddio_map_free(map);
}

/* A wide tree whose last entry lies in front of or behind the others. */
static void wide_tree(struct ddio_tree_node *node, struct ddio_tree_child *child, uint64_t n,
		      bool behind)
{
	uint64_t i;

	node[0] = (struct ddio_tree_node){ .kind = DDIO_TREE_LEAF, .n = 1 };
	node[1] = (struct ddio_tree_node){ .kind = DDIO_TREE_SEQUENCE, .n = n };
	for (i = 0; i < n; i++)
		child[i] = (struct ddio_tree_child){ 2 + 3 * (int64_t)i, 0 };
	child[n - 1].offset = behind ? 4 * (int64_t)n : 0;
}

/*
 * A short message with many views of one wide tree: were each view looked at entry by entry, it would be 2^37 steps.
 */
static void test_many_of_wide(void)
{
	uint64_t n = 1 << 20, nviews = 1 << 17, i, round;
	struct ddio_tree_node node[2];
	struct ddio_tree_child *child = malloc(n * sizeof(*child));
	struct ddio_view *view = malloc(nviews * sizeof(*view));
	struct ddio_tree tree = { 2, node, n, child };
	struct ddio_part part = { .kind = DDIO_PART_VIEW, .n = nviews, .view = view };
	struct ddio_map *map = NULL;
	const char *why;

	for (i = 0; i < nviews; i++)
		view[i] = (struct ddio_view){ &tree, 0, 8 * n, 1, n - 2 };
	for (round = 0; round < 2; round++) {
		wide_tree(node, child, n, round);
		for (i = 0; i < nviews; i++)
			view[i].len = n - 1 - round;
		why = "";
		CU_ASSERT_EQUAL(ddio_map_new_parts(&part, 1, &map, &why), -EOVERFLOW);
		CU_ASSERT_STRING_EQUAL(why, "part: out of file order in more than 2^24 pieces");
	}
	free(child);
	free(view);
}

/* As many nodes above one another as may be, and one more; some of them have nothing. */
static void test_depth(void)
{
	struct ddio_tree_node node[DDIO_TREE_DEPTH + 1] = { { .kind = DDIO_TREE_LEAF, .n = 1 } };
	struct ddio_tree_child child = { 0 };
	const char *why = "";
	uint64_t i;

	for (i = 1; i <= DDIO_TREE_DEPTH; i++)
		node[i] = (struct ddio_tree_node){ .kind = DDIO_TREE_REPEAT,
						   .n = 1 + i % 2,
						   .stride = INT64_C(2) << i / 2,
						   .child = i - 1 };
	CU_ASSERT_EQUAL(try_tree(node, DDIO_TREE_DEPTH, NULL, 0, &why), 0);
	CU_ASSERT_EQUAL(try_tree(node, DDIO_TREE_DEPTH + 1, NULL, 0, &why), -EINVAL);
	CU_ASSERT_STRING_EQUAL(why, "tree: more than 64 nodes lie above one another");
	for (i = 1; i < 4; i++)
		node[i] = (struct ddio_tree_node){ .kind = DDIO_TREE_SEQUENCE, .n = i == 2 };
	CU_ASSERT_EQUAL(try_tree(node, 3, &child, 1, &why), 0);
	CU_ASSERT_EQUAL(try_tree(node, 4, &child, 1, &why), -EINVAL);
	CU_ASSERT_STRING_EQUAL(why, "tree: it has no bytes");
}

/*
 * What is wrong
 */
static void test_wrong_trees(void)
{
	static const struct {
		const char *why;
		int rc;
		struct ddio_tree_node node[3];
		struct ddio_tree_child child[2];
	} wrong[] = {
		{ "tree.node.kind is unknown",
		  -EINVAL,
		  { { 1, 0, 1, 0, 0 }, { 4, 0, 1, 0, 0 } },
		  { { 0 } } },
		{ "tree.node.reserved is not 0", -EINVAL, { { 1, 1, 1, 0, 0 } }, { { 0 } } },
		{ "tree.node.stride is set, but the node is no repetition",
		  -EINVAL,
		  { { 1, 0, 1, 1, 0 } },
		  { { 0 } } },
		{ "tree.node.child of a leaf is not 0", -EINVAL, { { 1, 0, 1, 0, 1 } }, { { 0 } } },
		{ "tree: a node comes before its child", -EINVAL, { { 2, 0, 1, 1, 0 } }, { { 0 } } },
		{ "tree: a node comes before its child",
		  -EINVAL,
		  { { 1, 0, 1, 0, 0 }, { 3, 0, 1, 0, 0 } },
		  { { 0, 1 } } },
		{ "tree: the entries of its sequences do not follow one another",
		  -EINVAL,
		  { { 1, 0, 1, 0, 0 }, { 3, 0, 3, 0, 0 } },
		  { { 0 } } },
		{ "tree: the entries of its sequences do not follow one another",
		  -EINVAL,
		  { { 1, 0, 1, 0, 0 }, { 3, 0, 1, 0, 0 }, { 3, 0, 1, 0, 0 } },
		  { { 0 } } },
		{ "tree: it has or spans 2^62 bytes or more",
		  -EOVERFLOW,
		  { { 1, 0, UINT64_C(1) << 62, 0, 0 } },
		  { { 0 } } },
		{ "tree: it has or spans 2^62 bytes or more",
		  -EOVERFLOW,
		  { { 1, 0, 2, 0, 0 }, { 2, 0, UINT64_C(1) << 61, 2, 0 } },
		  { { 0 } } },
		{ "tree: it has or spans 2^62 bytes or more",
		  -EOVERFLOW,
		  { { 1, 0, 2, 0, 0 }, { 2, 0, UINT64_C(1) << 61, 0, 0 }, { 3, 0, 2, 0, 0 } },
		  { { 0, 1 }, { 0, 1 } } },
		{ "tree: it has or spans 2^62 bytes or more",
		  -EOVERFLOW,
		  { { 1, 0, 2, 0, 0 }, { 2, 0, 5, INT64_MAX / 4, 0 } },
		  { { 0 } } },
		{ "tree: it has or spans 2^62 bytes or more",
		  -EOVERFLOW,
		  { { 1, 0, 2, 0, 0 }, { 3, 0, 1, 0, 0 } },
		  { { INT64_MIN, 0 } } },
		{ "tree: it has no bytes", -EINVAL, { { 1, 0, 0, 0, 0 } }, { { 0 } } },
		{ "view: it reaches below offset 0",
		  -EINVAL,
		  { { 1, 0, 1, 0, 0 }, { 3, 0, 1, 0, 0 } },
		  { { -1, 0 } } },
	};
	uint64_t i, n;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *why = "";

		for (n = 1; n < 3 && wrong[i].node[n].kind; n++)
			;
		CU_ASSERT_EQUAL(try_tree(wrong[i].node, n, wrong[i].child, 2, &why), wrong[i].rc);
		CU_ASSERT_STRING_EQUAL(why, wrong[i].why);
	}
}

static void test_wrong_views(void)
{
	static const struct ddio_tree_node leaf = { .kind = DDIO_TREE_LEAF, .n = 4 };
	static const struct ddio_tree tree = { 1, &leaf, 0, NULL }, none = { 0 };
	static const struct {
		const char *why;
		int rc;
		struct ddio_view view;
	} wrong[] = {
		{ "view.tree is missing", -EINVAL, { NULL, 0, 4, 0, 1 } },
		{ "tree: its nodes or children are missing", -EINVAL, { &none, 0, 4, 0, 1 } },
		{ "view: its last byte is beyond 2^63", -EOVERFLOW, { &tree, 0, 4, 0, UINT64_MAX } },
		{ "view: its last byte is beyond 2^63",
		  -EOVERFLOW,
		  { &tree, INT64_MAX - 2, 4, 0, 4 } },
		{ "view: its last byte is beyond 2^63",
		  -EOVERFLOW,
		  { &tree, 0, UINT64_C(1) << 60, 64, 4 } },
		{ "view: its tiles span 2^62 bytes or more",
		  -EOVERFLOW,
		  { &tree, 0, UINT64_C(1) << 60, 0, 100 } },
		{ "view.extent is above 2^63", -EOVERFLOW, { &tree, 0, UINT64_MAX, 0, 100 } },
	};
	struct ddio_map *map = NULL;
	uint64_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct ddio_part part = { .kind = DDIO_PART_VIEW, .n = 1, .view = &wrong[i].view };
		const char *why = "";

		CU_ASSERT_EQUAL(ddio_map_new_parts(&part, 1, &map, &why), wrong[i].rc);
		CU_ASSERT_STRING_EQUAL(why, wrong[i].why);
	}
}

static const struct ut_case cases[] = {
	{ "random views", test_random },
	{ "bytes named twice", test_overlapping },
	{ "random memory", test_memory },
	{ "memory of a large view", test_memory_of_large },
	{ "runs of a large view", test_runs_of_large },
	{ "doubling sequences", test_doubling },
	{ "windows", test_windows },
	{ "backwards", test_backwards },
	{ "touching", test_touching },
	{ "even", test_even },
	{ "the same forms", test_same_forms },
	{ "depth", test_depth },
	{ "many views of a wide tree", test_many_of_wide },
	{ "wrong trees", test_wrong_trees },
	{ "wrong views", test_wrong_views },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "views", cases } };

	seed = twin_seed("test_map_view");
	return ut_run("test_map_view", suites, 1);
}
