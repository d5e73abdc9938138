// SPDX-License-Identifier: GPL-2.0-only
/* tsan: threads meet here */
/* Musters: members that are threads with a reactor each, and, in virtual time, coroutines. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include "env/env_ops.h"
#include "env/local/muster.h"
#include "env/local/shared.h"
#include "sim/sim.h"
#include "tests/unit/env/env_help.h"

enum { MEMBERS = 5, ROUNDS = 300 };

/* What the members share in the test: @heard counts those that have left a round, by what they have heard of it. */
struct parade {
	struct ddio_muster *m[MEMBERS];
	_Atomic uint32_t came[ROUNDS], heard[ROUNDS][2], wrong, stuck;
};

struct walker {
	struct parade *p;
	struct ddio_env *env;
	uint32_t rank;
	pthread_t thread;
};

/* Makes the musters of all: rank 0's, which the others take. */
static void musters_new(struct ddio_env *const *env, struct ddio_muster **m, uint32_t n)
{
	struct ddio_mailbox box;
	uint32_t i;

	CU_ASSERT_EQUAL_FATAL(ddio_muster_new(env[0], n, &m[0]), 0);
	for (i = 1; i < n; i++) {
		CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(env[i], &box), 0);
		CU_ASSERT_EQUAL_FATAL(ddio_muster_send(m[0], box.name, box.token), 0);
		CU_ASSERT_EQUAL_FATAL(ddio_muster_take(env[i], &box, n, &m[i]), 0);
		ddio_mailbox_close(&box);
	}
}

/* As a group does where a round is off, the members meet by other means. */
static void meet_otherwise(struct walker *w, uint32_t round)
{
	uint64_t until = ddio_env_now(w->env) + PATIENCE;
	const struct parade *p = w->p;

	while (atomic_load(&p->heard[round][1]) < MEMBERS && !atomic_load(&p->stuck)) {
		if (ddio_env_now(w->env) > until || atomic_load(&p->heard[round][0]))
			atomic_store(&w->p->stuck, 1);
		usleep(100);
	}
}

static void *walk(void *arg)
{
	struct walker *w = arg;
	struct parade *p = w->p;
	uint32_t round;
	int ret;

	for (round = 0; round < ROUNDS && !atomic_load(&p->stuck); round++) {
		/* Now and then one is late: by just the wait, by more, by little. */
		if (round % 10 == w->rank)
			usleep(1600 + round % 7 * 200);
		atomic_fetch_add(&p->came[round], 1);
		ret = ddio_muster_meet(p->m[w->rank]);
		if (ret && ret != -EAGAIN)
			atomic_fetch_add(&p->wrong, 1);
		if (!ret && atomic_load(&p->came[round]) != MEMBERS)
			atomic_fetch_add(&p->wrong, 1);
		atomic_fetch_add(&p->heard[round][ret ? 1 : 0], 1);
		if (ret)
			meet_otherwise(w, round);
	}
	return NULL;
}

/* All hear the same of each round, and nobody leaves a round that is over before all have come. */
static void test_alike(void)
{
	static struct parade p;
	struct walker w[MEMBERS];
	struct ddio_env *env[MEMBERS];
	uint32_t i, off = 0;

	for (i = 0; i < MEMBERS; i++)
		env[i] = env_new();
	musters_new(env, p.m, MEMBERS);
	for (i = 0; i < MEMBERS; i++) {
		w[i] = (struct walker){ .p = &p, .env = env[i], .rank = i };
		CU_ASSERT_EQUAL_FATAL(pthread_create(&w[i].thread, NULL, walk, &w[i]), 0);
	}
	for (i = 0; i < MEMBERS; i++)
		pthread_join(w[i].thread, NULL);
	CU_ASSERT_EQUAL(p.stuck, 0);
	CU_ASSERT_EQUAL(p.wrong, 0);
	for (i = 0; i < ROUNDS; i++) {
		CU_ASSERT(p.heard[i][0] == MEMBERS || p.heard[i][1] == MEMBERS);
		off += p.heard[i][1] == MEMBERS;
	}
	/* The one that is late by more than the wait finds them off. */
	CU_ASSERT(off > 0);
	for (i = 0; i < MEMBERS; i++) {
		ddio_muster_free(p.m[i]);
		ddio_real_free(env[i]);
	}
}

static void meet_inside(void *arg)
{
	CU_ASSERT_EQUAL(ddio_muster_meet(arg), -EDEADLK);
}

/* On the reactor no round is begun. */
static void test_inside(void)
{
	struct ddio_env *env = env_new();
	struct ddio_muster *m;

	CU_ASSERT_EQUAL_FATAL(ddio_real_start_thread(env), 0);
	CU_ASSERT_EQUAL(ddio_muster_new(env, MUSTER_MOST + 1, &m), -EOPNOTSUPP);
	CU_ASSERT_EQUAL_FATAL(ddio_muster_new(env, 1, &m), 0);
	on_reactor(env, meet_inside, m);
	CU_ASSERT_EQUAL(ddio_muster_meet(m), 0);
	CU_ASSERT_EQUAL(ddio_muster_meet(m), 0);
	ddio_muster_free(m);
	ddio_muster_free(NULL);
	ddio_real_join_thread(env);
	ddio_real_free(env);
}

