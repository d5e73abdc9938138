// SPDX-License-Identifier: GPL-2.0-only
/* What others say of turns that a member has not come to, or that there are not: it keeps so much, and no more. */
#include "tests/unit/cp/group/cp_orders.h"

static void ahead_world(void (*fn)(struct cp_proc *p), uint64_t timeout_ms, void *arg)
{
	orders_run(fn, (struct cp_params){ .procs = 3, .timeout_ms = timeout_ms }, arg);
}

/* Rank 1 contributes to turns that there are not, or to more than rank 0 keeps of those: all hear of it. */
static void nonsense(struct cp_proc *p)
{
	static const struct {
		uint64_t key, place;
		unsigned int times, more;
		const char *why;
	} say[] = {
		{ 1, 1, 1, 0, NULL },
		{ 4, 1, 1, 0, "is lost" },
		{ ORDERS_MAX, 1, 1, 0, "is lost" },
		{ 2, 1, FANS_CLOSED_MAX, 0, NULL },
		{ 2, 1, FANS_CLOSED_MAX + 1, 0, "files that rank 0 has closed" },
		{ 1, FANS_AHEAD_MAX, 1, 0, NULL },
		{ 1, FANS_AHEAD_MAX + 1, 1, 0, "rank 0 is too far behind" },
		{ 1, 1, FANS_AHEAD_MAX / 2, FANS_AHEAD_MAX / 2, NULL },
		{ 1, 1, FANS_AHEAD_MAX / 2, FANS_AHEAD_MAX / 2 + 1, "rank 0 is too far behind" },
	};
	const uint64_t *which = p->w->arg;
	struct orders_say up = orders_up(say[*which].key, say[*which].place, say[*which].times);
	struct ddio_file *file[3] = { NULL };
	struct ddio_group *g = cp_group(p);

	orders_open(p, g, file, 3);
	ddio_close(file[1]);
	CP_OK(p, ddio_group_barrier(g));
	up.more = say[*which].more;
	orders_tell(p, g, up);
	CU_ASSERT_EQUAL(cp_note(p, ddio_group_check(g)) != 0, say[*which].why != NULL);
	if (say[*which].why)
		CU_ASSERT_PTR_NOT_NULL(strstr(p->text, say[*which].why));
	ddio_close(file[0]);
	ddio_close(file[2]);
	ddio_group_free(g);
}

static void nonsense_is_refused(void)
{
	uint64_t which;

	for (which = 0; which < 9; which++)
		ahead_world(nonsense, 60000, &which);
}

/* What rank 0 has heard of before it closes the file counts like what it hears of later, also if the bound is passed at once. */
static void closed_past_bound(struct cp_proc *p)
{
	struct ddio_file *file[2] = { NULL };
	struct ddio_group *g = cp_group(p);

	orders_open(p, g, file, 2);
	ddio_close(file[1]);
	CP_OK(p, ddio_group_barrier(g));
	orders_tell(p, g, orders_up(2, 1, FANS_CLOSED_MAX - 1));
	orders_tell(p, g, orders_up(1, 1, 2));
	ddio_close(file[0]);
	CP_OK(p, ddio_group_check(g));
	orders_tell(p, g, orders_up(2, FANS_CLOSED_MAX, 1));
	CU_ASSERT_NOT_EQUAL(cp_note(p, ddio_group_check(g)), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "files that rank 0 has closed"));
	ddio_group_free(g);
}

static void closed_bound(void)
{
	ahead_world(closed_past_bound, 60000, NULL);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "a member says nonsense", nonsense_is_refused },
		{ "a bound that is passed at once", closed_bound },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "ahead in an order", cases } };

	return cp_ut_run("cp_order_ahead", suites, 1);
}
