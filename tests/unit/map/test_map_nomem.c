// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation of the map fails once.  The sources that allocate are
 * compiled in here, with the allocator replaced.
 */
#include "tests/unit/lib/ut_nomem.h"

#include "userlib/map/pieces/items.c"
#define fail form_fail
#include "userlib/map/pieces/tree_form.c"
#undef fail
#include "userlib/map/pieces/disjoint.c"
#include "userlib/map/pieces/sweep.c"
#include "userlib/map/pieces/union.c"
#include "userlib/base/heap.c"
#include "userlib/map/pieces/settle.c"
#include "userlib/map/map.c"
#define fail parts_fail
#include "userlib/map/parts.c"
#undef fail
#include "userlib/map/parts_overlap.c"
#define fail place_fail_text
#include "userlib/map/memmap.c"
#undef fail

#include "tests/unit/lib/ut.h"

#define TRIES 1000

struct attempt {
	const struct ddio_array *array;
	const struct ddio_part *part;
	const struct ddio_memory *memory;
	uint32_t rules;
};

/* A map and a memmap in it; what was made is freed again, however far it came. */
static int attempt_run(const struct attempt *a, const char **why)
{
	struct ddio_memmap *memmap = NULL;
	struct ddio_map *map = NULL;
	uint64_t span;
	int rc;

	if (a->array)
		rc = ddio_map_new_array(a->array, 4, &map, why);
	else
		rc = ddio_map_new_overlapping(a->part, 4, a->rules, &map, why);
	if (rc)
		return rc;
	rc = ddio_memmap_new(map, 1, a->memory, &memmap, &span, why);
	ddio_memmap_free(memmap);
	ddio_map_free(map);
	return rc;
}

static void attempt_all(const struct attempt *a, unsigned long at_least)
{
	unsigned long i;
	const char *why;
	int rc = -ENOMEM;

	for (i = 1; i < TRIES && rc; i++) {
		nomem_countdown = i;
		nomem_failures = 0;
		why = "";
		rc = attempt_run(a, &why);
		CU_ASSERT_EQUAL(rc, nomem_failures ? -ENOMEM : 0);
		if (rc)
			CU_ASSERT_STRING_EQUAL(why, "out of memory");
	}
	nomem_countdown = 0;
	CU_ASSERT_EQUAL(rc, 0);
	CU_ASSERT(i > at_least && i < TRIES);
}

static void test_array(void)
{
	struct ddio_array array = { .elem_size = 8,
				    .ndims = 2,
				    .dim = { { .size = 12, .dist = DDIO_BLOCK, .procs = 2 },
					     { .size = 8, .dist = DDIO_CYCLIC, .procs = 2 } } };
	struct ddio_memory memory = { .ndims = 2, .size = { 8, 8 }, .start = { 1, 1 } };
	struct attempt a = { .array = &array };

	attempt_all(&a, 2);
	a.memory = &memory;
	attempt_all(&a, 3);
}

#define NLIST 40

/* Lists of more entries than the first allocation has room for, out of order. */
static void test_lists(void)
{
	struct ddio_extent list[4][NLIST];
	struct ddio_part part[4];
	struct ddio_strided strided[2] = {
		{ .len = 5, .nlevels = 2, .level = { { 4, 90 }, { 5, 9 } } },
		{ .offset = 600, .len = NLIST * 5 - 100 },
	};
	struct ddio_memory memory = { .nstrided = 2, .strided = strided };
	struct attempt a = { .part = part, .memory = &memory };
	uint64_t i;
	uint32_t p;

	memset(part, 0, sizeof(part));
	for (p = 0; p < 4; p++) {
		for (i = 0; i < NLIST; i++)
			list[p][i] =
				(struct ddio_extent){ (i * 7 % NLIST) * 100 + p * 6 + i % 3, 5 };
		part[p].kind = DDIO_PART_LIST;
		part[p].n = NLIST;
		part[p].list = list[p];
	}
	attempt_all(&a, 15);
	for (p = 0; p < 4; p++) /* now all over one another */
		for (i = 0; i < NLIST; i++)
			list[p][i] = (struct ddio_extent){ i * 100 + p * 3 + i % 7, 5 };
	attempt_all(&a, 10);
	a.rules = MAP_TWICE | MAP_AGAIN | MAP_LOWEST;
	attempt_all(&a, 20);
	list[1][7] = list[1][9]; /* and one names bytes twice */
	attempt_all(&a, 25);
}

