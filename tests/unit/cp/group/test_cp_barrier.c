// SPDX-License-Identifier: GPL-2.0-only
/* Barriers in memory that the members share: when they are, and that they mean what those by messages do. */
#include "cp/group/group.h"
#include "tests/unit/cp/cp_world.h"

/* Ranks 0 to 2 are on one machine, as far as cp_world.h is concerned. */
enum { NEAR = 3, WARM = 3, MORE = 20 };

struct barriers_want {
	bool by_memory;
};

/* Returns the steps that @n barriers take. */
static uint64_t steps_of(struct cp_proc *p, struct ddio_group *g, uint32_t n)
{
	uint64_t before = g->own.last;

	while (n--)
		CP_OK(p, ddio_group_barrier(g));
	return g->own.last - before;
}

static void count_steps(struct cp_proc *p)
{
	const struct barriers_want *want = p->w->arg;
	struct ddio_group *g = cp_group(p);

	CU_ASSERT_EQUAL(steps_of(p, g, WARM), WARM);
	CU_ASSERT_EQUAL(steps_of(p, g, MORE), want->by_memory ? 0 : MORE);
	ddio_group_free(g);
}

static void without_messages(void)
{
	static const char *const off[] = { "channels = no\n", "wire_checksums = always\n" };
	struct barriers_want want = { cp_local };
	struct cp_params p = { .procs = NEAR };
	struct cp_world w;
	size_t i;

	cp_world_begin(&w, &p);
	CU_ASSERT_EQUAL(cp_run(&w, count_steps, &want), 0);
	cp_world_end(&w);
	/* One member is elsewhere. */
	want.by_memory = false;
	p.procs = NEAR + 1;
	cp_world_begin(&w, &p);
	CU_ASSERT_EQUAL(cp_run(&w, count_steps, &want), 0);
	cp_world_end(&w);
	p.procs = NEAR;
	for (i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
		p.cluster = off[i];
		cp_world_begin(&w, &p);
		CU_ASSERT_EQUAL(cp_run(&w, count_steps, &want), 0);
		cp_world_end(&w);
	}
}

/* Who is late makes that one barrier a step, and none is over before it has come. */
static void be_late(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	uint64_t *came = p->w->arg, k;
	uint32_t r;

	steps_of(p, g, WARM);
	for (k = 0; k < 30; k++) {
		ddio_sim_sleep(p->env, (p->rank + k) % 5 * CP_MS);
		came[p->rank] = k + 1;
		CU_ASSERT(steps_of(p, g, 1) <= 1);
		for (r = 0; r < p->w->p.procs; r++)
			CU_ASSERT(came[r] >= k + 1);
	}
	CU_ASSERT_EQUAL(steps_of(p, g, MORE), cp_local ? 0 : MORE);
	ddio_group_free(g);
}

static void late(void)
{
	uint64_t came[CP_PROCS] = { 0 };
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = NEAR });
	CU_ASSERT_EQUAL(cp_run(&w, be_late, came), 0);
	cp_world_end(&w);
}

/* A member that does something else is told from one that is late. */
static void differ(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;

	steps_of(p, g, WARM + 1);
	if (p->rank == 1)
		cp_note(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	else
		cp_note(p, ddio_group_barrier(g));
	CU_ASSERT_EQUAL(p->ret, -EBADE);
	/* The rounds of the members are not the same from here on. */
	CU_ASSERT_EQUAL(steps_of(p, g, MORE), MORE);
	CP_OK(p, ddio_group_barrier(g));
	ddio_group_free(g);
}

static void something_else(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = NEAR });
	CU_ASSERT_EQUAL(cp_run(&w, differ, NULL), 0);
	cp_world_end(&w);
}

/* One has gone, or does not come for longer than the others wait. */
static void lose(struct cp_proc *p)
{
	const uint32_t *victim = p->w->arg;
	struct ddio_group *g = cp_group(p);

	steps_of(p, g, WARM + 1);
	if (p->rank == *victim) {
		ddio_group_free(g);
		return;
	}
	CU_ASSERT_EQUAL(cp_note(p, ddio_group_barrier(g)), -ECONNABORTED);
	CU_ASSERT_EQUAL(cp_note(p, ddio_group_barrier(g)), -ECONNABORTED);
	ddio_group_free(g);
}

static void absent(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);

	steps_of(p, g, WARM + 1);
	if (p->rank == 2)
		ddio_sim_sleep(p->env, 20 * CP_SEC);
	else
		CU_ASSERT_EQUAL(cp_note(p, ddio_group_barrier(g)), -ETIMEDOUT);
	ddio_group_free(g);
}

static void lost(void)
{
	struct cp_world w;
	uint32_t victim;

	for (victim = 0; victim < NEAR; victim++) {
		cp_world_begin(&w, &(struct cp_params){ .procs = NEAR });
		cp_run(&w, lose, &victim);
		cp_world_end(&w);
	}
	cp_world_begin(&w, &(struct cp_params){ .procs = NEAR, .timeout_ms = 3000 });
	cp_run(&w, absent, NULL);
	cp_world_end(&w);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "without messages", without_messages },
		{ "late", late },
		{ "something else", something_else },
		{ "lost", lost },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "barriers", cases } };

	return cp_ut_run("test_cp_barrier", suites, 1);
}
