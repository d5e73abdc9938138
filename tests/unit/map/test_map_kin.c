// SPDX-License-Identifier: GPL-2.0-only
/* Maps of families: those of their processes one by one, and not larger with more processes. */
#include <stdlib.h>
#include "base/rand.h"
#include "map/clan.h"
#include "map/map_priv.h"
#include "tests/unit/lib/ut.h"

#define PROCS 256

struct world {
	struct ddio_kin kin[PROCS];
	struct ddio_part first[PROCS], part[PROCS];
	struct ddio_view view[PROCS];
	struct ddio_strided strided[PROCS];
	struct ddio_extent list[PROCS][3];
	struct kin_room room[PROCS];
	uint32_t n, nprocs;
	struct ddio_map *whole, *apart;
	int rc;
};

static const struct ddio_tree_node node[] = {
	{ .kind = DDIO_TREE_LEAF, .n = 3 },
	{ .kind = DDIO_TREE_REPEAT, .n = 2, .stride = 5, .child = 0 },
	{ .kind = DDIO_TREE_LEAF, .n = 2 },
	{ .kind = DDIO_TREE_SEQUENCE, .n = 2, .child = 0 },
};
static const struct ddio_tree_child child[] = { { 0, 1 }, { 11, 2 } };
static const struct ddio_tree trees[] = { { 1, node, 0, NULL },
					  { 2, node, 0, NULL },
					  { 4, node, 2, child } };

/* Each byte that a walk tells, in the order of file offset and rank. */
struct told {
	struct told_byte {
		uint64_t file, share, msg;
		uint32_t proc;
	} byte[1 << 14];
	size_t n;
};

static void tell_levels(struct told *told, const struct ddio_map_run *run, uint32_t level,
			uint64_t file, uint64_t share, uint64_t msg)
{
	uint64_t i;

	if (level < run->nlevels) {
		for (i = 0; i < run->level[level].count; i++)
			tell_levels(told, run, level + 1, file + i * run->level[level].file_stride,
				    share + i * run->level[level].share_stride,
				    msg + i * run->level[level].share_stride);
		return;
	}
	for (i = 0; i < run->len && told->n < 1 << 14; i++)
		told->byte[told->n++] =
			(struct told_byte){ file + i, share + i, msg + i, run->proc };
}

static int tell(void *arg, const struct ddio_map_run *run)
{
	tell_levels(arg, run, 0, run->file_off, run->share_off, run->msg_off);
	return 0;
}

static int byte_compare(const void *a, const void *b)
{
	const struct told_byte *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->proc < y->proc ? -1 : x->proc > y->proc;
}

static void told_same(struct told *a, struct told *b)
{
	size_t i, bad = a->n != b->n;

	qsort(a->byte, a->n, sizeof(a->byte[0]), byte_compare);
	qsort(b->byte, b->n, sizeof(b->byte[0]), byte_compare);
	for (i = 0; i < a->n && i < b->n; i++)
		bad += a->byte[i].file != b->byte[i].file || a->byte[i].proc != b->byte[i].proc ||
		       a->byte[i].share != b->byte[i].share || a->byte[i].msg != b->byte[i].msg;
	CU_ASSERT_EQUAL(bad, 0);
}

static void compare_range(const struct world *w, uint64_t lo, uint64_t hi)
{
	static struct told a, b;
	uint64_t start[2] = { 0, 0 }, end[2];
	uint32_t p, bad = 0;

	a.n = b.n = 0;
	ddio_map_runs(w->whole, lo, hi, true, tell, &a);
	ddio_map_runs(w->apart, lo, hi, true, tell, &b);
	told_same(&a, &b);
	for (p = 0; p < w->nprocs; p++)
		bad += ddio_map_msg_size(w->whole, p, lo, hi) !=
		       ddio_map_msg_size(w->apart, p, lo, hi);
	a.n = b.n = 0;
	ddio_map_runs_of(w->whole, (uint32_t)(lo % w->nprocs), lo, hi, true, tell, &a);
	ddio_map_runs_of(w->apart, (uint32_t)(lo % w->nprocs), lo, hi, true, tell, &b);
	told_same(&a, &b);
	bad += ddio_map_covered(w->whole, lo, hi) != ddio_map_covered(w->apart, lo, hi);
	bad += ddio_map_next(w->whole, lo, &start[0], &end[0]) !=
	       ddio_map_next(w->apart, lo, &start[1], &end[1]);
	bad += start[0] != start[1];
	CU_ASSERT_EQUAL(bad, 0);
}

