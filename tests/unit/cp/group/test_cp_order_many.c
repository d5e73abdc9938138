// SPDX-License-Identifier: GPL-2.0-only
/* Very many collectives of many files at once: what each costs does not grow with their number. */
#include "cp/coll/starts.h"
#include "tests/unit/cp/group/cp_orders.h"

enum { FILES = 80, OPS = 51, ALL = FILES * OPS, DEEP = 16384, BYTES = 512, LOOKS = 8 };

static void many_world(void (*fn)(struct cp_proc *p), const char *options)
{
	orders_run(fn, (struct cp_params){ .procs = 3, .options = options, .timeout_ms = 60000 },
		   NULL);
}

static void job_start(struct cp_proc *p, struct ddio_group *g, struct ddio_file *f,
		      struct orders_job *j, uint32_t i)
{
	static uint8_t buf[BYTES];

	orders_list(p, j, buf, (uint64_t)i * p->w->p.procs * BYTES, BYTES);
	j->t.flags |= DDIO_XFER_OVERLAP;
	CP_OK(p, ddio_start_write_all(f, g, &j->t, &j->op));
}

/* Returns how many operations of the group were looked at so far, to find one or the next. */
static uint64_t looks(struct ddio_group *g)
{
	const struct ops *ops = *group_state(g, &op_group_user);

	return ops->looks;
}

/* One member begins one of each file after the other, from the last file to the first; the others all of a file. */
static void all_begin(struct cp_proc *p, struct ddio_group *g, struct ddio_file **f,
		      struct orders_job *j)
{
	uint32_t k, file;

	for (k = 0; k < ALL; k++) {
		file = p->rank & 1 ? FILES - 1 - k % FILES : k / OPS;
		job_start(p, g, f[file], &j[k], p->rank & 1 ? k / FILES : k % OPS);
	}
}

static void begun_and_ended(struct cp_proc *p)
{
	struct orders_job *j = calloc(ALL, sizeof(*j));
	struct ddio_file *f[FILES] = { NULL };
	struct ddio_group *g = cp_group(p);
	uint32_t k;

	orders_open(p, g, f, FILES);
	all_begin(p, g, f, j);
	for (k = 0; k < ALL; k++)
		CP_OK(p, ddio_wait(j[k].op));
	CU_ASSERT(looks(g) > 0);
	CU_ASSERT(looks(g) <= LOOKS * ALL);
	orders_close(f, FILES);
	ddio_group_free(g);
	free(j);
}

static void started(void)
{
	many_world(begun_and_ended, "delay_us=300");
}

static void begun_and_broken(struct cp_proc *p)
{
	struct orders_job *j = calloc(ALL, sizeof(*j));
	struct ddio_file *f[FILES] = { NULL };
	struct ddio_group *g = cp_group(p);
	uint32_t k;

	orders_open(p, g, f, FILES);
	all_begin(p, g, f, j);
	ddio_sim_sleep(p->env, 50 * CP_MS);
	if (!p->rank)
		CP_OK(p, ddio_group_abort(g, "the test ends it"));
	for (k = 0; k < ALL; k++)
		cp_note(p, ddio_wait(j[k].op));
	CU_ASSERT_EQUAL(p->ret, -ECONNABORTED);
	CU_ASSERT(looks(g) <= LOOKS * ALL);
	orders_close(f, FILES);
	ddio_group_free(g);
	free(j);
}

static void broken(void)
{
	many_world(begun_and_broken, "delay_us=3000");
}

/* Rank 0 comes late: the others are ahead of it by no more than may lend their turns, and one of each file. */
static void begun_before(struct cp_proc *p)
{
	struct orders_job *j = calloc(ALL, sizeof(*j));
	struct ddio_file *f[FILES] = { NULL };
	struct ddio_group *g = cp_group(p);
	uint32_t k;

	orders_open(p, g, f, FILES);
	if (!p->rank) {
		ddio_sim_sleep(p->env, CP_SEC);
		CU_ASSERT(g->nahead > TURNS_LENT_ALL && g->nahead <= 2 * (TURNS_LENT_ALL + FILES));
	}
	all_begin(p, g, f, j);
	ddio_sim_sleep(p->env, CP_MS);
	if (p->rank)
		CU_ASSERT_EQUAL(g->nlent, TURNS_LENT_ALL);
	for (k = 0; k < ALL; k++)
		CP_OK(p, ddio_wait(j[k].op));
	CU_ASSERT_EQUAL(g->nlent, 0);
	CU_ASSERT_EQUAL(g->nahead, 0);
	orders_close(f, FILES);
	ddio_group_free(g);
	free(j);
}

static void ahead(void)
{
	many_world(begun_before, NULL);
}

/* Very many of one file, of a member that is alone, and of two. */
static void of_one_file(struct cp_proc *p)
{
	struct orders_job *j = calloc(DEEP, sizeof(*j));
	struct ddio_file *f = NULL;
	struct ddio_group *g = cp_group(p);
	uint32_t k;

	orders_open(p, g, &f, 1);
	for (k = 0; k < DEEP; k++)
		job_start(p, g, f, &j[k], k);
	for (k = DEEP; k-- > 0;)
		CP_OK(p, ddio_wait(j[k].op));
	CU_ASSERT(looks(g) <= LOOKS * DEEP);
	CU_ASSERT(g->looks <= LOOKS * DEEP);
	CU_ASSERT_TRUE(ddio_list_empty(&g->fans));
	ddio_close(f);
	ddio_group_free(g);
	free(j);
}

static void deep(void)
{
	uint32_t procs;

	for (procs = 1; procs <= 2; procs++)
		orders_run(of_one_file, (struct cp_params){ .procs = procs, .timeout_ms = 60000 },
			   NULL);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "begun and ended", started },
		{ "begun, and the group breaks", broken },
		{ "begun before one has come", ahead },
		{ "of one file", deep },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "very many of many files", cases } };

	return cp_ut_run("cp_order_many", suites, 1);
}
