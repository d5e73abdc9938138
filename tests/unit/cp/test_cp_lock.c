// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of ranges of a file, taken by sessions: who keeps out whom, how they end, and what becomes of them when
 * processes, connections and the name server do.
 */
#include "tests/unit/cp/cp_world.h"

enum { PROCS = 4, TIMEOUT_MS = 3000, ROUNDS = 10, BREAKS = 60 };
enum { BREAK_FIRST_NS = 122900000, BREAK_STEP_NS = 1500 };

static struct ddio_file *file_of(struct cp_proc *p)
{
	struct ddio_file *f = NULL;

	CP_OK(p, ddio_open(p->session, "f", DDIO_CREATE, NULL, &f));
	return f;
}

static int try_lock(struct ddio_file *f, uint64_t offset, uint64_t len, unsigned int how)
{
	return ddio_lock(f, offset, len, how | DDIO_LOCK_TRY);
}

static void run(uint32_t procs, void (*fn)(struct cp_proc *p), void *arg)
{
	struct cp_world w;

	cp_world_begin(
		&w, &(struct cp_params){ .procs = procs, .timeout_ms = TIMEOUT_MS, .lasts = true });
	CU_ASSERT_EQUAL(cp_run(&w, fn, arg), 0);
	cp_world_end(&w);
}

/*
 * Who keeps out whom
 */

/* @inside: who is within the exclusive lock; @most: most that were within the shared one. */
struct room {
	uint32_t inside, entered, shared, most;
};

static void take_turns(struct cp_proc *p)
{
	struct room *room = p->w->arg;
	struct ddio_file *f = file_of(p);
	uint32_t i;

	for (i = 0; i < ROUNDS; i++) {
		CP_OK(p, ddio_lock(f, 100 * (i % 2), 1000, DDIO_LOCK_EXCLUSIVE));
		CU_ASSERT_EQUAL(room->inside++, 0);
		CU_ASSERT_EQUAL(room->shared, 0);
		room->entered++;
		ddio_sim_sleep(p->env, CP_MS * (1 + p->rank));
		room->inside--;
		CP_OK(p, ddio_unlock(f, 0, 0));
		CP_OK(p, ddio_lock(f, 500, 0, DDIO_LOCK_SHARED));
		CU_ASSERT_EQUAL(room->inside, 0);
		if (++room->shared > room->most)
			room->most = room->shared;
		ddio_sim_sleep(p->env, 20 * CP_MS);
		room->shared--;
		CP_OK(p, ddio_unlock(f, 500, 0));
	}
	ddio_close(f);
}

static void one_at_a_time(void)
{
	struct room room = { 0 };

	run(PROCS, take_turns, &room);
	CU_ASSERT_EQUAL(room.entered, PROCS * ROUNDS);
	CU_ASSERT(room.most > 1);
}

/* Rank 0 holds, rank 1 tries. */
static void hold(struct cp_proc *p, struct ddio_file *f)
{
	CP_OK(p, ddio_lock(f, 1000, 1000, DDIO_LOCK_EXCLUSIVE));
	CP_OK(p, ddio_lock(f, 5000, 0, DDIO_LOCK_SHARED));
	ddio_sim_sleep(p->env, CP_SEC);
	/* The same thread changes what it has; a piece in the middle goes. */
	CP_OK(p, ddio_lock(f, 1400, 200, DDIO_LOCK_SHARED));
	CP_OK(p, ddio_unlock(f, 1500, 50));
	ddio_sim_sleep(p->env, CP_SEC);
	CP_OK(p, ddio_unlock(f, 0, 1200));
	CP_OK(p, ddio_unlock(f, 6000, 0));
	ddio_sim_sleep(p->env, CP_SEC);
}