static void maps_make(struct world *w, uint32_t rules)
{
	const char *why;
	uint32_t k, i, at = 0;

	for (k = 0; k < w->n; k++)
		for (i = 0; i < kin_size(&w->kin[k]); i++, at++)
			CU_ASSERT_EQUAL_FATAL(kin_part(&w->kin[k], i, &w->room[at], &w->part[at]),
					      0);
	w->nprocs = at;
	w->rc = ddio_map_new_kin(w->kin, w->n, at, rules, &w->whole, &why);
	CU_ASSERT_EQUAL_FATAL(ddio_map_new_overlapping(w->part, at, rules, &w->apart, &why), w->rc);
}

static void maps_compare(struct world *w, uint64_t *rng)
{
	uint64_t lo[2], hi[2], at[2] = { 0, 0 };
	uint32_t first[2] = { 0, 0 }, second[2] = { 0, 0 }, p, i, bad = 0;

	ddio_map_bounds(w->whole, &lo[0], &hi[0]);
	ddio_map_bounds(w->apart, &lo[1], &hi[1]);
	CU_ASSERT(lo[0] == lo[1] && hi[0] == hi[1]);
	bad += ddio_map_check_overlap(w->whole, &at[0], &first[0], &second[0]) !=
	       ddio_map_check_overlap(w->apart, &at[1], &first[1], &second[1]);
	bad += at[0] != at[1] || first[0] != first[1] || second[0] != second[1];
	for (p = 0; p < w->nprocs; p++)
		bad += ddio_map_share_size(w->whole, p) != ddio_map_share_size(w->apart, p);
	CU_ASSERT_EQUAL(bad, 0);
	compare_range(w, 0, hi[0] + 1);
	for (i = 0; i < 8; i++) {
		uint64_t from = ddio_rand_below(rng, hi[0] + 2);

		compare_range(w, from, from + ddio_rand_below(rng, hi[0] + 2 - from));
	}
}

static void world_end(struct world *w)
{
	uint32_t i;

	if (!w->rc) {
		ddio_map_free(w->whole);
		ddio_map_free(w->apart);
	}
	for (i = 0; i < PROCS; i++)
		free(w->room[i].entries);
	free(w);
}

static void random_first(struct world *w, uint64_t *rng, uint32_t k, uint32_t kind)
{
	uint64_t offset = ddio_rand_below(rng, 4) ? 0 : ddio_rand_below(rng, 2000), i;
	struct ddio_part *part = &w->first[k];

	*part = (struct ddio_part){ .kind = kind, .n = ddio_rand_below(rng, 12) != 0 };
	if (kind == DDIO_PART_VIEW) {
		w->view[k] = (struct ddio_view){ &trees[ddio_rand_below(rng, 3)], offset,
						 20 + ddio_rand_below(rng, 100),
						 ddio_rand_below(rng, 3) * 6,
						 1 + ddio_rand_below(rng, 60) };
		part->view = &w->view[k];
	} else if (kind == DDIO_PART_STRIDED) {
		w->strided[k] = (struct ddio_strided){ offset,
						       1 + ddio_rand_below(rng, 6),
						       (uint32_t)ddio_rand_below(rng, 3),
						       0,
						       { { 1 + ddio_rand_below(rng, 4), 150 },
							 { 1 + ddio_rand_below(rng, 4), 30 } } };
		part->strided = &w->strided[k];
	} else {
		part->n *= 1 + ddio_rand_below(rng, 3);
		for (i = 0; i < part->n; i++)
			w->list[k][i] =
				(struct ddio_extent){ offset + i * 40 + ddio_rand_below(rng, 20),
						      1 + ddio_rand_below(rng, 20) };
		part->list = w->list[k];
	}
}

