// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patient groups: a member that is late by minutes makes no call fail, and one that has died, or has fallen silent,
 * is found nevertheless, also while another one is late.
 */
#include "tests/unit/cp/cp_world.h"

enum { PROCS = 8, TIMEOUT_MS = 3000, LATE_S = 600, CALLS = 8, ELEMS = 256 };

/* What happens to whom. */
struct fate {
	uint32_t silent;
	uint64_t late; /* mask of ranks */
	uint64_t returned[PROCS];
};

static const struct ddio_array array = {
	.elem_size = 8,
	.ndims = 1,
	.dim = { { .size = ELEMS, .dist = DDIO_CYCLIC, .procs = PROCS } },
};
static const struct ddio_part part = { .kind = DDIO_PART_ARRAY, .array = &array };

static int call(struct ddio_group *g, struct ddio_file *f, uint32_t what)
{
	uint8_t buf[ELEMS * 8 / PROCS] = { 0 };
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .buf = buf };
	struct ddio_file *other = NULL;
	struct ddio_group *sub = NULL;
	int ret;

	switch (what) {
	case 0:
		return ddio_group_barrier(g);
	case 1:
		ret = ddio_open_all(g, "other", DDIO_CREATE, NULL, &other);
		ddio_close(other);
		return ret;
	case 2:
		ret = ddio_group_split(g, (int)(ddio_group_rank(g) % 2), 0, &sub);
		ddio_group_free(sub);
		return ret;
	case 3:
		return ddio_write_all(f, g, &t);
	default:
		t.method = what - 3;
		return ddio_read_all(f, g, &t);
	}
}

static struct ddio_group *patient_group(struct cp_proc *p, struct ddio_file **f)
{
	struct ddio_group *g = cp_group(p);

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, f));
	CP_OK(p, ddio_set_size(*f, ELEMS * 8));
	CP_OK(p, ddio_group_set_patient(g));
	return g;
}

/* Every call in turn waits for the late ones. */
static void wait_long(struct cp_proc *p)
{
	const struct fate *fate = p->w->arg;
	struct ddio_file *f = NULL;
	struct ddio_group *g = patient_group(p, &f);
	uint32_t what;

	for (what = 0; what < CALLS; what++) {
		if (fate->late >> p->rank & 1)
			ddio_sim_sleep(p->env, LATE_S * CP_SEC);
		CP_OK(p, call(g, f, what));
	}
	ddio_close(f);
	ddio_group_free(g);
}

static void late_ones_are_waited_for(void)
{
	static const uint64_t masks[] = { 1, 2, 4, 0x10, 0x80, 0x81, 0x6, 0xfe, 0x7f };
	struct fate fate = { 0 };
	struct cp_world w;
	size_t i;

	for (i = 0; i < sizeof(masks) / sizeof(masks[0]); i += ut_stride(3)) {
		fate.late = masks[i];
		cp_world_begin(&w, &(struct cp_params){ .procs = PROCS, .timeout_ms = TIMEOUT_MS });
		ddio_sim_limit(w.dw, 20 * LATE_S * CP_SEC);
		CU_ASSERT_EQUAL(cp_run(&w, wait_long, &fate), 0);
		CU_ASSERT(ddio_sim_elapsed(w.dw) >= CALLS * LATE_S * CP_SEC);
		cp_world_end(&w);
	}
}

/* A group that is split from a patient one is patient; one that was there before is not. */
static void split_long(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p), *before = NULL, *after = NULL;

	CP_OK(p, ddio_group_split(g, 1, 0, &before));
	CP_OK(p, ddio_group_set_patient(g));
	CP_OK(p, ddio_group_set_patient(g));
	CP_OK(p, ddio_group_split(g, 1, 0, &after));
	if (p->rank == 3)
		ddio_sim_sleep(p->env, 60 * CP_SEC);
	CP_OK(p, ddio_group_barrier(after));
	if (p->rank == 3)
		ddio_sim_sleep(p->env, 60 * CP_SEC);
	else
		CU_ASSERT_EQUAL(ddio_group_barrier(before), -ETIMEDOUT);
	ddio_group_free(after);
	ddio_group_free(before);
	ddio_group_free(g);
}

static void groups_split_from_it(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 5, .timeout_ms = TIMEOUT_MS });
	CU_ASSERT_EQUAL(cp_run(&w, split_long, NULL), 0);
	cp_world_end(&w);
}

static void fall_silent(struct cp_proc *p)
{
	struct ddio_sim_link link;

	ddio_sim_link_default(&link);
	link.stall_after = 1;
	ddio_sim_set_link(p->env, &link);
}