static void try_all(struct cp_proc *p, struct ddio_file *f, const char *expected)
{
	static const struct {
		uint64_t offset, len;
	} range[] = { { 0, 1000 },    { 999, 2 },   { 1199, 1 }, { 1200, 1 },
		      { 1450, 10 },   { 1500, 50 }, { 1599, 1 }, { 1600, 400 },
		      { 2000, 3000 }, { 4999, 2 },  { 6000, 0 }, { DDIO_MAX_BLOCK_SIZE, 1 } };
	uint32_t i, how;
	char got[2 * sizeof(range) / sizeof(range[0]) + 1] = "", *at = got;

	for (how = DDIO_LOCK_SHARED; how <= DDIO_LOCK_EXCLUSIVE; how++) {
		for (i = 0; i < sizeof(range) / sizeof(range[0]); i++) {
			int ret = cp_note(p, try_lock(f, range[i].offset, range[i].len, how));

			CU_ASSERT(ret == 0 || ret == -EAGAIN);
			if (ret)
				CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "f: locking from byte"));
			*at++ = ret ? '-' : how == DDIO_LOCK_SHARED ? 's' : 'x';
			CP_OK(p, ddio_unlock(f, 0, 0));
		}
	}
	CU_ASSERT_STRING_EQUAL(got, expected);
	if (strcmp(got, expected))
		fprintf(stderr, "got %s, expected %s\n", got, expected);
}

static void ranges_run(struct cp_proc *p)
{
	struct ddio_file *f = file_of(p);

	if (!p->rank) {
		hold(p, f);
	} else {
		ddio_sim_sleep(p->env, CP_SEC / 2);
		try_all(p, f,
			"s-------ssss"
			"x-------x---");
		ddio_sim_sleep(p->env, CP_SEC);
		try_all(p, f,
			"s---sss-ssss"
			"x----x--x---");
		ddio_sim_sleep(p->env, CP_SEC);
		try_all(p, f,
			"sss-sss-ssss"
			"xxx--x--x-xx");
	}
	ddio_close(f);
}

static void ranges(void)
{
	run(2, ranges_run, NULL);
}

static void deadlock_run(struct cp_proc *p)
{
	struct ddio_file *f = file_of(p);
	uint32_t other = !p->rank;

	CP_OK(p, ddio_lock(f, p->rank, 1, DDIO_LOCK_EXCLUSIVE));
	ddio_sim_sleep(p->env, CP_SEC * (1 + p->rank));
	cp_note(p, ddio_lock(f, other, 1, DDIO_LOCK_EXCLUSIVE));
	CU_ASSERT_EQUAL(p->ret, p->rank ? -EDEADLK : 0);
	CP_OK(p, ddio_unlock(f, 0, 0));
	ddio_close(f);
}

static void deadlock(void)
{
	run(2, deadlock_run, NULL);
}

static void arguments_run(struct cp_proc *p)
{
	struct ddio_file *f = file_of(p);
	static const unsigned int bad[] = { 0, 3, 4, 7, 9, 0x80000001u };
	uint32_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(ddio_lock(f, 0, 1, bad[i]), -EINVAL);
	CU_ASSERT_EQUAL(ddio_lock(NULL, 0, 1, DDIO_LOCK_SHARED), -EINVAL);
	CU_ASSERT_EQUAL(ddio_unlock(NULL, 0, 1), -EINVAL);
	CU_ASSERT_EQUAL(ddio_lock(f, 1ull << 62, 1, DDIO_LOCK_SHARED), -EFBIG);
	CU_ASSERT_EQUAL(ddio_lock(f, 1, 1ull << 62, DDIO_LOCK_SHARED), -EFBIG);
	CU_ASSERT_EQUAL(ddio_unlock(f, UINT64_MAX, 2), -EFBIG);
	CP_OK(p, ddio_unlock(f, 7, 7));
	CP_OK(p, ddio_lock(f, 1ull << 62, 0, DDIO_LOCK_SHARED));
	ddio_close(f);
}

static void arguments(void)
{
	run(1, arguments_run, NULL);
}

/*
 * Waiting
 */
struct waiter {
	struct cp_proc *p;
	struct ddio_file *f;
	int ret;
	bool done;
};

static void wait_for_it(void *arg)
{
	struct waiter *waiter = arg;

	waiter->ret = ddio_lock(waiter->f, 0, 10, DDIO_LOCK_EXCLUSIVE);
	waiter->done = true;
}

