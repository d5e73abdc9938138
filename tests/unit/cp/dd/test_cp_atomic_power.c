// SPDX-License-Identifier: GPL-2.0-only
/*
 * Atomic writes of a file, or of several in one epoch, while a node, that with the names, or all of them die after each event of it, alone
 * or with their machines, whose disks and journals then lose what was not flushed, or a part of it.
 */
#include "tests/unit/cp/dd/cp_power.h"
#include "tests/unit/cp/dd/atomic_run.h"

/**
 * struct loss - what happens
 * @nodes: bit mask of those that die; @lose: see cp_power_off()
 * @down_ns: so long they are down
 */
struct loss {
	uint32_t nodes, lose;
	uint64_t down_ns;
};

static const struct loss losses[] = {
	{ .nodes = 1, .lose = 0, .down_ns = 500 * CP_MS },
	{ .nodes = 2, .lose = 0, .down_ns = 500 * CP_MS },
	{ .nodes = 1, .lose = 1000, .down_ns = 500 * CP_MS },
	{ .nodes = 2, .lose = 1000, .down_ns = 500 * CP_MS },
	{ .nodes = 3, .lose = 1000, .down_ns = 3 * CP_SEC },
	{ .nodes = 3, .lose = 500, .down_ns = 500 * CP_MS },
};

/* What was prepared, decided or settled last may not be flushed when the writers are told: so long after that nodes die, too. */
enum { LATER = 24, LATER_NS = 20000000 };

static struct cp_params power_params(void)
{
	struct cp_params p = params;

	p.sync = true;
	p.media = true;
	p.disk_size = "256K";
	return p;
}

static void nodes_die(struct cp_world *w, const struct loss *loss)
{
	uint32_t i;

	for (i = 0; i < w->p.nodes; i++)
		if (loss->nodes >> i & 1)
			cp_power_off(w, i, loss->lose);
	ddio_sim_run_for(w->dw, loss->down_ns);
	for (i = 0; i < w->p.nodes; i++)
		if (loss->nodes >> i & 1)
			cp_power_on(w, i);
}

/* Returns true if the write is there. */
static bool loss_at(uint32_t files, const struct loss *loss, uint64_t at)
{
	const struct cp_params p = power_params();
	bool told = false;
	struct cp_world w;
	uint32_t r;

	begin_with(&w, files, &p);
	start(&w);
	ddio_sim_run_for(w.dw, at);
	nodes_die(&w, loss);
	ddio_sim_run_for(w.dw, 20 * CP_SEC);
	CU_ASSERT_TRUE(all_ended(&w));
	for (r = 0; r < PROCS; r++) {
		told |= !run.ret[r];
		CU_ASSERT_EQUAL(run.ret[r], run.ret[0]);
	}
	CU_ASSERT_EQUAL(cp_run(&w, look_last, NULL), 0);
	ddio_sim_run_for(w.dw, 2 * CP_SEC);
	whole(&w, told);
	cp_run(&w, finish, NULL);
	cp_world_end(&w);
	return run.found_new;
}

static void check_losses(uint32_t files, uint32_t step)
{
	static uint64_t at[4096];
	const struct cp_params p = power_params();
	uint32_t n = moments(files, &p, at, 4096 - LATER), i, k, news = 0, olds = 0;

	CU_ASSERT_FATAL(n > 40 && n < 4096 - LATER);
	for (i = 0; i < LATER; i++, n++)
		at[n] = at[n - 1] + LATER_NS / LATER;
	for (k = 0; k < sizeof(losses) / sizeof(losses[0]); k++)
		for (i = k % step; i < n; i += step) {
			if (loss_at(files, &losses[k], at[i]))
				news++;
			else
				olds++;
		}
	printf("\n  %u moments, %u deaths, after %u of which the write is there ", n, news + olds,
	       news);
	CU_ASSERT(news > 5);
	CU_ASSERT(olds > 10);
}

/* On one machine a few are enough: what differs there is not about epochs. */
static void test_losses(void)
{
	check_losses(1, cp_local ? 11 : ut_stride(11));
}

static void test_losses_files(void)
{
	check_losses(2, cp_local ? 13 : ut_stride(13));
}

static const struct ut_case cases[] = {
	{ "nodes die after any event of it", test_losses },
	{ "several files: nodes die after any event", test_losses_files },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "atomic writes and power", cases } };

	return cp_ut_run("cp_atomic_power", suites, 1);
}