/* Nests of three levels, between single pieces; two interleave and two overlap. */
static void test_nests(void)
{
	struct ddio_strided strided[4][3];
	struct ddio_part part[4];
	struct attempt a = { .part = part };
	uint32_t p;

	memset(part, 0, sizeof(part));
	memset(strided, 0, sizeof(strided));
	for (p = 0; p < 4; p++) {
		strided[p][0].offset = p;
		strided[p][0].len = 1;
		strided[p][1].offset = 100 + (p == 3 ? 2 : p * 3);
		strided[p][1].len = 3;
		strided[p][1].nlevels = 3;
		strided[p][1].level[0] = (struct ddio_level){ 3, 1000 };
		strided[p][1].level[1] = (struct ddio_level){ 3, 100 };
		strided[p][1].level[2] = (struct ddio_level){ 3, 12 };
		strided[p][2].offset = 9000 + p;
		strided[p][2].len = 1;
		part[p].kind = DDIO_PART_STRIDED;
		part[p].n = 3;
		part[p].strided = strided[p];
	}
	attempt_all(&a, 15);
}

/* Views that interleave, of trees with joined leaves and more nodes than the first allocation holds; and memory. */
static void test_views(void)
{
	struct ddio_tree_node node[12] = { { .kind = DDIO_TREE_LEAF, .n = 2 } };
	struct ddio_tree_child child[12];
	struct ddio_tree tree = { 12, node, 12, child };
	struct ddio_view view[4], back = { &tree, 0, 100, 0, 500 };
	struct ddio_memory memory = { .kind = DDIO_MEMORY_VIEW, .nstrided = 1, .view = &back };
	struct ddio_part part[4];
	struct attempt a = { .part = part, .memory = &memory };
	uint32_t i;

	memset(part, 0, sizeof(part));
	for (i = 0; i < 12; i++)
		child[i] = (struct ddio_tree_child){ i < 2 ? 2 * i : i * i, i < 9 ? 0 : 3 };
	for (i = 1; i < 11; i++)
		node[i] = (struct ddio_tree_node){ .kind = DDIO_TREE_LEAF, .n = i };
	node[11] = (struct ddio_tree_node){ .kind = DDIO_TREE_SEQUENCE, .n = 12 };
	for (i = 0; i < 4; i++) {
		view[i] = (struct ddio_view){ &tree, 150 * i, 600, 3, 500 };
		part[i] = (struct ddio_part){ .kind = DDIO_PART_VIEW, .n = 1, .view = &view[i] };
	}
	attempt_all(&a, 15);
	view[1].extent = 20; /* not in file order */
	view[1].len = 40;
	back.len = 40;
	a.rules = MAP_TWICE | MAP_AGAIN | MAP_LOWEST;
	attempt_all(&a, 20);
}

/* Nests that overlap and are too large to be flattened. */
static void test_large_nests(void)
{
	struct ddio_strided strided[4];
	struct ddio_part part[4];
	struct attempt a = { .part = part };
	uint32_t p;

	memset(part, 0, sizeof(part));
	memset(strided, 0, sizeof(strided));
	for (p = 0; p < 4; p++) {
		strided[p].offset = p * 100;
		strided[p].len = 101;
		strided[p].nlevels = 1;
		strided[p].level[0] = (struct ddio_level){ 100000, 400 };
		part[p].kind = DDIO_PART_STRIDED;
		part[p].n = 1;
		part[p].strided = &strided[p];
	}
	attempt_all(&a, 8);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "large nests", test_large_nests },
		{ "arrays", test_array },
		{ "lists", test_lists },
		{ "nests", test_nests },
		{ "views", test_views },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "out of memory", cases } };

	return ut_run("test_map_nomem", suites, 1);
}