/* Families of any kind, rows at any distances, over one another or not, with processes among them. */
static void test_random(void)
{
	static const uint64_t steps[] = { 0, 1, 6, 7, 10, 30, 60, 150, 400, 1000, (uint64_t)-50 };
	uint64_t rng = 11, round;
	uint32_t l, k, whole = 0;

	for (round = 0; round < ut_rounds(20000); round++) {
		struct world *w = calloc(1, sizeof(*w));
		uint32_t kind = DDIO_PART_STRIDED + (uint32_t)ddio_rand_below(&rng, 3);

		if (!w)
			abort();
		w->n = 1 + (uint32_t)ddio_rand_below(&rng, 3);
		for (k = 0; k < w->n; k++) {
			random_first(w, &rng, k, kind);
			w->kin[k].part = &w->first[k];
			w->kin[k].offset = ddio_rand_below(&rng, 3) ? 3000 * k : 0;
			w->kin[k].rows.nlevels = (uint32_t)ddio_rand_below(&rng, 3);
			for (l = 0; l < w->kin[k].rows.nlevels; l++)
				w->kin[k].rows.level[l] = (struct ddio_family_level){
					2 + (uint32_t)ddio_rand_below(&rng, 4), 0,
					steps[ddio_rand_below(&rng, 11)],
					kind == DDIO_PART_VIEW && !ddio_rand_below(&rng, 4)
						? ddio_rand_below(&rng, 4) * 6
						: 0
				};
		}
		maps_make(w, ddio_rand_below(&rng, 2) ? MAP_TWICE | MAP_LOWEST : 0);
		if (!w->rc) {
			maps_compare(w, &rng);
			whole += w->whole->parts.clan && w->n < w->nprocs;
		}
		world_end(w);
	}
	CU_ASSERT(whole > ut_rounds(20000) / 10);
	printf("# %u of %u maps of families\n", whole, ut_rounds(20000));
}

static int count_run(void *arg, const struct ddio_map_run *run)
{
	(void)run;
	++*(uint64_t *)arg;
	return 0;
}

/* A matrix in tiles, by more and more processes: a map has one family, and a block only the runs of its owners. */
static void test_size(void)
{
	uint32_t side, runs_before = 0;

	for (side = 2; side <= 256; side *= 2) {
		const struct ddio_strided s = {
			.offset = 0, .len = 512, .nlevels = 1, .level = { { 64, 512 * side } }
		};
		const struct ddio_part part = { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &s };
		const struct ddio_kin kin = {
			.part = &part,
			.rows = { 2,
				  0,
				  { { side, 0, 512, 0 },
				    { side, 0, UINT64_C(512) * 64 * side, 0 } } }
		};
		uint64_t runs = 0, start, end;
		struct ddio_map *map;
		const char *why;

		CU_ASSERT_EQUAL_FATAL(ddio_map_new_kin(&kin, 1, side * side, 0, &map, &why), 0);
		CU_ASSERT_PTR_NULL(map->parts.share);
		CU_ASSERT_EQUAL(map->parts.nclans, 1);
		CU_ASSERT_EQUAL(map->parts.all.items.n, 1);
		ddio_map_runs(map, 8192, 16384, true, count_run, &runs);
		CU_ASSERT(runs <= 16);
		CU_ASSERT(ddio_map_next(map, 0, &start, &end) && !start);
		CU_ASSERT_EQUAL(end, UINT64_C(32768) * side * side);
		runs_before = (uint32_t)runs;
		ddio_map_free(map);
	}
	CU_ASSERT_EQUAL(runs_before, 16);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "random", test_random },
		{ "size", test_size },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "families", cases } };

	return ut_run("test_map_kin", suites, 1);
}
