// SPDX-License-Identifier: GPL-2.0-only
/* What I/O leaves of a processor, from records of when it worked. */
#include "tests/unit/lib/ut.h"
#include "tools/lab/sim/ionode.h"

#define US 1000ull
#define MS 1000000ull

static void test_idle(void)
{
	struct ionode node[2] = { { .n = 0 }, { .n = 0 } };

	CU_ASSERT_EQUAL(ionode_left(node, 2, 0, 10 * MS), 100000);
	CU_ASSERT_EQUAL(ionode_left_barriers(node, 2, 0, 10 * MS), 100000);
	CU_ASSERT_EQUAL(ionode_left(node, 2, 5, 5), 0);
}

/* Each interruption takes its own time and 50 us; gaps shorter than that are lost. */
static void test_interruptions(void)
{
	struct ionode node = { .n = 0 };

	ionode_add(&node, 1 * MS, 100 * US);
	ionode_add(&node, 1100 * US, 50 * US); /* goes on */
	ionode_add(&node, 1190 * US, 10 * US); /* 40 us later: lost */
	CU_ASSERT_EQUAL(node.n, 2);
	CU_ASSERT_EQUAL(node.err, 0);
	CU_ASSERT_EQUAL(ionode_left(&node, 1, 0, 10 * MS), 97500);
	CU_ASSERT_EQUAL(ionode_left(&node, 1, 1050 * US, 1190 * US), 0);
	ionode_clear(&node);
	CU_ASSERT_EQUAL(ionode_left(&node, 1, 0, 10 * MS), 100000);
	ionode_free(&node);
}

/* Two processors that are disturbed in turn disturb each other where they meet. */
static void test_barriers(void)
{
	struct ionode node[2] = { { .n = 0 }, { .n = 0 } };
	uint64_t t;

	for (t = 0; t < 10; t++)
		ionode_add(&node[t & 1], 2 * t * MS, 450 * US);
	CU_ASSERT_EQUAL(ionode_left(node, 2, 0, 20 * MS), 87500);
	CU_ASSERT(ionode_left_barriers(node, 2, 0, 20 * MS) < 80000);
	CU_ASSERT(ionode_left_barriers(node, 2, 0, 20 * MS) > 70000);
	/* Disturbed at the same times they lose no more than each alone. */
	CU_ASSERT_EQUAL(ionode_left_barriers(node, 1, 0, 20 * MS),
			ionode_left(node, 1, 0, 20 * MS));
	ionode_free(&node[0]);
	ionode_free(&node[1]);
}

static const struct ut_case tests[] = {
	{ "idle", test_idle },
	{ "interruptions", test_interruptions },
	{ "barriers", test_barriers },
	{ 0 },
};

int main(void)
{
	const struct ut_suite suites[] = {
		{ "left", tests },
	};

	return ut_run("ionode", suites, sizeof(suites) / sizeof(suites[0]));
}
