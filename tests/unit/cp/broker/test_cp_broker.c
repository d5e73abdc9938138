// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who brokers for whom on a machine, and when: what "auto" chooses, and how a broker ends
 * that leaves, or dies, while something is owed to those that it serves.
 */
#include "cp/broker/priv.h"
#include "tests/unit/cp/cp_world.h"

enum { PROCS = 4, PIECE = 5000, LEAST = 100 };

/**
 * struct broker_scene - what a test does with its processes
 * @least: of "auto"; @apart: each on a machine of its own
 */
struct broker_scene {
	struct cp_world w;
	const char *broker, *host;
	uint32_t least;
	bool apart;
	struct ddio_group *group[PROCS];
	struct ddio_file *file[PROCS];
	uint64_t left_ns;
};

static struct broker *broker_of(const struct broker_scene *sc, uint32_t rank)
{
	return sc->w.proc[rank].session->broker;
}

static void nothing(struct cp_proc *p)
{
	(void)p;
}

static void check_piece(struct broker_scene *sc, struct cp_proc *p, uint32_t of)
{
	uint8_t buf[PIECE];
	uint32_t i, wrong = 0;

	memset(buf, 0, sizeof(buf));
	CU_ASSERT_EQUAL(ddio_pread(sc->file[p->rank], buf, PIECE, (uint64_t)of * PIECE), PIECE);
	for (i = 0; i < PIECE; i++)
		wrong += buf[i] != cp_byte(of, i);
	CU_ASSERT_EQUAL(wrong, 0);
}

/* Each writes its piece, together, and reads its neighbour's, alone. */
static void begin(struct cp_proc *p)
{
	struct broker_scene *sc = p->w->arg;
	struct ddio_strided mine = { .offset = (uint64_t)p->rank * PIECE, .len = PIECE };
	struct ddio_part part = { .kind = DDIO_PART_STRIDED, .n = 1, .strided = &mine };
	uint8_t buf[PIECE];
	struct ddio_transfer t = { .struct_size = sizeof(t), .part = &part, .buf = buf };
	uint32_t i;

	sc->group[p->rank] = cp_group(p);
	CP_OK(p, ddio_open_all(sc->group[p->rank], "f", DDIO_CREATE, NULL, &sc->file[p->rank]));
	for (i = 0; i < PIECE; i++)
		buf[i] = cp_byte(p->rank, i);
	CP_OK(p, ddio_write_all(sc->file[p->rank], sc->group[p->rank], &t));
	CP_OK(p, ddio_group_barrier(sc->group[p->rank]));
	check_piece(sc, p, (p->rank + 1) % PROCS);
	CP_OK(p, ddio_group_barrier(sc->group[p->rank]));
}

static void scene_begin(struct broker_scene *sc)
{
	uint32_t i;

	cp_world_begin(&sc->w, &(struct cp_params){ .procs = PROCS,
						    .keyed = true,
						    .timeout_ms = 4000,
						    .host = sc->host,
						    .cluster = sc->broker });
	CU_ASSERT_EQUAL(cp_run(&sc->w, nothing, NULL), 0);
	for (i = 0; i < PROCS; i++) {
		if (!sc->apart)
			ddio_sim_place(sc->w.proc[i].env, sc->w.proc[0].env);
		if (sc->least)
			broker_of(sc, i)->least = sc->least;
	}
	CU_ASSERT_EQUAL(cp_run(&sc->w, begin, sc), 0);
}

static void leave_group(struct cp_proc *p)
{
	struct broker_scene *sc = p->w->arg;

	ddio_close(sc->file[p->rank]);
	ddio_group_free(sc->group[p->rank]);
}

static void scene_end(struct broker_scene *sc)
{
	CU_ASSERT_EQUAL(cp_run(&sc->w, leave_group, sc), 0);
	cp_world_end(&sc->w);
}

static uint32_t in_state(const struct broker_scene *sc, enum broker_state state)
{
	uint32_t i, n = 0;

	for (i = 0; i < PROCS; i++)
		n += sc->w.proc[i].session && broker_of(sc, i)->state == state;
	return n;
}

/* Streams that brokers' connections carry to a node. */
static uint64_t carried(const struct broker_scene *sc, uint32_t node)
{
	struct bounds all;
	uint64_t n = 0;
	uint32_t r;

	bounds_init(&all);
	for (r = 0; r < sc->w.p.reactors; r++) {
		server_carry_count(&sc->w.node[node].iop->reactors[r], all.at);
		n += all.at[BOUND_CARRIED].now;
	}
	return n;
}

/* Which broker there is, and whether it carries what goes to nodes 0 and 1. */
static void chosen(struct broker_scene *sc, uint32_t brokers, bool carries0, bool carries1)
{
	scene_begin(sc);
	CU_ASSERT_EQUAL(in_state(sc, BROKER_SERVES), brokers);
	CU_ASSERT_EQUAL(carried(sc, 0) > 0, carries0);
	CU_ASSERT_EQUAL(carried(sc, 1) > 0, carries1);
	scene_end(sc);
}

/* "auto": in groups of so many members, to nodes on other machines, for somebody else on this machine. */
static void test_auto(void)
{
	const char *conf = "broker = auto\n", *far = "10.0.0.1";

	chosen(&(struct broker_scene){ .broker = conf, .host = far, .least = PROCS }, 1, true,
	       true);
	chosen(&(struct broker_scene){ .broker = conf, .host = far, .least = PROCS + 1 }, 0, false,
	       false);
	chosen(&(struct broker_scene){ .broker = conf, .host = far }, 0, false, false);
	chosen(&(struct broker_scene){ .broker = conf, .least = PROCS }, 0, false, false);
	chosen(&(struct broker_scene){ .broker = conf, .host = far, .least = PROCS, .apart = true },
	       PROCS, false, false);
	chosen(&(struct broker_scene){ .broker = "broker = always\n" }, 1, true, true);
	chosen(&(struct broker_scene){ .broker = "broker = always\n", .host = far }, 1, true, true);
}

