// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collective executor without memory: the n-th allocation that it makes fails, for every n.  A feed
 * does without (its blocks then move by requests), so its allocations are not among them.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include "env/env.h"

static uint64_t allocs, failing = UINT64_MAX;

static bool alloc_fails(void)
{
	return allocs++ == failing;
}

static void *test_calloc(size_t n, size_t size)
{
	return alloc_fails() ? NULL : calloc(n, size);
}

static void *test_realloc(void *p, size_t size)
{
	return alloc_fails() ? NULL : realloc(p, size);
}

static void *test_env_alloc(struct ddio_env *env, size_t size)
{
	return alloc_fails() ? NULL : ddio_env_alloc(env, size);
}

#define calloc test_calloc
#define realloc test_realloc
#define ddio_env_alloc test_env_alloc
#include "userlib/iop/coll/attach.c"
#include "userlib/iop/coll/coll.c"
#include "userlib/iop/coll/core/group.c"
#include "userlib/iop/coll/core/plan.c"
#include "userlib/iop/coll/core/pool.c"
#include "userlib/iop/coll/core/request.c"
#include "userlib/iop/coll/core/state.c"
#include "userlib/iop/coll/core/tell.c"
#include "userlib/iop/coll/core/verdict.c"
#include "userlib/iop/coll/piece.c"
#include "userlib/iop/coll/planning.c"
#include "userlib/iop/coll/slot/ask.c"
#include "userlib/iop/coll/slot/by_request.c"
#include "userlib/iop/coll/slot/disk.c"
#include "userlib/iop/coll/slot/divide.c"
#include "userlib/iop/coll/slot/read.c"
#include "userlib/iop/coll/slot/slot.c"
#include "userlib/iop/coll/slot/write.c"
#include "userlib/iop/coll/start.c"
#include "userlib/iop/coll/watch.c"
#undef calloc
#undef realloc
#undef ddio_env_alloc

#include "tests/unit/iop/coll/coll_op.h"

/* Enough members and spans that every table grows. */
enum { MEMBERS = 20, BLOCK = 512, BLOCKS = 200 };

struct scene {
	struct coll_world *w;
	struct w_group *g;
	struct w_file f;
	struct ddio_array a;
	struct w_job job;
};

static void scene_new(struct scene *x, uint32_t flags)
{
	struct w_params p = { .seed = 1, .ndisks = 2, .nreactors = 2 };

	memset(x, 0, sizeof(*x));
	failing = UINT64_MAX;
	x->w = w_new(&p);
	x->g = w_group_new(x->w, MEMBERS);
	w_file_init(x->w, &x->f, 1, BLOCK, DDIO_LAYOUT_RANDOM_BLOCKS_W);
	w_file_fill(x->w, &x->f, BLOCKS * BLOCK, 1);
	x->a = (struct ddio_array){ .elem_size = 8, .ndims = 1 };
	x->a.dim[0] = (struct ddio_dim){ .size = BLOCKS * BLOCK / 8,
					 .procs = MEMBERS,
					 .dist = DDIO_CYCLIC };
	x->job = (struct w_job){ .g = x->g, .f = &x->f, .array = &x->a, .flags = flags, .seed = 9 };
}

static bool any_lane_closed(const struct scene *x)
{
	return x->g->m[0].gone;
}

/* Returns false if there is no n-th allocation. */
static bool fails_at(uint64_t n, uint32_t flags)
{
	struct scene x;
	uint64_t op;
	uint32_t status;
	bool reached;

	scene_new(&x, flags);
	allocs = 0;
	failing = n;
	op = w_start(&x.job);
	status = w_wait(x.g, op, 10 * SEC);
	reached = allocs > n;
	failing = UINT64_MAX;
	if (any_lane_closed(&x)) {
		/* There was not even memory to say so: the client was cut off. */
		CU_ASSERT_EQUAL(n, 0);
	} else {
		CU_ASSERT_EQUAL(status, reached ? DDIO_ST_NO_MEMORY : DDIO_ST_OK);
		op = w_start(&x.job);
		CU_ASSERT_EQUAL(w_wait(x.g, op, 10 * SEC), DDIO_ST_OK);
	}
	w_file_free(&x.f);
	w_free(x.w);
	return reached;
}

static void sweep(uint32_t flags)
{
	uint64_t n = 0;

	while (fails_at(n, flags))
		n += ut_stride(3);
	printf("%llu allocations; ", (unsigned long long)n);
	CU_ASSERT(n > 10);
}

static void test_read(void)
{
	printf("\n  ");
	sweep(DDIO_COLL_SORT);
}

static void test_write(void)
{
	printf("\n  ");
	sweep(DDIO_COLL_WRITE | DDIO_COLL_SYNC);
}

static void test_attach(void)
{
	uint64_t n;

	for (n = 0; n < 4; n++) {
		struct w_params p = { .seed = 2 };
		struct coll_world *w = w_new(&p);
		struct w_group *g = w_group_bare(w, 1);

		allocs = 0;
		failing = n;
		CU_ASSERT_EQUAL(m_attach(&g->m[0].lane[0], 1),
				n < 2 ? DDIO_ST_NO_MEMORY : DDIO_ST_OK);
		failing = UINT64_MAX;
		CU_ASSERT_EQUAL(ddio_list_empty(&w->reactor[0].groups), n < 2);
		CU_ASSERT_EQUAL(m_attach(&g->m[0].lane[0], 1), n < 2 ? DDIO_ST_OK : DDIO_ST_EXISTS);
		w_free(w);
	}
}

static const struct ut_case memory_cases[] = {
	{ "attaching", test_attach },
	{ "reading", test_read },
	{ "writing", test_write },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "no memory", memory_cases } };

	return w_ut_run("test_coll_memory", suites, 1);
}