/* Rank 0 has it for ten minutes; a thread of rank 1 waits, while another one does what it likes. */
static void wait_long(struct cp_proc *p)
{
	struct waiter waiter = { .p = p };
	struct ddio_group *g = cp_group(p);
	struct ddio_file *f = file_of(p);
	uint64_t events;
	uint8_t byte = 7;

	if (!p->rank)
		CP_OK(p, ddio_lock(f, 0, 10, DDIO_LOCK_EXCLUSIVE));
	CP_OK(p, ddio_group_barrier(g));
	if (p->rank) {
		waiter.f = f;
		CU_ASSERT_EQUAL(ddio_sim_spawn(p->env, wait_for_it, &waiter), 0);
		ddio_sim_sleep(p->env, CP_SEC);
		CU_ASSERT_EQUAL(ddio_pwrite(f, &byte, 1, 5), 1);
		CU_ASSERT_EQUAL(ddio_pread(f, &byte, 1, 5), 1);
		CP_OK(p, ddio_lock(f, 100, 1, DDIO_LOCK_EXCLUSIVE));
		CP_OK(p, ddio_unlock(f, 100, 1));
	}
	CP_OK(p, ddio_group_barrier(g));
	CU_ASSERT_FALSE(waiter.done);
	events = ddio_sim_events(p->w->dw);
	ddio_sim_sleep(p->env, 600 * CP_SEC);
	/* Nothing happens but that they ask now and then, every second, whether the name server lives. */
	CU_ASSERT(ddio_sim_events(p->w->dw) - events < 600 * 40);
	if (!p->rank)
		CP_OK(p, ddio_unlock(f, 0, 10));
	CP_OK(p, ddio_group_barrier(g));
	ddio_sim_sleep(p->env, CP_SEC);
	CU_ASSERT_EQUAL(waiter.done, p->rank);
	CU_ASSERT_EQUAL(waiter.ret, 0);
	ddio_close(f);
	ddio_group_free(g);
}

/* While something is locked the name server hears of the session at least every third of the timeout; later it does not. */
static void keep_in_touch(struct cp_proc *p)
{
	struct ddio_file *f = file_of(p);
	uint64_t events;

	CP_OK(p, ddio_lock(f, 0, 10, DDIO_LOCK_EXCLUSIVE));
	events = ddio_sim_events(p->w->dw);
	ddio_sim_sleep(p->env, 600 * CP_SEC);
	CU_ASSERT(ddio_sim_events(p->w->dw) - events >= 2 * 599);
	CU_ASSERT(ddio_sim_events(p->w->dw) - events < 600 * 20);
	CP_OK(p, ddio_unlock(f, 0, 10));
	ddio_sim_sleep(p->env, 10 * CP_SEC);
	events = ddio_sim_events(p->w->dw);
	ddio_sim_sleep(p->env, 600 * CP_SEC);
	CU_ASSERT(ddio_sim_events(p->w->dw) - events < 10);
	ddio_close(f);
}

static void in_touch(void)
{
	run(1, keep_in_touch, NULL);
}

static void waiting(void)
{
	run(2, wait_long, NULL);
}

/*
 * Ends
 */
enum ending { UNLOCKED, CLOSED, DISCONNECTED, KILLED, ALIVE, ENDINGS };

/* Rank 0 ends in some way; rank 1 gets the lock at once, or when the name server has missed rank 0 long enough. */
static void end_of_a_lock(struct cp_proc *p)
{
	const enum ending *how = p->w->arg;
	struct ddio_file *f = file_of(p), *other = file_of(p);
	uint64_t began;

	if (!p->rank) {
		CP_OK(p, ddio_lock(f, 0, 10, DDIO_LOCK_EXCLUSIVE));
		CP_OK(p, ddio_lock(other, 20, 10, DDIO_LOCK_EXCLUSIVE));
		ddio_sim_sleep(p->env, 2 * CP_SEC);
		if (*how == UNLOCKED)
			CP_OK(p, ddio_unlock(f, 0, 15));
		else if (*how == CLOSED)
			ddio_close(f);
		else if (*how == DISCONNECTED)
			cp_end_main(p);
		else if (*how == KILLED)
			ddio_sim_orphan(p->env);
		ddio_sim_sleep(p->env, 20 * CP_SEC);
		return;
	}
	ddio_sim_sleep(p->env, CP_SEC);
	began = ddio_sim_elapsed(p->w->dw);
	if (*how == ALIVE) {
		CU_ASSERT_EQUAL(try_lock(f, 0, 10, DDIO_LOCK_SHARED), -EAGAIN);
		return;
	}
	CP_OK(p, ddio_lock(f, 0, 10, DDIO_LOCK_EXCLUSIVE));
	began = ddio_sim_elapsed(p->w->dw) - began;
	CU_ASSERT(began >= CP_SEC / 2);
	CU_ASSERT(began < (*how == KILLED ? 2 * TIMEOUT_MS * CP_MS : CP_SEC + 100 * CP_MS));
	/* What was locked through another handle ends with the session only. */
	CU_ASSERT_EQUAL(try_lock(f, 20, 1, DDIO_LOCK_SHARED), *how >= DISCONNECTED ? 0 : -EAGAIN);
}

