// SPDX-License-Identifier: GPL-2.0-only
/* Families: what members' views have in common, and back again. */
#include "base/rand.h"
#include "tests/unit/proto/proto_ut.h"

#define MEMBERS 4096

static const struct ddio_tree_node node[] = {
	{ .kind = DDIO_TREE_LEAF, .n = 512 },
	{ .kind = DDIO_TREE_REPEAT, .n = 64, .stride = 64 * 512, .child = 0 },
};
static const struct ddio_tree tree = { 2, node, 0, NULL };
static const struct ddio_tree other = { 1, node, 0, NULL };

struct members {
	struct ddio_part part[MEMBERS], first[MEMBERS], got[MEMBERS];
	struct ddio_view view[MEMBERS], room[MEMBERS];
	struct ddio_family family[MEMBERS];
};

static struct members *members_new(void)
{
	struct members *m = calloc(1, sizeof(*m));
	uint32_t i;

	if (!m)
		abort();
	for (i = 0; i < MEMBERS; i++) {
		m->view[i] = (struct ddio_view){ &tree, 0, UINT64_C(1) << 30, 0, 64 * 512 };
		m->part[i] =
			(struct ddio_part){ .kind = DDIO_PART_VIEW, .n = 1, .view = &m->view[i] };
	}
	return m;
}

/* The tree may be another of the same contents. */
static bool view_differs(const struct ddio_view *a, const struct ddio_view *b)
{
	return a->offset != b->offset || a->extent != b->extent || a->skip != b->skip ||
	       a->len != b->len || !a->tree != !b->tree;
}

/* Finds the families of the first @n members and checks that they make them again.  Returns how many. */
static uint32_t there_and_back(struct members *m, uint32_t n)
{
	uint32_t found = ddio_families_find(m->part, n, m->family, m->first), i;
	unsigned int bad = 0;

	ddio_families_expand(m->family, m->first, found, m->got, m->room);
	for (i = 0; i < n; i++) {
		bad += m->got[i].kind != m->part[i].kind || m->got[i].n != m->part[i].n;
		if (m->part[i].kind == DDIO_PART_VIEW && m->part[i].n)
			bad += view_differs(m->got[i].view, m->part[i].view);
	}
	CU_ASSERT_EQUAL(bad, 0);
	return found;
}

/* Returns the bytes of the request. */
static ssize_t start_bytes(const struct members *m, uint32_t n, uint32_t families)
{
	uint32_t disk = 0;
	struct ddio_msg_coll_start x = {
		.op = 1,
		.nprocs = n,
		.flags = DDIO_COLL_FAMILIES,
		.file = { .ref = { .id = 1, .block = 8192 }, .ndisks = 1, .disks = &disk },
		.nparts = families,
		.parts = (struct ddio_part *)m->first,
		.family = (struct ddio_family *)m->family,
	};

	return ddio_put_coll_start(NULL, 0, &x);
}

/* Tiles of a matrix, and records dealt out: the request is as long for 4,096 members as for 4. */
static void test_regular(void)
{
	struct members *m = members_new();
	uint32_t i;

	for (i = 0; i < MEMBERS; i++)
		m->view[i].offset = i / 64 * 64 * 64 * 512 + i % 64 * 512;
	CU_ASSERT_EQUAL(there_and_back(m, MEMBERS), 1);
	CU_ASSERT_EQUAL(m->family[0].nlevels, 2);
	CU_ASSERT(start_bytes(m, MEMBERS, 1) <= 512);
	CU_ASSERT_EQUAL(there_and_back(m, 4), 1);
	CU_ASSERT(start_bytes(m, 4, 1) <= 512);
	for (i = 0; i < MEMBERS; i++) {
		m->view[i].offset = 100;
		m->view[i].skip = i * 1000;
	}
	CU_ASSERT_EQUAL(there_and_back(m, MEMBERS), 1);
	CU_ASSERT_EQUAL(m->family[0].nlevels, 1);
	CU_ASSERT(start_bytes(m, MEMBERS, 1) <= 512);
	/* The last column is narrower. */
	for (i = 63; i < MEMBERS; i += 64)
		m->view[i].tree = &other;
	CU_ASSERT_EQUAL(there_and_back(m, MEMBERS), 2 * 64);
	free(m);
}

/* Each kind of difference parts a family. */
static void test_differences(void)
{
	struct members *m = members_new();
	struct ddio_extent e = { 0, 1 };
	struct ddio_tree_node nodes[] = { node[0],
					  node[1],
					  { .kind = DDIO_TREE_SEQUENCE, .n = 1 } };
	struct ddio_tree_child child[] = { { 0, 1 }, { 0, 1 } };
	struct ddio_tree copy = tree,
			 deep[] = { { 3, nodes, 1, child }, { 3, nodes, 1, child + 1 } };

	m->view[1].tree = &copy; /* the same by contents */
	CU_ASSERT_EQUAL(there_and_back(m, 4), 1);
	copy.node = nodes;
	nodes[1].n--; /* as many nodes, but others */
	CU_ASSERT_EQUAL(there_and_back(m, 4), 3);
	m->view[0].tree = &deep[0];
	m->view[1].tree = &deep[1];
	CU_ASSERT_EQUAL(there_and_back(m, 2), 1);
	child[1].offset = 8;
	CU_ASSERT_EQUAL(there_and_back(m, 2), 2);
	m->view[0].tree = m->view[1].tree = &tree;
	m->view[1].len--;
	CU_ASSERT_EQUAL(there_and_back(m, 4), 3);
	m->view[1].len++;
	m->view[1].extent++;
	CU_ASSERT_EQUAL(there_and_back(m, 4), 3);
	m->view[1].extent--;
	m->view[1].tree = NULL;
	CU_ASSERT_EQUAL(there_and_back(m, 4), 3);
	m->view[1].tree = &tree;
	m->part[1].n = 0;
	CU_ASSERT_EQUAL(there_and_back(m, 4), 3);
	m->part[1].n = 2;
	CU_ASSERT_EQUAL(there_and_back(m, 1), 1);
	m->part[1] = (struct ddio_part){ .kind = DDIO_PART_LIST, .n = 1, .list = &e };
	CU_ASSERT_EQUAL(there_and_back(m, 4), 3);
	free(m);
}

/* Nested rows of random lengths with mistakes in them, of any number of members. */
static void test_random(void)
{
	struct members *m = members_new();
	uint64_t rng = 17, round;
	uint32_t i, n;

	for (round = 0; round < ut_rounds(300); round++) {
		uint32_t row = 1 + ddio_rand_below(&rng, 7),
			 plane = row * (1 + ddio_rand_below(&rng, 5));

		n = 1 + ddio_rand_below(&rng, 200);
		for (i = 0; i < n; i++) {
			m->view[i].offset = i % row * 10 + i % plane / row * 1000 + i / plane * 77;
			m->view[i].skip = i / row * 5;
			m->view[i].tree = ddio_rand_below(&rng, 50) ? &tree : &other;
			m->part[i].n = ddio_rand_below(&rng, 40) != 0;
		}
		CU_ASSERT(there_and_back(m, n) <= n);
	}
	free(m);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "regular", test_regular },
		{ "differences", test_differences },
		{ "random", test_random },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "families", cases } };

	return ut_run("test_proto_family", suites, 1);
}