/*
 * How it ends
 */
/* The broker's process leaves at once; the others have asked for something that takes its time. */
static void leaves(struct cp_proc *p)
{
	struct broker_scene *sc = p->w->arg;
	uint64_t begun = ddio_env_now(p->env);

	if (broker_of(sc, p->rank)->state != BROKER_SERVES) {
		check_piece(sc, p, p->rank);
		return;
	}
	ddio_sim_sleep(p->env, LEAST * CP_MS / 4);
	ddio_disconnect(p->session);
	p->session = NULL;
	sc->left_ns = ddio_env_now(p->env) - begun;
}

static void goes_on(struct cp_proc *p)
{
	struct broker_scene *sc = p->w->arg;

	if (p->session)
		check_piece(sc, p, (p->rank + 2) % PROCS);
}

static void ends(struct cp_proc *p)
{
	struct broker_scene *sc = p->w->arg;

	if (p->session)
		ddio_close(sc->file[p->rank]);
}

static void group_ends(struct cp_proc *p)
{
	struct broker_scene *sc = p->w->arg;

	ddio_group_free(sc->group[p->rank]);
	CP_OK(p, ddio_drop_cache(sc->file[p->rank]));
}

static void nodes_are_far(struct broker_scene *sc, uint64_t latency_ns)
{
	struct ddio_sim_link link;
	uint32_t i, r;

	ddio_sim_link_default(&link);
	link.latency_ns = latency_ns;
	for (i = 0; i < sc->w.p.nodes; i++)
		for (r = 0; r < sc->w.p.reactors; r++)
			ddio_sim_set_link(sc->w.node[i].env[r], &link);
}

static uint64_t requests(const struct broker_scene *sc)
{
	uint64_t n = 0;
	uint32_t i, r;

	for (i = 0; i < sc->w.p.nodes; i++)
		for (r = 0; r < sc->w.p.reactors; r++)
			n += sc->w.node[i].iop->reactors[r].requests;
	return n;
}

/* It waits for what is owed; nothing is asked twice; then the others connect by themselves. */
static void test_leaves(void)
{
	struct broker_scene sc = { .broker = "broker = always\n" };
	uint64_t before, asked;

	scene_begin(&sc);
	CU_ASSERT_EQUAL(in_state(&sc, BROKER_JOINED), PROCS - 1);
	CU_ASSERT_EQUAL(cp_run(&sc.w, group_ends, &sc), 0);
	before = requests(&sc);
	CU_ASSERT_EQUAL(cp_run(&sc.w, goes_on, &sc), 0);
	asked = (requests(&sc) - before) / PROCS;
	nodes_are_far(&sc, LEAST * CP_MS);
	before = requests(&sc);
	CU_ASSERT_EQUAL(cp_run(&sc.w, leaves, &sc), 0);
	ddio_sim_run_for(sc.w.dw, CP_SEC);
	CU_ASSERT_EQUAL(requests(&sc) - before, asked * (PROCS - 1));
	CU_ASSERT_TRUE(sc.left_ns >= LEAST * CP_MS && sc.left_ns < 10 * LEAST * CP_MS);
	CU_ASSERT_EQUAL(in_state(&sc, BROKER_NONE), PROCS - 1);
	CU_ASSERT_EQUAL(carried(&sc, 0) + carried(&sc, 1), 0);
	nodes_are_far(&sc, 20000);
	CU_ASSERT_EQUAL(cp_run(&sc.w, goes_on, &sc), 0);
	CU_ASSERT_EQUAL(cp_run(&sc.w, ends, &sc), 0);
	cp_world_end(&sc.w);
}

/* What was owed by a broker that dies ends with an error that says who that was. */
static void is_killed(struct cp_proc *p)
{
	struct broker_scene *sc = p->w->arg;
	uint8_t buf[PIECE];

	if (broker_of(sc, p->rank)->state == BROKER_SERVES) {
		ddio_sim_sleep(p->env, LEAST * CP_MS / 4);
		p->killed = true;
		sim_kill(p->env);
		return;
	}
	cp_note(p, (int)ddio_pread(sc->file[p->rank], buf, PIECE, 0));
}

static void test_killed(void)
{
	struct broker_scene sc = { .broker = "broker = always\n" };
	char name[64];
	uint32_t i, rank = PROCS;

	cp_leaks_allowed(true);
	scene_begin(&sc);
	for (i = 0; i < PROCS; i++)
		if (broker_of(&sc, i)->state == BROKER_SERVES)
			rank = i;
	snprintf(name, sizeof(name), "the broker of this machine (rank %u of the group)", rank);
	nodes_are_far(&sc, LEAST * CP_MS);
	CU_ASSERT_EQUAL(cp_run(&sc.w, is_killed, &sc), 0);
	for (i = 0; i < PROCS; i++) {
		if (i == rank)
			continue;
		CU_ASSERT_EQUAL(sc.w.proc[i].ret, -EHOSTDOWN);
		CU_ASSERT_PTR_NOT_NULL(strstr(sc.w.proc[i].text, name));
	}
	scene_end(&sc);
	cp_leaks_allowed(false);
}

static const struct ut_case cases[] = {
	{ "auto", test_auto },
	{ "leaves", test_leaves },
	{ "is killed", test_killed },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "broker", cases } };

	return ut_run("cp_broker", suites, 1);
}