static void ends(void)
{
	enum ending how;

	for (how = 0; how < ENDINGS; how++)
		run(2, end_of_a_lock, &how);
}

/* A session that ends while one of its threads waits: that is told, and what it would have got is free. */
static void end_of_a_wait(struct cp_proc *p)
{
	static struct waiter waiter;
	struct ddio_file *f = file_of(p);

	if (p->rank) {
		ddio_sim_sleep(p->env, CP_SEC);
		waiter = (struct waiter){ .p = p, .f = f };
		ddio_sim_spawn(p->env, wait_for_it, &waiter);
		ddio_sim_sleep(p->env, CP_SEC);
		cp_end_main(p);
		CU_ASSERT(waiter.done);
		CU_ASSERT_EQUAL(waiter.ret, -ECANCELED);
		return;
	}
	CP_OK(p, ddio_lock(f, 0, 10, DDIO_LOCK_EXCLUSIVE));
	ddio_sim_sleep(p->env, 5 * CP_SEC);
	CP_OK(p, ddio_unlock(f, 0, 10));
	CP_OK(p, try_lock(f, 0, 10, DDIO_LOCK_EXCLUSIVE));
	ddio_close(f);
}

static void session_ends_while_waiting(void)
{
	run(2, end_of_a_wait, NULL);
}

/*
 * Connections and the name server
 */
static void names_cut(struct cp_proc *p, uint64_t ns)
{
	uint32_t k;

	for (k = 0; k < CP_REACTORS; k++)
		ddio_sim_cut(p->w->node[0].env[k]);
	ddio_sim_sleep(p->env, ns);
	for (k = 0; k < CP_REACTORS; k++)
		ddio_sim_rejoin(p->w->node[0].env[k]);
}

static void names_anew(struct cp_proc *p, bool unheard)
{
	struct cp_node *node = &p->w->node[0];
	uint32_t k;

	for (k = 0; unheard && k < CP_REACTORS; k++)
		ddio_sim_cut(node->env[k]);
	node->stop.fn = cp_stop_post;
	node->stop.arg = node;
	ddio_env_post(node->env[0], &node->stop);
	ddio_sim_sleep(p->env, CP_SEC);
	for (k = 0; unheard && k < CP_REACTORS; k++)
		ddio_sim_rejoin(node->env[k]);
	ddio_iop_free(node->iop);
	cp_node_begin(p->w, 0);
}

/* @cut_ms: how long nobody reaches the name server; 0: it is restarted, @times, @unheard: without a word */
struct trouble {
	uint32_t cut_ms, times;
	bool unheard;
	uint64_t freed;
};

/* Rank 0 has the lock, rank 1 waits for it and rank 2 tries it, rank 3 makes trouble. */
static void trouble_run(struct cp_proc *p)
{
	struct trouble *t = p->w->arg;
	struct ddio_file *f = file_of(p);
	uint32_t i;

	if (p->rank == 0) {
		CP_OK(p, ddio_lock(f, 0, 10, DDIO_LOCK_EXCLUSIVE));
		CP_OK(p, ddio_lock(f, 3, 2, DDIO_LOCK_SHARED));
		ddio_sim_sleep(p->env, 20 * CP_SEC);
		t->freed = ddio_sim_elapsed(p->w->dw);
		CP_OK(p, ddio_unlock(f, 0, 10));
	} else if (p->rank == 1) {
		ddio_sim_sleep(p->env, CP_SEC);
		CP_OK(p, ddio_lock(f, 0, 10, DDIO_LOCK_EXCLUSIVE));
		CU_ASSERT(t->freed);
		CP_OK(p, ddio_unlock(f, 0, 10));
	} else if (p->rank == 2) {
		ddio_sim_sleep(p->env, 10 * CP_SEC);
		CU_ASSERT_EQUAL(try_lock(f, 2, 1, DDIO_LOCK_SHARED), -EAGAIN);
		CP_OK(p, try_lock(f, 3, 2, DDIO_LOCK_SHARED));
		CP_OK(p, ddio_unlock(f, 3, 2));
	} else {
		ddio_sim_sleep(p->env, 2 * CP_SEC);
		if (t->cut_ms)
			names_cut(p, t->cut_ms * CP_MS);
		for (i = 0; i < t->times; i++) {
			names_anew(p, t->unheard);
			ddio_sim_sleep(p->env, CP_SEC);
		}
	}
	ddio_close(f);
}

