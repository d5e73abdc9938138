// SPDX-License-Identifier: GPL-2.0-only
/* Steps of files that a member has closed, without memory for what it says of them: each allocation fails once. */
#include <errno.h>
#include "tests/unit/lib/ut_nomem.h"

#include "userlib/cp/group/fan/ended.c"
#include "userlib/cp/group/fan/fan.c"
#include "userlib/cp/group/fan/gather.c"
#include "userlib/cp/group/fan/keep.c"
#include "userlib/cp/group/fan/send.c"
#include "tests/unit/lib/ut_nomem_end.h"

#include "tests/unit/cp/group/cp_orders.h"

enum { TIMEOUT_MS = 3000 };

/* Rank 2 has closed the file that the others write: it is asked for that, as the first that it hears of it. */
static void room_closed(struct cp_proc *p)
{
	const uint64_t *fails = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	static uint8_t buf[4096];
	struct orders_job j;

	orders_open(p, g, &f, 1);
	CP_OK(p, ddio_group_barrier(g));
	orders_list(p, &j, buf, 0, 1024);
	if (p->rank == 2)
		ddio_close(f);
	ddio_sim_sleep(p->env, CP_SEC);
	if (!p->rank) {
		nomem_allocs = 0;
		nomem_countdown = *fails;
	}
	if (p->rank != 2) {
		CU_ASSERT_NOT_EQUAL(ddio_write_all(f, g, &j.t), 0);
		ddio_close(f);
	}
	ddio_sim_sleep(p->env, 30 * CP_SEC - ddio_sim_elapsed(p->w->dw));
	if (!*fails)
		CP_OK(p, ddio_group_barrier(g));
	ddio_group_free(g);
}

static uint64_t room_run(uint64_t fails)
{
	orders_run(room_closed, (struct cp_params){ .procs = 3, .timeout_ms = TIMEOUT_MS }, &fails);
	nomem_countdown = 0;
	return nomem_allocs;
}

static void room_fails(void)
{
	uint64_t n = room_run(0), k;

	CU_ASSERT(n > 5);
	for (k = 1; k <= n; k++)
		room_run(k);
}

int main(void)
{
	static const struct ut_case cases[] = { { "a file is closed", room_fails },
						{ NULL, NULL } };
	static const struct ut_suite suites[] = { { "steps without memory", cases } };

	return cp_ut_run("cp_order_room", suites, 1);
}