/* One falls silent while another is late. */
static void silence(struct cp_proc *p)
{
	struct fate *fate = p->w->arg;
	struct ddio_file *f = NULL;
	struct ddio_group *g = patient_group(p, &f);
	uint64_t began;

	CP_OK(p, ddio_group_barrier(g));
	CP_OK(p, ddio_group_check(g));
	ddio_sim_sleep(p->env, CP_SEC);
	began = ddio_sim_elapsed(p->w->dw);
	if (p->rank == fate->silent) {
		fall_silent(p);
		/* Its end would be noticed. */
		ddio_sim_sleep(p->env, 2 * LATE_S * CP_SEC);
	}
	if (fate->late >> p->rank & 1)
		ddio_sim_sleep(p->env, LATE_S * CP_SEC);
	if (p->rank != fate->silent) {
		cp_note(p, ddio_read_all(f, g,
					 &(struct ddio_transfer){
						 .struct_size = sizeof(struct ddio_transfer),
						 .part = &part,
						 .buf = (uint8_t[ELEMS * 8 / PROCS]){ 0 } }));
		fate->returned[p->rank] = ddio_sim_elapsed(p->w->dw) - began;
		CU_ASSERT_EQUAL(ddio_group_check(g), -ECONNABORTED);
		CU_ASSERT(strstr(ddio_last_error(p->session), "of the group") != NULL);
	}
	ddio_close(f);
	ddio_group_free(g);
}

static void check_silence(const struct cp_world *w, const struct fate *fate)
{
	uint32_t r;

	for (r = 0; r < PROCS; r++) {
		if (r == fate->silent)
			continue;
		CU_ASSERT_EQUAL(w->proc[r].ret, -ECONNABORTED);
		if (fate->late >> r & 1)
			continue;
		CU_ASSERT(fate->returned[r] <= 3 * TIMEOUT_MS * CP_MS);
		if (w->proc[r].ret != -ECONNABORTED || fate->returned[r] > 3 * TIMEOUT_MS * CP_MS)
			fprintf(stderr, "silent %u, late %#llx: rank %u after %llu ms: %d %s\n",
				fate->silent, (unsigned long long)fate->late, r,
				(unsigned long long)(fate->returned[r] / CP_MS), w->proc[r].ret,
				w->proc[r].text);
	}
}

static void silence_with(uint32_t silent, uint64_t late)
{
	struct fate fate = { .silent = silent, .late = late };
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS, .timeout_ms = TIMEOUT_MS });
	CU_ASSERT_EQUAL(cp_run(&w, silence, &fate), 0);
	check_silence(&w, &fate);
	cp_world_end(&w);
}

static void silent_ones_are_found(void)
{
	uint32_t silent, other;

	for (silent = 0; silent < PROCS; silent++) {
		silence_with(silent, 0);
		for (other = 0; other < PROCS; other++) {
			if (other == silent)
				continue;
			/* One is late; all others are. */
			silence_with(silent, 1ull << other);
			silence_with(silent, 0xffull & ~(1ull << other) & ~(1ull << silent));
		}
	}
}

/* Whoever does not come knows that others wait; it comes, or it gives the group up. */
static void elsewhere(struct cp_proc *p)
{
	struct fate *fate = p->w->arg;
	struct ddio_file *f = NULL;
	struct ddio_group *g = patient_group(p, &f);
	unsigned int seconds = 0;

	CU_ASSERT_EQUAL(ddio_group_awaited(g), 0);
	if (p->rank == fate->silent) {
		for (; seconds < LATE_S && !ddio_group_awaited(g); seconds++)
			ddio_sim_sleep(p->env, CP_SEC);
		CU_ASSERT(seconds >= TIMEOUT_MS / 1000 && seconds <= 2 * TIMEOUT_MS / 1000);
	}
	CP_OK(p, ddio_group_barrier(g));
	CU_ASSERT_EQUAL(ddio_group_awaited(g), 0);
	if (p->rank == fate->silent) {
		ddio_sim_sleep(p->env, LATE_S * CP_SEC);
		CU_ASSERT_EQUAL(ddio_group_awaited(g), 1);
		CP_OK(p, ddio_group_abort(g, "it is elsewhere"));
	}
	cp_note(p, ddio_group_barrier(g));
	CU_ASSERT(strstr(ddio_last_error(p->session), "has given up the group: it is elsewhere") !=
		  NULL);
	CU_ASSERT_EQUAL(ddio_group_check(g), -ECONNABORTED);
	ddio_close(f);
	ddio_group_free(g);
}

static void awaited_ones_know(void)
{
	struct fate fate = { 0 };
	struct cp_world w;
	uint32_t r;

	for (fate.silent = 0; fate.silent < PROCS; fate.silent++) {
		cp_world_begin(&w, &(struct cp_params){ .procs = PROCS, .timeout_ms = TIMEOUT_MS });
		CU_ASSERT_EQUAL(cp_run(&w, elsewhere, &fate), 0);
		for (r = 0; r < PROCS; r++)
			CU_ASSERT_EQUAL(w.proc[r].ret, -ECONNABORTED);
		cp_world_end(&w);
	}
	CU_ASSERT_EQUAL(ddio_group_awaited(NULL), -EINVAL);
	CU_ASSERT_EQUAL(ddio_group_abort(NULL, NULL), -EINVAL);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "late members are waited for", late_ones_are_waited_for },
		{ "groups that are split from a patient one", groups_split_from_it },
		{ "silent members are found while others are late", silent_ones_are_found },
		{ "members that are awaited know it, and may give the group up",
		  awaited_ones_know },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "patient groups", cases } };

	return ut_run("test_cp_patient", suites, 1);
}
