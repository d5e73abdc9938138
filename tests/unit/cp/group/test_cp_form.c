// SPDX-License-Identifier: GPL-2.0-only
/* The first step of a group: it comes together, or its members hear why not. */
#include <stdlib.h>
#include "tests/unit/cp/group/cp_orders.h"

static void form_used(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p), *half = NULL, *one = NULL;
	struct ddio_file *file[2] = { NULL };
	uint32_t procs = p->w->p.procs, size, k;
	static uint8_t buf[4096];
	struct orders_job j[2];

	if (!g)
		return;
	orders_open(p, g, file, 2);
	for (k = 0; k < 2; k++)
		CU_ASSERT_EQUAL(ddio_file_has_order(file[k]), 1);
	for (k = 0; k < 2; k++) {
		orders_list(p, &j[k], buf, 0, 4096 / procs);
		CP_OK(p, ddio_start_write_all(file[k], g, &j[k].t, &j[k].op));
	}
	for (k = 2; k-- > 0;)
		CP_OK(p, ddio_wait(j[k].op));
	CP_OK(p, ddio_group_barrier(g));
	CP_OK(p, ddio_group_split(g, (int)(p->rank & 1), 0, &half));
	CP_OK(p, ddio_group_split(g, (int)p->rank, 0, &one));
	size = half ? ddio_group_size(half) : 0;
	CU_ASSERT_EQUAL(size, (procs + 1 - (p->rank & 1)) / 2);
	CP_OK(p, ddio_group_barrier(half));
	ddio_group_free(one);
	ddio_group_free(half);
	orders_close(file, 2);
	ddio_group_free(g);
}

static void form_sizes(void)
{
	static const uint32_t procs[] = { 1, 2, 4, 7, 13 };
	struct cp_world w;
	uint32_t k;

	for (k = 0; k < 2 * sizeof(procs) / sizeof(procs[0]); k++) {
		cp_world_begin(&w, &(struct cp_params){ .procs = procs[k / 2],
							.deep = k & 1,
							.timeout_ms = 3000 });
		CU_ASSERT_EQUAL(cp_run(&w, form_used, NULL), 0);
		cp_world_end(&w);
	}
}

/* A member is gone at some time while the group is being form_used: the others hear of it, and can form another. */
static uint64_t form_cut_ns;
static uint32_t form_who;

static void form_cut(struct cp_proc *p)
{
	struct ddio_group *g = NULL, *again = NULL;
	uint32_t procs = p->w->p.procs, rank = p->rank - (p->rank > form_who);
	int ret = ddio_group_create(p->session, p->rank, procs, "127.0.0.1:9000", &g);

	if (p->rank == form_who)
		return;
	cp_note(p, ret);
	if (ret)
		CU_ASSERT(p->text[0] != 0);
	if (!ret)
		ddio_group_free(g);
	ddio_sim_sleep(p->env, 30 * CP_SEC - ddio_sim_elapsed(p->w->dw));
	CP_OK(p, ddio_group_create(p->session, rank, procs - 1, "127.0.0.1:9100", &again));
	if (again)
		CP_OK(p, ddio_group_barrier(again));
	ddio_group_free(again);
}

static void form_nothing(struct cp_proc *p)
{
	(void)p;
}

static void form_cutter(void *arg)
{
	struct cp_proc *p = arg;

	ddio_sim_sleep(p->env, form_cut_ns);
	ddio_sim_cut(p->env);
}

static void form_one_is_cut(void)
{
	struct cp_world w;
	uint32_t failed = 0, k, r;

	for (k = 0; k < 120; k++) {
		form_who = k % 5;
		form_cut_ns = 17000 * (uint64_t)(k / 5) + 5000;
		cp_leaks_allowed(true);
		cp_world_begin(&w,
			       &(struct cp_params){ .procs = 5, .deep = true, .timeout_ms = 3000 });
		CU_ASSERT_EQUAL(cp_run(&w, form_nothing, NULL), 0);
		ddio_sim_spawn(w.proc[form_who].env, form_cutter, &w.proc[form_who]);
		ddio_sim_limit(w.dw, 300 * CP_SEC);
		CU_ASSERT_EQUAL(cp_run(&w, form_cut, NULL), 0);
		for (r = 0; r < 5; r++)
			failed += w.proc[r].ret != 0;
		cp_world_end(&w);
		cp_leaks_allowed(false);
	}
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "groups of every size", form_sizes },
		{ "one is gone meanwhile", form_one_is_cut },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "first step", cases } };

	return cp_ut_run("cp_form", suites, 1);
}
