// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node ends in order while a process is cut off from it: what it was given is kept, and the next incarnation says so when
 * the process connects.  What was given to one that did not end so, or ended too long ago, counts as lost.
 */
#include <errno.h>
#include "tests/unit/cp/cp_world.h"
#include "iop/server/priv.h"

enum { LEN = 5000 };

static void cut(struct cp_proc *p, uint32_t i, bool off)
{
	uint32_t k;

	for (k = 0; k < CP_REACTORS; k++) {
		if (off)
			ddio_sim_cut(p->w->node[i].env[k]);
		else
			ddio_sim_rejoin(p->w->node[i].env[k]);
	}
}

/* Stops it in order while nobody hears it, and starts it again. */
static void ends_unheard(struct cp_proc *p, uint32_t i)
{
	struct cp_node *node = &p->w->node[i];

	cut(p, i, true);
	node->stop.fn = cp_stop_post;
	node->stop.arg = node;
	ddio_env_post(node->env[0], &node->stop);
	ddio_sim_sleep(p->env, 10 * CP_SEC);
	cut(p, i, false);
	ddio_iop_free(node->iop);
	cp_node_begin(p->w, i);
}

/* To whoever was connected it is another incarnation, of which nobody knows how the one before ended. */
static void dies(struct cp_proc *p, uint32_t i)
{
	cut(p, i, true);
	p->w->node[i].iop->boot++;
	ddio_sim_sleep(p->env, 10 * CP_SEC);
	cut(p, i, false);
}

static void change(struct ddio_file *f)
{
	uint8_t buf[LEN] = { 1 };

	CU_ASSERT_EQUAL(ddio_pwrite(f, buf, sizeof(buf), 0), sizeof(buf));
}

static void data_kept(struct cp_proc *p)
{
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));
	change(f);
	ends_unheard(p, 1);
	CP_OK(p, ddio_sync(f));
	change(f);
	ends_unheard(p, 1);
	ends_unheard(p, 1);
	CP_OK(p, ddio_sync(f));
	/* The first of two has kept what it was given; the second one has not. */
	change(f);
	ends_unheard(p, 1);
	change(f);
	dies(p, 1);
	CU_ASSERT_EQUAL(cp_note(p, ddio_sync(f)), -EHOSTDOWN);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "node io1 was restarted"));
	CP_OK(p, ddio_sync(f));
	/* The second one of two has, and the first has not. */
	change(f);
	dies(p, 1);
	ends_unheard(p, 1);
	CU_ASSERT_EQUAL(ddio_sync(f), -EHOSTDOWN);
	CP_OK(p, ddio_sync(f));
	ddio_close(f);
}

/* The name server has no data of the file, but its name and its size. */
static void names_kept_too(struct cp_proc *p)
{
	const uint32_t disk = 1;
	const struct ddio_striping st = { .struct_size = sizeof(st), .ndisks = 1, .disks = &disk };
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open(p->session, "n", DDIO_CREATE, &st, &f));
	ends_unheard(p, 0);
	CP_OK(p, ddio_sync(f));
	CP_OK(p, ddio_set_size(f, 100));
	ends_unheard(p, 0);
	ends_unheard(p, 0);
	CP_OK(p, ddio_sync(f));
	CP_OK(p, ddio_set_size(f, 200));
	dies(p, 0);
	CU_ASSERT_EQUAL(cp_note(p, ddio_sync(f)), -EHOSTDOWN);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "node io0 was restarted"));
	CP_OK(p, ddio_sync(f));
	ddio_close(f);
}

static void after_many(struct cp_proc *p)
{
	struct ddio_file *f = NULL;
	uint32_t i, n;

	CP_OK(p, ddio_open(p->session, "m", DDIO_CREATE, NULL, &f));
	for (n = DDIO_ENDS; n <= DDIO_ENDS + 1; n++) {
		change(f);
		for (i = 0; i < n; i++)
			ends_unheard(p, 1);
		CU_ASSERT_EQUAL(ddio_sync(f), n <= DDIO_ENDS ? 0 : -EHOSTDOWN);
		CP_OK(p, ddio_sync(f));
	}
	ddio_close(f);
}

/* What is recorded counts, and not what was heard: the records may have been put back from a backup. */
static void put_back(struct cp_proc *p)
{
	struct server *server;
	struct cp_node *node = &p->w->node[1];
	struct ddio_file *f = NULL;
	uint32_t i;

	CP_OK(p, ddio_open(p->session, "b", DDIO_CREATE, NULL, &f));
	change(f);
	node->stop.fn = cp_stop_post;
	node->stop.arg = node;
	ddio_env_post(node->env[0], &node->stop);
	ddio_sim_sleep(p->env, 10 * CP_SEC);
	ddio_iop_free(node->iop);
	cp_node_begin(p->w, 1);
	server = server_of(node->iop);
	for (i = 0; i < p->w->p.disks; i++)
		server->where[i].ends.n = 0;
	CU_ASSERT_EQUAL(ddio_sync(f), -EHOSTDOWN);
	CP_OK(p, ddio_sync(f));
	ddio_close(f);
}

static void run(void (*fn)(struct cp_proc *p), bool sync)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 1, .lasts = true, .sync = sync });
	CU_ASSERT_EQUAL(cp_run(&w, fn, NULL), 0);
	cp_world_end(&w);
}

static void data(void)
{
	run(data_kept, true);
}

static void names(void)
{
	run(names_kept_too, true);
}

static void many(void)
{
	run(after_many, true);
}

static void backup(void)
{
	run(put_back, true);
}

/* Where nothing is flushed, the record could be there, and what it stands for not. */
static void unrecorded(struct cp_proc *p)
{
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open(p->session, "u", DDIO_CREATE, NULL, &f));
	change(f);
	ends_unheard(p, 1);
	CU_ASSERT_EQUAL(ddio_sync(f), -EHOSTDOWN);
	CP_OK(p, ddio_sync(f));
	ddio_close(f);
}

static void without_flushes(void)
{
	run(unrecorded, false);
}

static const struct ut_case cases[] = {
	{ "data", data },
	{ "names", names },
	{ "more ends than are remembered", many },
	{ "records put back from a backup", backup },
	{ "without flushes", without_flushes },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "orderly ends", cases } };

	return cp_ut_run("test_cp_ends", suites, 1);
}