static void trouble(void)
{
	static const struct trouble all[] = { { .cut_ms = 1 },
					      { .cut_ms = 1000 },
					      { .cut_ms = 2500 },
					      { .times = 1 },
					      { .times = 1, .unheard = true },
					      { .times = 3 } };
	struct trouble t;
	uint32_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		t = all[i];
		run(4, trouble_run, &t);
	}
}

/* Out of reach for longer than the timeout: a call that waits fails; what was locked is lost, and said to be. */
static void out_of_reach_run(struct cp_proc *p)
{
	struct ddio_file *f = file_of(p);
	uint64_t began;

	if (p->rank == 2) {
		ddio_sim_sleep(p->env, 2 * CP_SEC);
		names_cut(p, 20 * CP_SEC);
	} else if (p->rank == 1) {
		ddio_sim_sleep(p->env, CP_SEC);
		began = ddio_sim_elapsed(p->w->dw);
		CU_ASSERT_EQUAL(cp_note(p, ddio_lock(f, 0, 10, DDIO_LOCK_EXCLUSIVE)), -EHOSTDOWN);
		CU_ASSERT(ddio_sim_elapsed(p->w->dw) - began <= 3 * TIMEOUT_MS * CP_MS);
		ddio_sim_sleep(p->env, 30 * CP_SEC);
		CP_OK(p, ddio_lock(f, 0, 1, DDIO_LOCK_EXCLUSIVE));
		CP_OK(p, ddio_unlock(f, 0, 1));
	} else {
		CP_OK(p, ddio_lock(f, 0, 10, DDIO_LOCK_EXCLUSIVE));
		ddio_sim_sleep(p->env, 40 * CP_SEC);
		CU_ASSERT_EQUAL(cp_note(p, ddio_unlock(f, 3, 1)), -ESTALE);
		CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "was lost"));
		CP_OK(p, ddio_unlock(f, 3, 1));
		CP_OK(p, ddio_lock(f, 0, 0, DDIO_LOCK_EXCLUSIVE));
		CP_OK(p, ddio_unlock(f, 0, 0));
	}
	ddio_close(f);
}

static void out_of_reach(void)
{
	run(3, out_of_reach_run, NULL);
}

/*
 * The name server misses a session that has more patience than it, and gives its lock to another: the session hears of
 * that when it is back, whatever it calls, until it unlocks.
 */
static void all_stale(struct cp_proc *p, struct ddio_file *f)
{
	char c;

	CU_ASSERT_EQUAL(cp_note(p, (int)ddio_pwrite(f, "a", 1, 9)), -ESTALE);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "a lock of it was lost"));
	CU_ASSERT_EQUAL(cp_note(p, (int)ddio_pread(f, &c, 1, 9)), -ESTALE);
	CU_ASSERT_EQUAL(cp_note(p, ddio_sync(f)), -ESTALE);
	CU_ASSERT_EQUAL(cp_note(p, ddio_set_size(f, 1)), -ESTALE);
	CU_ASSERT_EQUAL(cp_note(p, ddio_allocate(f, 0, 10)), -ESTALE);
}

static void missed_run(struct cp_proc *p)
{
	struct ddio_file *f = file_of(p);

	if (p->rank) {
		ddio_sim_sleep(p->env, CP_SEC);
		CP_OK(p, ddio_lock(f, 0, 10, DDIO_LOCK_EXCLUSIVE));
		ddio_sim_sleep(p->env, 30 * CP_SEC);
		CP_OK(p, ddio_unlock(f, 0, 10));
	} else {
		p->session->timeout_ns = 60 * CP_SEC;
		CP_OK(p, ddio_lock(f, 9, 2, DDIO_LOCK_EXCLUSIVE));
		CP_OK(p, ddio_lock(f, 100, 1, DDIO_LOCK_EXCLUSIVE));
		ddio_sim_cut(p->env);
		ddio_sim_sleep(p->env, 2 * TIMEOUT_MS * CP_MS);
		ddio_sim_rejoin(p->env);
		ddio_sim_sleep(p->env, 10 * CP_SEC);
		all_stale(p, f);
		CU_ASSERT_EQUAL(cp_note(p, ddio_unlock(f, 9, 2)), -ESTALE);
		all_stale(p, f);
		CU_ASSERT_EQUAL(cp_note(p, ddio_unlock(f, 100, 1)), -ESTALE);
		CU_ASSERT_EQUAL(ddio_pwrite(f, "b", 1, 9), 1);
	}
	ddio_close(f);
}

