// SPDX-License-Identifier: GPL-2.0-only
/* Costs of a simulated machine that are given by hand. */
#include "tests/unit/lib/ut.h"
#include "tools/lab/sim/costs.h"

static void test_changed(void)
{
	struct ddio_sim_machine m = {
		.cost = { [DDIO_WORK_CACHE] = { 7, 7 }, [DDIO_WORK_COPY] = { 7, 7 } }
	};
	char err[200] = "";

	CU_ASSERT_EQUAL(costs_change(&m, NULL, err, sizeof(err)), 0);
	CU_ASSERT_EQUAL(m.cost[DDIO_WORK_CACHE].unit_ps, 7);
	CU_ASSERT_EQUAL(costs_change(&m, "cache=12000,memput=5000+5.25", err, sizeof(err)), 0);
	CU_ASSERT_EQUAL(m.cost[DDIO_WORK_CACHE].call_ns, 0);
	CU_ASSERT_EQUAL(m.cost[DDIO_WORK_CACHE].unit_ps, 12000000);
	CU_ASSERT_EQUAL(m.cost[DDIO_WORK_MEMPUT].call_ns, 5000);
	CU_ASSERT_EQUAL(m.cost[DDIO_WORK_MEMPUT].unit_ps, 5250);
	CU_ASSERT_EQUAL(m.cost[DDIO_WORK_COPY].unit_ps, 7);
	CU_ASSERT_STRING_EQUAL(err, "");
}

static void test_refused(void)
{
	static const char *const wrong[] = {
		"cash=1",      "cache",	      "cache=",	    "cache=x",	"cache=-1",
		"cache=1+",    "cache=1x",    "=1",	    "cache= 1", "cache=nan",
		"cache=1+2+3", "cache=1e300", "copy=1,,x=2"
	};
	struct ddio_sim_machine m = { .name = "" };
	char err[200];
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		*err = '\0';
		CU_ASSERT_EQUAL(costs_change(&m, wrong[i], err, sizeof(err)), -EINVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(err, "--cost"));
	}
}

static const struct ut_case tests[] = {
	{ "changed", test_changed },
	{ "refused", test_refused },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "costs", tests } };

	return ut_run("costs", suites, 1);
}
