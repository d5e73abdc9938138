// SPDX-License-Identifier: GPL-2.0-only
/* More processes than a node takes connections of strangers begin at the same instant. */
#define CP_PROCS 2048
#include "tests/unit/cp/cp_world.h"

static int count_hits(void *arg, const struct ddio_bound_state *b)
{
	if (!strncmp(b->name, "unproved", 8))
		*(uint64_t *)arg += b->hits;
	return 0;
}

enum { PIECE = 512 };

static uint64_t shed_total(struct cp_proc *p)
{
	uint64_t n = 0;

	CP_OK(p, ddio_bounds(p->session, count_hits, &n));
	return n;
}

/* Each writes its piece and reads its neighbour's. */
static void begin_at_once(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = NULL;
	struct ddio_strided mine = { .offset = (uint64_t)p->rank * PIECE, .len = PIECE };
	struct ddio_part part = { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &mine };
	uint8_t buf[PIECE];
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .buf = buf };
	uint32_t next = (p->rank + 1) % p->w->p.procs, i, wrong = 0;

	CP_OK(p, ddio_open_all(g, "f", DDIO_CREATE, NULL, &f));
	for (i = 0; i < PIECE; i++)
		buf[i] = cp_byte(p->rank, i);
	CP_OK(p, ddio_write_all(f, g, &t));
	mine.offset = (uint64_t)next * PIECE;
	CP_OK(p, ddio_read_all(f, g, &t));
	for (i = 0; i < PIECE; i++)
		wrong += buf[i] != cp_byte(next, i);
	CU_ASSERT_EQUAL(wrong, 0);
	ddio_close(f);
	ddio_group_free(g);
}

static void count_shed(struct cp_proc *p)
{
	if (!p->rank)
		*(uint64_t *)p->w->arg = shed_total(p);
}

static void many_members(void)
{
	static struct cp_world w;
	uint64_t shed = 0;

	cp_world_begin(&w, &(struct cp_params){ .procs = CP_PROCS, .keyed = true });
	CU_ASSERT_EQUAL(cp_run(&w, begin_at_once, NULL), 0);
	CU_ASSERT_EQUAL(cp_run(&w, count_shed, &shed), 0);
	/* The bound was hit, but few had to come a third time. */
	CU_ASSERT(shed > 0);
	CU_ASSERT(shed <= 2 * 2 * CP_PROCS);
	CU_ASSERT(ddio_env_now(w.proc[0].env) < 2 * CP_SEC);
	cp_world_end(&w);
}

/*
 * A node that sheds all
 */
struct shedder {
	struct ddio_env *env;
	struct ddio_listener *listener;
	uint32_t came;
	uint64_t last, shortest;
};

static void closer_accept(void *ctx, struct ddio_stream *stream)
{
	struct shedder *c = ctx;
	uint64_t now = ddio_env_now(c->env);

	if (c->came++ && now - c->last < c->shortest)
		c->shortest = now - c->last;
	c->last = now;
	ddio_stream_close(stream);
}

static void ask_closer(struct cp_proc *p)
{
	struct ddio_file *f = NULL;
	uint64_t begun = ddio_env_now(p->env);

	CU_ASSERT_EQUAL(cp_note(p, ddio_open(p->session, "f", 0, NULL, &f)), -EHOSTDOWN);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "io0"));
	*(uint64_t *)p->w->arg = ddio_env_now(p->env) - begun;
}

static void end_of_patience(uint64_t timeout_ms, uint32_t least, uint32_t most, uint64_t longest)
{
	struct cp_world w;
	struct shedder c = { .shortest = UINT64_MAX };
	uint64_t took = 0;

	memset(&w, 0, sizeof(w));
	w.p = (struct cp_params){ .nodes = 1,
				  .disks = 1,
				  .procs = 1,
				  .block = 1024,
				  .disk_size = "1M",
				  .timeout_ms = timeout_ms };
	ut_temp_dir(w.top, sizeof(w.top));
	w.dw = ddio_sim_new(3);
	cp_conf(&w);
	c.env = ddio_sim_env(w.dw, "io0");
	CU_ASSERT_EQUAL(
		ddio_listen(c.env, w.conf->nodes[0].address, closer_accept, &c, &c.listener), 0);
	CU_ASSERT_EQUAL(cp_run(&w, ask_closer, &took), 0);
	CU_ASSERT(c.came >= least && c.came <= most);
	CU_ASSERT(c.shortest >= 5 * CP_MS);
	CU_ASSERT(took < longest);
	/* The next request begins anew. */
	c.came = 0;
	CU_ASSERT_EQUAL(cp_run(&w, ask_closer, &took), 0);
	CU_ASSERT(c.came >= least && c.came <= most);
	ddio_listener_close(c.listener);
	w.p.nodes = 0;
	cp_world_end(&w);
}

/* It is tried nine times. */
static void bounded_tries(void)
{
	end_of_patience(30000, 9, 9, 6 * CP_SEC);
}

/* All tries together last no longer than one may. */
static void bounded_time(void)
{
	end_of_patience(300, 3, 6, 310 * CP_MS);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "many members", many_members },
		{ "bounded tries", bounded_tries },
		{ "bounded time", bounded_time },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "connections that are shed", cases } };

	return ut_run("test_cp_shed", suites, 1);
}