static void missed(void)
{
	run(2, missed_run, NULL);
}

/*
 * A session is told that all that it had is lost, and its connection breaks meanwhile, while a call waits for the answer: the
 * call ends, whenever the connection breaks.
 */
static void broken_run(struct cp_proc *p)
{
	struct ddio_env *env = p->w->proc[0].env;
	struct ddio_file *f = file_of(p);
	uint32_t i, *round = p->w->arg;
	char c;

	for (i = 1; i <= BREAKS; i++) {
		if (p->rank == 1) {
			CP_OK(p, ddio_lock(f, 0, 10, DDIO_LOCK_EXCLUSIVE));
			CP_OK(p, ddio_unlock(f, 0, 10));
			ddio_sim_sleep(p->env, CP_SEC / 2);
		} else if (p->rank == 2) {
			while (*round < i)
				ddio_sim_sleep(p->env, CP_MS);
			ddio_sim_cut(env);
			ddio_sim_sleep(p->env, 2 * TIMEOUT_MS * CP_MS);
			ddio_sim_rejoin(env);
			ddio_sim_sleep(p->env, BREAK_FIRST_NS + i * BREAK_STEP_NS);
			ddio_sim_cut(env);
			ddio_sim_sleep(p->env, 10 * CP_MS);
			ddio_sim_rejoin(env);
		} else {
			p->session->timeout_ns = 60 * CP_SEC;
			CP_OK(p, ddio_lock(f, 9, 2, DDIO_LOCK_EXCLUSIVE));
			*round = i;
			ddio_sim_sleep(p->env, 2 * TIMEOUT_MS * CP_MS);
			CU_ASSERT_EQUAL(cp_note(p, (int)ddio_pread(f, &c, 1, 9)), -ESTALE);
			CU_ASSERT_EQUAL(cp_note(p, ddio_unlock(f, 9, 2)), -ESTALE);
			ddio_sim_sleep(p->env, CP_SEC);
		}
	}
	ddio_close(f);
}

static void broken(void)
{
	uint32_t round = 0;

	run(3, broken_run, &round);
}

/*
 * Nothing that rank 0 sends arrives for a while, so that it gives up, and the name server does not notice.  It is told
 * later that the lock is free.
 */
static void given_up_run(struct cp_proc *p)
{
	struct ddio_file *f = file_of(p);
	struct ddio_sim_link link;

	if (p->rank) {
		ddio_sim_sleep(p->env, CP_SEC);
		CP_OK(p, ddio_lock(f, 0, 10, DDIO_LOCK_EXCLUSIVE));
		CU_ASSERT(ddio_sim_elapsed(p->w->dw) < 30 * CP_SEC);
		CP_OK(p, ddio_unlock(f, 0, 10));
	} else {
		CP_OK(p, ddio_lock(f, 0, 10, DDIO_LOCK_EXCLUSIVE));
		ddio_sim_sleep(p->env, 2 * CP_SEC);
		ddio_sim_link_default(&link);
		link.stall_after = 1;
		ddio_sim_set_link(p->env, &link);
		CU_ASSERT_EQUAL(cp_note(p, ddio_unlock(f, 0, 10)), -EHOSTDOWN);
		ddio_sim_link_default(&link);
		ddio_sim_set_link(p->env, &link);
		ddio_sim_sleep(p->env, 60 * CP_SEC);
		CP_OK(p, ddio_lock(f, 0, 10, DDIO_LOCK_EXCLUSIVE));
	}
	ddio_close(f);
}

static void given_up(void)
{
	run(2, given_up_run, NULL);
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "one at a time", one_at_a_time },
		{ "ranges", ranges },
		{ "deadlock", deadlock },
		{ "arguments", arguments },
		{ "waiting", waiting },
		{ "in touch", in_touch },
		{ "ends", ends },
		{ "a session ends while it waits", session_ends_while_waiting },
		{ "trouble", trouble },
		{ "out of reach", out_of_reach },
		{ "missed", missed },
		{ "broken while all is told again", broken },
		{ "given up", given_up },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "locks", cases } };

	return ut_run("test_cp_lock", suites, 1);
}
