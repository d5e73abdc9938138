// SPDX-License-Identifier: GPL-2.0-only
/* What members know of one another: little, until they exchange data among themselves. */
#include "cp/group/group.h"
#include "tests/unit/cp/cp_world.h"

enum { EACH = 64, MOST = CP_PROCS };

/*
 * The list itself
 */
static void found_and_not(void)
{
	struct addrs a = { 0 };
	char text[DDIO_MAX_ADDR];
	uint32_t i;

	CU_ASSERT_PTR_NULL(addrs_find(&a, 0));
	for (i = 0; i < 1000; i++) {
		snprintf(
			text, sizeof(text), "%.*s:%u", (int)(i % 100),
			"a-host-of-a-rather-long-name-"
			"a-host-of-a-rather-long-name-a-host-of-a-rather-long-name-a-host-of-a-rather-",
			i);
		CU_ASSERT_EQUAL(addrs_add(&a, 3 * i + 1, text), 0);
	}
	for (i = 0; i < 3100; i++) {
		const char *got = addrs_find(&a, i);

		if (i % 3 != 1 || i >= 3000) {
			CU_ASSERT_PTR_NULL(got);
			continue;
		}
		snprintf(text, sizeof(text), ":%u", i / 3);
		CU_ASSERT_PTR_NOT_NULL_FATAL(got);
		CU_ASSERT_STRING_EQUAL(strrchr(got, ':'), text);
	}
	addrs_free(&a);
	CU_ASSERT_PTR_NULL(addrs_find(&a, 1));
}

/* Rank 0, the parent, the children, ascending, and of these a logarithm. */
static void near_ranks(void)
{
	static const uint32_t sizes[] = { 1, 2, 3, 7, 8, 9, 1000, DDIO_MAX_MEMBERS };
	uint32_t near[NEAR_MAX], n, i, s, r, sum;

	for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		sum = 0;
		for (r = 0; r < sizes[s]; r++) {
			n = addrs_near(r, sizes[s], near);
			sum += n;
			for (i = 0; i < n; i++)
				if (near[i] >= sizes[s] || near[i] == r ||
				    (i && near[i] <= near[i - 1]) ||
				    (near[i] && !tree_neighbours(near[i], r)))
					CU_FAIL("near");
		}
		/* An edge is seen from both ends; rank 0 by everybody. */
		CU_ASSERT(sum <= 3 * (sizes[s] - 1));
	}
}

/*
 * Groups
 */

/* Everybody gets the bytes of its rank. */
static void permute(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f, uint32_t method)
{
	struct ddio_array a = { .elem_size = 1,
				.ndims = 1,
				.dim = { { .size = (uint64_t)EACH * ddio_group_size(g),
					   .dist = DDIO_CYCLIC,
					   .procs = ddio_group_size(g) } } };
	struct ddio_part part = { .kind = DDIO_PART_ARRAY, .n = 1, .array = &a };
	uint8_t buf[EACH], got[EACH];
	struct ddio_transfer t = {
		.struct_size = sizeof(t), .part = &part, .buf = buf, .method = method
	};

	memset(buf, (int)ddio_group_rank(g) + 1, sizeof(buf));
	CP_OK(p, ddio_write_all(f, g, &t));
	t.buf = got;
	memset(got, 0, sizeof(got));
	CP_OK(p, ddio_read_all(f, g, &t));
	CU_ASSERT_EQUAL(memcmp(buf, got, sizeof(buf)), 0);
}

static void knows(const struct ddio_group *g, bool all)
{
	uint32_t near[NEAR_MAX], n = addrs_near(g->rank, g->size, near), i;

	/* In a flat tree that is rank 0 for all others. */
	if (g->flat && g->rank)
		n = addrs_stay(g->rank, near);
	CU_ASSERT_EQUAL(g->addrs.n, all || !g->rank ? (g->size > 1 ? g->size : 0) : n);
	for (i = 0; i < n; i++)
		CU_ASSERT_PTR_NOT_NULL(addrs_find(&g->addrs, near[i]));
}

static void open_own(struct cp_proc *p, struct ddio_group *g, const char *name,
		     struct ddio_file **f)
{
	struct ddio_striping st = { .struct_size = sizeof(st), .block_size = 512 };

	*f = NULL;
	CP_OK(p, ddio_open_all(g, name, DDIO_CREATE, &st, f));
}

/* Halves, the members backwards, and halves of these. */
static void parts_too(struct cp_proc *p, struct ddio_group *g, int depth)
{
	struct ddio_group *sub = NULL;
	struct ddio_file *f;
	char name[32];

	CP_OK(p, ddio_group_split(g, (int)(p->rank >> depth & 1), -(int)p->rank, &sub));
	if (!sub)
		return;
	knows(sub, false);
	snprintf(name, sizeof(name), "f%d.%u", depth, p->rank & ((2u << depth) - 1));
	open_own(p, sub, name, &f);
	if (depth < 2)
		parts_too(p, sub, depth + 1);
	if (f)
		permute(p, sub, f, DDIO_METHOD_2P);
	knows(sub, sub->size > 2);
	if (f)
		ddio_close(f);
	ddio_group_free(sub);
}

static void little_then_all(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f;

	if (!g)
		return;
	knows(g, false);
	open_own(p, g, "f", &f);
	if (f) {
		permute(p, g, f, DDIO_METHOD_DDS);
		permute(p, g, f, DDIO_METHOD_TC);
		knows(g, false);
		/* Peers are those that were met. */
		CU_ASSERT(g->peers.n <= NEAR_MAX);
	}
	parts_too(p, g, 0);
	knows(g, false);
	if (f) {
		permute(p, g, f, DDIO_METHOD_2P);
		knows(g, g->size > 2);
		permute(p, g, f, DDIO_METHOD_2P);
		ddio_close(f);
	}
	parts_too(p, g, 0);
	ddio_group_free(g);
}

static void groups_and_parts(void)
{
	static const uint32_t sizes[] = { 1, 2, 3, 4, 9, 16, MOST };
	struct cp_world w;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		cp_world_begin(&w, &(struct cp_params){ .procs = sizes[i], .seed = 7 * i });
		CU_ASSERT_EQUAL(cp_run(&w, little_then_all, NULL), 0);
		cp_world_end(&w);
	}
}

/* What rank 0 sends while a group forms does not grow with the square of the members. */
static void form_only(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);

	ddio_group_free(g);
}

static uint64_t forming_bytes(uint32_t procs)
{
	struct ddio_sim_net_stats before, after;
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = procs, .deep = true });
	ddio_sim_net_stats(w.dw, &before);
	CU_ASSERT_EQUAL(cp_run(&w, form_only, NULL), 0);
	ddio_sim_net_stats(w.dw, &after);
	cp_world_end(&w);
	return after.bytes - before.bytes;
}

static void forming_is_linear(void)
{
	uint64_t few = forming_bytes(5), many = forming_bytes(25);

	/* 24 others instead of 4; the tree of 25 is deeper, but no member hears of all. */
	CU_ASSERT(few > 0);
	CU_ASSERT(many < 7 * few);
	if (many >= 7 * few)
		fprintf(stderr, "5 members: %llu bytes, 25: %llu\n", (unsigned long long)few,
			(unsigned long long)many);
}

static const struct ut_case cases[] = {
	{ "found, and not", found_and_not },
	{ "who is near", near_ranks },
	{ "little, then all", groups_and_parts },
	{ "forming is linear", forming_is_linear },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "addresses", cases } };

	return ut_run("cp_addrs", suites, 1);
}
