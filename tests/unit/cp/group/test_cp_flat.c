// SPDX-License-Identifier: GPL-2.0-only
/* Flat trees: which groups have one, by which connections, and what groups that have none do. */
#include "conn/conn_priv.h"
#include "cp/group/form/meeting.h"
#include "cp/group/peer.h"
#include "cp/group/form/port.h"
#include "tests/unit/cp/cp_world.h"

/* Returns the number of open connections with other members. */
static uint32_t links(struct ddio_group *g)
{
	struct ddio_hash_walk walk;
	struct peer *peer;
	uint32_t n = 0;

	ddio_hash_for_each(peer, &walk, &g->peers, node) {
		CU_ASSERT(!g->flat || (g->rank ? !peer->in.conn : !peer->out.conn));
		n += !!peer->in.conn + !!peer->out.conn;
	}
	return n;
}

static void look(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p), *sub = NULL;
	uint64_t made = p->session->connects;
	int i;

	CU_ASSERT_EQUAL(g->flat, p->w->p.procs <= FLAT_MOST);
	for (i = 0; i < 3; i++)
		CP_OK(p, ddio_group_barrier(g));
	if (g->flat)
		CU_ASSERT_EQUAL(links(g), p->rank ? 1 : p->w->p.procs - 1);
	CU_ASSERT_EQUAL(p->session->connects, made);
	/* Its parts come together by addresses that all are told. */
	CP_OK(p, ddio_group_split(g, (int)(p->rank & 1), 0, &sub));
	CU_ASSERT(sub && (!sub->flat || sub->size == 1));
	if (sub)
		CP_OK(p, ddio_group_barrier(sub));
	ddio_group_free(sub);
	CP_OK(p, ddio_group_barrier(g));
	ddio_group_free(g);
}

static void sizes(void)
{
	static const uint32_t procs[] = { 2, 3, 4, 11, FLAT_MOST, FLAT_MOST + 1 };
	struct cp_world w;
	size_t i;

	for (i = 0; i < sizeof(procs) / sizeof(procs[0]); i++) {
		cp_world_begin(&w, &(struct cp_params){ .procs = procs[i], .keyed = i % 2 });
		CU_ASSERT_EQUAL(cp_run(&w, look, NULL), 0);
		cp_world_end(&w);
	}
}

/* What a caller's communicator would be; rank 0 is slow to come from it. */
struct slow_bcast {
	uint8_t bytes[2048];
	size_t len;
	uint64_t by;
};

struct slow_box {
	struct cp_proc *p;
	struct slow_bcast *b;
};

static const struct group_meeting *the_meeting(const struct ddio_session *s)
{
	CU_ASSERT_FALSE_FATAL(ddio_list_empty(&s->groups->meetings));
	return ddio_list_first(&s->groups->meetings, struct group_meeting, link);
}

/*
 * What an earlier meeting leaves behind, if its group could not be made, is not for this one.  The strangers are those of
 * this process's own meeting, which is not over.
 */
static void admit_to_another(struct ddio_session *s)
{
	static const uint8_t id[DDIO_GROUP_ID_LEN] = "another";
	struct ddio_group *g = NULL;
	struct stranger *st;
	uint32_t n = 0;

	CU_ASSERT_EQUAL_FATAL(group_new(s, id, 0, the_meeting(s)->size, NULL, &g), 0);
	g->flat = true;
	ddio_list_for_each_entry(st, &s->groups->strangers, link)
		st->stays = true;
	strangers_admit(s, g);
	CU_ASSERT_EQUAL(links(g), 0);
	ddio_list_for_each_entry(st, &s->groups->strangers, link) {
		st->stays = false;
		n++;
	}
	CU_ASSERT_EQUAL(n, the_meeting(s)->size - 1);
	group_close(g);
}

static int slow(void *arg, void *buf, size_t len, uint32_t root)
{
	struct slow_box *box = arg;

	if (box->p->rank == root) {
		memcpy(box->b->bytes, buf, len);
		box->b->len = len;
		ddio_sim_sleep(box->p->env, box->b->by);
		if (box->b->by < 10 * CP_SEC)
			admit_to_another(box->p->session);
		return 0;
	}
	while (!box->b->len)
		ddio_sim_sleep(box->p->env, CP_MS);
	memcpy(buf, box->b->bytes, len);
	return 0;
}

static void meet_slowly(struct cp_proc *p)
{
	struct slow_box box = { p, p->w->arg };
	struct ddio_group *g = NULL;

	CP_OK(p, ddio_group_create_bcast(p->session, p->rank, p->w->p.procs, slow, &box, NULL, &g));
	if (!g)
		return;
	CU_ASSERT_TRUE(g->flat);
	CP_OK(p, ddio_group_barrier(g));
	CP_OK(p, ddio_group_barrier(g));
	ddio_group_free(g);
}

/* Nobody is sent what is for the group before rank 0 makes it, though its timeout passes. */
static void rank_zero_slow(void)
{
	struct slow_bcast b = { .by = 4 * CP_SEC };
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 7, .timeout_ms = 3000 });
	CU_ASSERT_EQUAL(cp_run(&w, meet_slowly, &b), 0);
	cp_world_end(&w);
}

static void meet_too_late(struct cp_proc *p)
{
	struct slow_box box = { p, p->w->arg };
	struct ddio_group *g = NULL;

	CU_ASSERT_EQUAL(cp_note(p, ddio_group_create_bcast(p->session, p->rank, p->w->p.procs, slow,
							   &box, NULL, &g)),
			-ETIMEDOUT);
	CU_ASSERT_PTR_NULL(g);
}

/* The others have given up: nobody waits for ever, rank 0 neither. */
static void rank_zero_too_slow(void)
{
	struct slow_bcast b = { .by = 10 * CP_SEC };
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 5, .timeout_ms = 3000 });
	CU_ASSERT_EQUAL(cp_run(&w, meet_too_late, &b), 0);
	CU_ASSERT_STRING_EQUAL(
		w.proc[0].text,
		"of the 5 members of the group, these ranks did not come: 1, 2, 3, 4");
	cp_world_end(&w);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "sizes", sizes },
		{ "rank 0 is slow", rank_zero_slow },
		{ "rank 0 is too slow", rank_zero_too_slow },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "flat trees", cases } };

	return cp_ut_run("test_cp_flat", suites, 1);
}