/* A member that writes what it likes ends the rounds, at worst: each ends within its wait. */
static void test_hostile(void)
{
	static const uint64_t states[] = {
		0,	    UINT64_MAX, 0xffff,	    1u << 16,
		1ull << 32, 2ull << 32, 0xfffeffff, 7ull << 32 | 1u << 18
	};
	struct ddio_env *env = env_new();
	struct ddio_shared *shared;
	struct ddio_mailbox box;
	struct ddio_muster *m;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		CU_ASSERT_EQUAL_FATAL(ddio_muster_new(env, 2, &m), 0);
		CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(env, &box), 0);
		CU_ASSERT_EQUAL(ddio_muster_send(m, box.name, box.token), 0);
		CU_ASSERT_EQUAL_FATAL(ddio_shared_take(&box, true, &shared), 0);
		atomic_store((_Atomic uint64_t *)ddio_shared_mem(shared), states[i]);
		ret = ddio_muster_meet(m);
		CU_ASSERT(!ret || ret == -EAGAIN);
		atomic_store((_Atomic uint64_t *)ddio_shared_mem(shared), states[i]);
		ret = ddio_muster_meet(m);
		CU_ASSERT(!ret || ret == -EAGAIN);
		ddio_shared_free(shared);
		ddio_mailbox_close(&box);
		ddio_muster_free(m);
	}
	ddio_real_free(env);
}

/* Memory of another size is none. */
static void test_no_muster(void)
{
	struct ddio_env *env = env_new();
	struct ddio_shared *shared;
	struct ddio_mailbox box;
	struct ddio_muster *m;

	CU_ASSERT_EQUAL_FATAL(ddio_shared_new(env, 4096, true, &shared), 0);
	CU_ASSERT_EQUAL_FATAL(ddio_mailbox_open(env, &box), 0);
	CU_ASSERT_EQUAL(ddio_muster_take(env, &box, 2, &m), -ENOENT);
	CU_ASSERT_EQUAL(ddio_shared_send(env, shared, box.name, box.token), 0);
	CU_ASSERT_EQUAL(ddio_muster_take(env, &box, 2, &m), -EPROTO);
	ddio_mailbox_close(&box);
	ddio_shared_free(shared);
	ddio_real_free(env);
}

/*
 * Virtual time
 */
struct late {
	struct ddio_env *env;
	struct ddio_muster *m;
	uint64_t by[3];
	int ret[3];
	uint64_t took[3];
};

static void meet_late(void *arg)
{
	struct late *l = arg;
	uint64_t began;
	int i;

	for (i = 0; i < 3; i++) {
		ddio_sim_sleep(l->env, 100 * MS + l->by[i] - ddio_env_now(l->env) % (100 * MS));
		began = ddio_env_now(l->env);
		l->ret[i] = ddio_muster_meet(l->m);
		l->took[i] = ddio_env_now(l->env) - began;
	}
}

/* A round waits for 2 ms, and no longer; whoever comes when it is off does not wait; and the next one is a new one. */
static void test_late(void)
{
	struct ddio_sim *sim = ddio_sim_new(3);
	struct late l[3] = { { .by = { 0, 0, 0 } },
			     { .by = { 0, MS, 0 } },
			     { .by = { MS, 5 * MS, MS * 3 / 2 } } };
	struct ddio_env *env[3];
	struct ddio_muster *m[3];
	uint32_t i;

	for (i = 0; i < 3; i++) {
		env[i] = ddio_sim_env(sim, "member");
		sim_local(env[i]);
	}
	musters_new(env, m, 3);
	for (i = 0; i < 3; i++) {
		l[i].env = env[i];
		l[i].m = m[i];
		ddio_sim_spawn(env[i], meet_late, &l[i]);
	}
	CU_ASSERT_EQUAL(ddio_sim_run(sim), 0);
	for (i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(l[i].ret[0], 0);
		CU_ASSERT_EQUAL(l[i].ret[1], -EAGAIN);
		CU_ASSERT_EQUAL(l[i].ret[2], 0);
		ddio_muster_free(m[i]);
	}
	CU_ASSERT_EQUAL(l[0].took[0], MS);
	CU_ASSERT_EQUAL(l[0].took[1], MUSTER_WAIT_NS);
	CU_ASSERT_EQUAL(l[1].took[1], MS);
	CU_ASSERT_EQUAL(l[2].took[1], 0);
	CU_ASSERT_EQUAL(l[0].took[2], MS * 3 / 2);
	ddio_sim_free(sim);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "all hear the same", test_alike },	{ "not on the reactor", test_inside },
		{ "a hostile member", test_hostile },	{ "other memory", test_no_muster },
		{ "late, in virtual time", test_late }, { NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "muster", cases } };

	return ut_run("test_muster", suites, 1);
}
