// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first step of a group, in which members say what they know: one of an earlier release says nothing, and passes on what it is told; another
 * says what is wrong.  All members take it alike, and the group does what it did before.
 */
#include <stdlib.h>
#include "cp/group/fan/fan.h"

static void say_begin(struct ddio_group *group, uint64_t number, unsigned int step,
		      const struct fan_in *in);
static void *join_room(const struct ddio_group *group, size_t n);

#define fan_begin say_begin
#define malloc(n) join_room(group, n)
#include "userlib/cp/group/form/form.c"
#undef fan_begin
#undef malloc

#include "tests/unit/cp/group/cp_orders.h"

enum { SAY_MAX = 1 << 20 };

/**
 * struct form_say - what one member says instead of what it knows
 * @old: it is of an earlier release: says nothing, and joins nothing
 * @len: else these bytes, of which the first are @members and @features, again and again
 * @has: whether files have orders; -1: as the others have it
 */
struct form_say {
	bool old;
	size_t len;
	uint32_t members;
	uint64_t features;
	int has;
};

static const struct form_say *form_says;
static uint32_t form_who;
static bool form_no_room;
static uint8_t form_bytes[SAY_MAX];

static bool is_other(const struct ddio_group *group)
{
	return form_says && group->rank == form_who && group->size > 1;
}

static void *join_room(const struct ddio_group *group, size_t n)
{
	return form_no_room || (is_other(group) && form_says->old) ? NULL : malloc(n);
}

static void say_begin(struct ddio_group *group, uint64_t number, unsigned int step,
		      const struct fan_in *in)
{
	struct fan_in other = *in;
	uint8_t entry[KNOWN];
	size_t k;

	if (is_other(group)) {
		known_put(entry, &(struct known){ form_says->members, form_says->features });
		for (k = 0; k < form_says->len; k++)
			form_bytes[k] = entry[k % KNOWN];
		other.gather = form_bytes;
		other.gather_len = form_says->old ? 0 : form_says->len;
		if (form_says->old)
			other.root = NULL;
	}
	fan_begin(group, number, step, &other);
}

static int form_have, form_have_not;

static void form_used(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p), *half = NULL, *one = NULL;
	struct ddio_file *file[2] = { NULL };
	uint32_t procs = p->w->p.procs, size, k;
	static uint8_t buf[4096];
	struct orders_job j[2];
	int has;

	if (!g)
		return;
	orders_open(p, g, file, 2);
	has = ddio_file_has_order(file[0]);
	form_have += has == 1;
	form_have_not += has == 0;
	CU_ASSERT_EQUAL(has, ddio_file_has_order(file[1]));
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
	CU_ASSERT_TRUE(one && one->features == (DDIO_WIRE_FEATURES & ~p->session->without));
	ddio_group_free(one);
	ddio_group_free(half);
	orders_close(file, 2);
	ddio_group_free(g);
}

static void form_world(uint32_t procs, bool deep)
{
	struct cp_world w;
	int want = form_says ? form_says->has : 1;

	form_have = form_have_not = 0;
	cp_world_begin(&w, &(struct cp_params){ .procs = procs, .deep = deep, .timeout_ms = 3000 });
	CU_ASSERT_EQUAL(cp_run(&w, form_used, NULL), 0);
	cp_world_end(&w);
	CU_ASSERT_EQUAL(form_have + form_have_not, (int)procs);
	CU_ASSERT(!form_have || !form_have_not);
	if (want >= 0)
		CU_ASSERT_EQUAL(form_have != 0, want);
}

static void form_said(void)
{
	static const struct form_say how[] = {
		{ true, 0, 0, 0, 0 },
		{ false, 0, 0, 0, 0 },
		{ false, 11, 1, DDIO_WIRE_FEATURES, 0 },
		{ false, 13, 1, DDIO_WIRE_FEATURES, -1 },
		{ false, 24, 1, DDIO_WIRE_FEATURES, 0 },
		{ false, 12, 1, UINT64_MAX, -1 },
		{ false, 12, 1, 0, 0 },
		{ false, 12, 0, UINT64_MAX, 0 },
		{ false, 12, UINT32_MAX, UINT64_MAX, 0 },
		{ false, 12, 1000, UINT64_MAX, 0 },
		{ false, SAY_MAX, UINT32_MAX, UINT64_MAX, 0 },
	};
	static const uint32_t procs[] = { 2, 4, 7, 13 };
	uint32_t h, k;

	for (h = 0; h < sizeof(how) / sizeof(how[0]); h++)
		for (k = 0; k < 8; k++)
			for (form_who = 0; form_who < procs[k / 2]; form_who++) {
				form_says = &how[h];
				form_world(procs[k / 2], k & 1);
			}
	form_says = NULL;
}

static void form_without_room(void)
{
	form_no_room = true;
	form_world(2, false);
	form_world(13, false);
	form_world(13, true);
	form_no_room = false;
	form_world(13, true);
	form_world(1, true);
}

/* A member is gone at some time while the group is being form_used: the others hear of it, and can form another. */
static uint64_t form_cut_ns;

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
		{ "what one member says", form_said },
		{ "no memory to join it, and groups of one", form_without_room },
		{ "one is gone meanwhile", form_one_is_cut },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "first step", cases } };

	return cp_ut_run("cp_form", suites, 1);
}
