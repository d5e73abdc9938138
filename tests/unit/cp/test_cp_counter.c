// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared counters: each request is carried out once, one after the other; rank 0 serves while its program does
 * something else; whoever waits for a member that dies, or sins, is told.
 */
#include "cp/group/steps/counter.h"
#include "cp/group/peer.h"
#include "tests/unit/cp/cp_world.h"

enum { PROCS = 8, TIMEOUT_MS = 3000, ADDS = 20, THREADS = 4, ADDS_MAX = CP_PROCS * ADDS * THREADS };

/* Who got which piece of the numbers. */
struct taken {
	struct {
		int64_t from, len;
	} piece[ADDS_MAX];
	uint32_t n;
	int64_t start, sum;
};

static void take(struct cp_proc *p, struct ddio_group_counter *counter, struct taken *all,
		 uint32_t adds)
{
	uint32_t i, k;

	for (i = 0; i < adds; i++) {
		int64_t len = 1 + (p->rank * 7919 + i * 31) % 1000, from = 0;

		CP_OK(p, ddio_counter_add(counter, len, &from));
		k = all->n++;
		all->piece[k].from = from;
		all->piece[k].len = len;
		all->sum += len;
	}
}

static int piece_cmp(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The pieces must follow one another without a gap or an overlap. */
static void check_pieces(struct taken *all)
{
	int64_t at = all->start;
	uint32_t i, bad = 0;

	qsort(all->piece, all->n, sizeof(all->piece[0]), piece_cmp);
	for (i = 0; i < all->n; i++) {
		bad += all->piece[i].from != at;
		at += all->piece[i].len;
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(at, all->start + all->sum);
}

static void add_many(struct cp_proc *p)
{
	struct taken *all = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_group_counter *counter = NULL;
	int64_t value = 0;

	CP_OK(p, ddio_counter_create(g, all->start, &counter));
	take(p, counter, all, ADDS);
	CP_OK(p, ddio_group_barrier(g));
	CP_OK(p, ddio_counter_get(counter, &value));
	CU_ASSERT_EQUAL(value, all->start + all->sum);
	CP_OK(p, ddio_group_barrier(g));
	/* Nothing is owed any more. */
	CU_ASSERT_FALSE(counter_group_user.busy(g));
	ddio_counter_free(counter);
	ddio_group_free(g);
}

static void everybody_adds(void)
{
	static const uint32_t sizes[] = { 1, 2, 3, 5, 8, 13, 16, 26 };
	struct taken all;
	struct cp_world w;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(&all, 0, sizeof(all));
		all.start = i % 2 ? -100000 : 0;
		cp_world_begin(&w, &(struct cp_params){ .procs = sizes[i], .seed = i });
		CU_ASSERT_EQUAL(cp_run(&w, add_many, &all), 0);
		CU_ASSERT_EQUAL(all.n, sizes[i] * ADDS);
		check_pieces(&all);
		cp_world_end(&w);
	}
}

/* Threads of one process, in the group's counter. */
struct crew {
	struct cp_proc *p;
	struct ddio_group_counter *counter;
	uint32_t left;
};

static void crew_member(void *arg)
{
	struct crew *crew = arg;

	take(crew->p, crew->counter, crew->p->w->arg, ADDS);
	crew->left--;
}

static void add_in_threads(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct crew crew = { .p = p, .left = THREADS };
	uint32_t i;

	CP_OK(p, ddio_counter_create(g, 0, &crew.counter));
	for (i = 0; i < THREADS; i++)
		CU_ASSERT_EQUAL(ddio_sim_spawn(p->env, crew_member, &crew), 0);
	while (crew.left)
		ddio_sim_sleep(p->env, CP_MS);
	CP_OK(p, ddio_group_barrier(g));
	/* The group frees the counter. */
	ddio_group_free(g);
}

static void in_several_threads(void)
{
	struct taken all = { .n = 0 };
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS });
	CU_ASSERT_EQUAL(cp_run(&w, add_in_threads, &all), 0);
	CU_ASSERT_EQUAL(all.n, PROCS * THREADS * ADDS);
	check_pieces(&all);
	cp_world_end(&w);
}

/* Rank 0's program makes no calls for a minute, and neither does that of rank 4, through which others' requests go. */
static void add_while_others_compute(struct cp_proc *p)
{
	struct taken *all = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_group_counter *counter = NULL;
	uint64_t began;

	CP_OK(p, ddio_counter_create(g, 0, &counter));
	began = ddio_sim_elapsed(p->w->dw);
	if (p->rank % 4) {
		take(p, counter, all, ADDS);
		CU_ASSERT(ddio_sim_elapsed(p->w->dw) - began < CP_SEC);
	}
	ddio_sim_sleep(p->env, 60 * CP_SEC);
	CP_OK(p, ddio_group_barrier(g));
	ddio_counter_free(counter);
	ddio_group_free(g);
}

static void while_others_compute(void)
{
	struct taken all = { .n = 0 };
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = PROCS, .timeout_ms = TIMEOUT_MS });
	CU_ASSERT_EQUAL(cp_run(&w, add_while_others_compute, &all), 0);
	CU_ASSERT_EQUAL(all.n, (PROCS - 2) * ADDS);
	check_pieces(&all);
	cp_world_end(&w);
}

/*
 * Values
 */
static void overflow(struct cp_proc *p, struct ddio_group_counter *c, int64_t at, int64_t delta)
{
	int64_t value = 7;

	CP_OK(p, ddio_counter_set(c, at));
	CU_ASSERT_EQUAL(cp_note(p, ddio_counter_add(c, delta, &value)), -EOVERFLOW);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "cannot be added"));
	CU_ASSERT_EQUAL(value, 7);
	CP_OK(p, ddio_counter_get(c, &value));
	CU_ASSERT_EQUAL(value, at);
}

static void walk_to_the_ends(struct cp_proc *p, struct ddio_group_counter *c)
{
	int64_t value = 0;

	overflow(p, c, INT64_MAX - 1, 2);
	CP_OK(p, ddio_counter_add(c, 1, &value));
	CU_ASSERT_EQUAL(value, INT64_MAX - 1);
	overflow(p, c, INT64_MAX, INT64_MAX);
	overflow(p, c, INT64_MIN + 1, -2);
	CP_OK(p, ddio_counter_add(c, -1, NULL));
	CP_OK(p, ddio_counter_add(c, INT64_MAX, &value));
	CU_ASSERT_EQUAL(value, INT64_MIN);
	CP_OK(p, ddio_counter_get(c, &value));
	CU_ASSERT_EQUAL(value, -1);
}

/* Each in turn. */
static void count_to_the_ends(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_group_counter *c = NULL;
	uint32_t r;

	CU_ASSERT_EQUAL(ddio_counter_create(NULL, 0, &c), -EINVAL);
	CU_ASSERT_EQUAL(ddio_counter_create(g, 0, NULL), -EINVAL);
	CU_ASSERT_EQUAL(ddio_counter_add(NULL, 0, NULL), -EINVAL);
	ddio_counter_free(NULL);
	CP_OK(p, ddio_counter_create(g, INT64_MIN, &c));
	for (r = 0; r < p->w->p.procs; r++) {
		if (r == p->rank)
			walk_to_the_ends(p, c);
		CP_OK(p, ddio_group_barrier(g));
	}
	ddio_counter_free(c);
	ddio_group_free(g);
}

static void no_more_than_64_bits(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 4 });
	CU_ASSERT_EQUAL(cp_run(&w, count_to_the_ends, NULL), 0);
	cp_world_end(&w);
}

/*
 * Lives
 */
static void begin_with(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_group_counter *c = (struct ddio_group_counter *)g;

	CU_ASSERT_EQUAL(cp_note(p, ddio_counter_create(g, p->rank == 2 ? 5 : 6, &c)), -EBADE);
	CU_ASSERT_PTR_NULL(c);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "the counter begins with"));
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "5 at rank 2"));
	if (p->rank == 1)
		cp_note(p, ddio_group_barrier(g));
	else
		cp_note(p, ddio_counter_create(g, 0, &c));
	CU_ASSERT_EQUAL(p->ret, -EBADE);
	CU_ASSERT_PTR_NOT_NULL(strstr(p->text, "ddio_counter_create()"));
	CP_OK(p, ddio_counter_create(g, 0, &c));
	CP_OK(p, ddio_counter_add(c, 1, NULL));
	CP_OK(p, ddio_group_barrier(g));
	ddio_counter_free(c);
	ddio_group_free(g);
}

static void members_must_agree(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 3 });
	w.proc[0].ret = 0;
	CU_ASSERT_EQUAL(cp_run(&w, begin_with, NULL), 0);
	cp_world_end(&w);
}

static void free_one_of_two(struct cp_proc *p)
{
	struct ddio_group *g = cp_group(p);
	struct ddio_group_counter *a = NULL, *b = NULL;
	int64_t value = 0;

	CP_OK(p, ddio_counter_create(g, 100, &a));
	CP_OK(p, ddio_counter_create(g, 200, &b));
	CP_OK(p, ddio_counter_add(a, 1, NULL));
	CP_OK(p, ddio_counter_add(b, 2, NULL));
	CP_OK(p, ddio_group_barrier(g));
	if (p->rank == 1)
		ddio_counter_free(a);
	CP_OK(p, ddio_group_barrier(g));
	if (p->rank != 1) {
		CP_OK(p, ddio_counter_get(a, &value));
		CU_ASSERT_EQUAL(value, 100 + p->w->p.procs);
	}
	CP_OK(p, ddio_group_barrier(g));
	if (!p->rank)
		ddio_counter_free(a);
	CP_OK(p, ddio_group_barrier(g));
	if (p->rank > 1) {
		CU_ASSERT_EQUAL(cp_note(p, ddio_counter_add(a, 1, &value)), -ESTALE);
		CU_ASSERT_STRING_EQUAL(p->text, "rank 0 has freed the counter");
	}
	CP_OK(p, ddio_counter_get(b, &value));
	CU_ASSERT_EQUAL(value, 200 + 2 * p->w->p.procs);
	CP_OK(p, ddio_group_barrier(g));
	ddio_group_free(g);
}

static void each_has_its_life(void)
{
	struct cp_world w;

	cp_world_begin(&w, &(struct cp_params){ .procs = 5 });
	CU_ASSERT_EQUAL(cp_run(&w, free_one_of_two, NULL), 0);
	cp_world_end(&w);
}

/*
 * Deaths
 */

/* Who stops, how, and with which byte that it sends. */
struct end {
	uint32_t rank;
	bool silent;
	uint64_t byte;
	uint64_t returned[PROCS];
	bool happened;
};

static void stop_at(struct cp_proc *p, const struct end *end)
{
	struct ddio_sim_link link;

	ddio_sim_link_default(&link);
	if (end->silent)
		link.stall_after = end->byte;
	else
		link.break_after = end->byte;
	ddio_sim_set_link(p->env, &link);
}

/* All add until they cannot. */
static void add_to_the_end(struct cp_proc *p)
{
	struct end *end = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_group_counter *c = NULL;
	int64_t before = 0, last = -1;
	uint64_t began;

	/* What is missing at the barrier is dead then, not late. */
	CP_OK(p, ddio_group_set_patient(g));
	CP_OK(p, ddio_counter_create(g, 0, &c));
	began = ddio_sim_elapsed(p->w->dw);
	if (p->rank == end->rank)
		stop_at(p, end);
	while (!cp_note(p, ddio_counter_add(c, 1, &before)) && before < 400) {
		CU_ASSERT(before > last);
		last = before;
		ddio_sim_sleep(p->env, CP_MS / 10);
	}
	if (!p->ret)
		cp_note(p, ddio_group_barrier(g));
	end->returned[p->rank] = ddio_sim_elapsed(p->w->dw) - began;
	if (p->ret) {
		CU_ASSERT_EQUAL(p->ret, -ECONNABORTED);
		end->happened = true;
		CU_ASSERT_EQUAL(ddio_counter_get(c, &before), -ECONNABORTED);
	}
	ddio_counter_free(c);
	ddio_group_free(g);
}

static bool end_with(struct end *end, uint64_t seed)
{
	struct cp_world w;
	uint32_t r;

	cp_world_begin(
		&w, &(struct cp_params){ .procs = PROCS, .timeout_ms = TIMEOUT_MS, .seed = seed });
	CU_ASSERT_EQUAL(cp_run(&w, add_to_the_end, end), 0);
	for (r = 0; r < PROCS; r++)
		CU_ASSERT(end->returned[r] <= 3 * TIMEOUT_MS * CP_MS);
	cp_world_end(&w);
	return end->happened;
}

/* A connection of each member breaks, at each of many bytes: within a message and between two. */
static void connections_break(void)
{
	uint64_t byte, seen = 0;
	uint32_t rank;

	for (rank = 0; rank < PROCS; rank++)
		for (byte = 1; byte < 1000; byte += 31 * ut_stride(5)) {
			struct end end = { .rank = rank, .byte = byte };

			seen += end_with(&end, byte);
		}
	CU_ASSERT(seen > PROCS);
}

static void members_fall_silent(void)
{
	uint32_t rank;

	for (rank = 0; rank < PROCS; rank++) {
		struct end end = { .rank = rank, .silent = true, .byte = 300 };

		CU_ASSERT(end_with(&end, rank));
	}
}

/* Only the member that is deepest in the tree asks: those between it and rank 0 must look after one another. */
static void ask_from_below(struct cp_proc *p)
{
	struct end *end = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_group_counter *c = NULL;
	uint64_t began;

	CP_OK(p, ddio_counter_create(g, 0, &c));
	CP_OK(p, ddio_group_barrier(g));
	began = ddio_sim_elapsed(p->w->dw);
	if (p->rank == end->rank)
		stop_at(p, end);
	ddio_sim_sleep(p->env, CP_SEC);
	if (p->rank == PROCS - 1) {
		CU_ASSERT_EQUAL(cp_note(p, ddio_counter_add(c, 1, NULL)), -ECONNABORTED);
		end->returned[p->rank] = ddio_sim_elapsed(p->w->dw) - began;
	}
	ddio_sim_sleep(p->env, 60 * CP_SEC);
	ddio_group_free(g);
}

static void silence_on_the_way(void)
{
	static const uint32_t way[] = { 0, 4, 6 };
	struct cp_world w;
	uint32_t i;

	for (i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		struct end end = { .rank = way[i], .silent = true, .byte = 1 };

		cp_world_begin(&w, &(struct cp_params){ .procs = PROCS,
							.deep = true,
							.timeout_ms = TIMEOUT_MS });
		CU_ASSERT_EQUAL(cp_run(&w, ask_from_below, &end), 0);
		CU_ASSERT(end.returned[PROCS - 1] <= 3 * TIMEOUT_MS * CP_MS);
		cp_world_end(&w);
	}
}

/*
 * Sins: what is not the next request of a member below the sender, or no answer that is waited for, adds nothing and
 * ends the group.
 */
enum counter_sin {
	AGAIN,
	AHEAD,
	OF_ANOTHER_RANK,
	OF_NO_RANK,
	OF_ANOTHER_GROUP,
	WITH_A_STATUS,
	AN_ANSWER,
	FROM_ABOVE,
	FROM_ABOVE_FOR_ANOTHER,
	SINS
};

static void sin_send(struct ddio_group *g, enum counter_sin sin)
{
	struct ddio_msg_counter msg = { .counter = 1, .action = DDIO_COUNTER_ADD, .value = 1000 };
	bool down = sin >= AN_ANSWER;
	uint8_t buf[64];
	ssize_t len;

	memcpy(msg.group, g->id, sizeof(msg.group));
	msg.rank = g->rank;
	msg.number = 2;
	if (sin == AGAIN)
		msg.number = 1;
	else if (sin == AHEAD)
		msg.number = 3;
	else if (sin == OF_ANOTHER_RANK)
		msg.rank = 1;
	else if (sin == OF_NO_RANK)
		msg.rank = g->size;
	else if (sin == OF_ANOTHER_GROUP)
		msg.group[0] ^= 1;
	else if (sin == WITH_A_STATUS)
		msg.status = DDIO_ST_STALE;
	else if (sin == FROM_ABOVE)
		msg.rank = 3;
	else if (sin == FROM_ABOVE_FOR_ANOTHER)
		msg.rank = 1;
	len = ddio_put_counter(buf, sizeof(buf), &msg);
	CU_ASSERT_EQUAL(peer_send(g, sin >= FROM_ABOVE ? 3 : 0,
				  down ? DDIO_OP_COUNTER_OUT : DDIO_OP_COUNTER_IN, buf,
				  (size_t)len),
			0);
}

/* Rank 2 of four sins, towards its parent 0 or its child 3. */
static void sin_once(struct cp_proc *p)
{
	const enum counter_sin *sin = p->w->arg;
	struct ddio_group *g = cp_group(p);
	struct ddio_group_counter *c = NULL;
	int64_t value = 0;

	CP_OK(p, ddio_counter_create(g, 0, &c));
	CP_OK(p, ddio_counter_add(c, 1, NULL));
	CP_OK(p, ddio_group_barrier(g));
	if (p->rank == 2)
		sin_send(g, *sin);
	ddio_sim_sleep(p->env, CP_SEC);
	CU_ASSERT_EQUAL(ddio_counter_get(c, &value), -ECONNABORTED);
	CU_ASSERT_EQUAL(ddio_group_barrier(g), -ECONNABORTED);
	if (!p->rank)
		CU_ASSERT_EQUAL(c->value, 4);
	ddio_group_free(g);
}

static void every_sin(void)
{
	struct cp_world w;
	enum counter_sin sin;

	for (sin = 0; sin < SINS; sin++) {
		cp_world_begin(&w, &(struct cp_params){
					   .procs = 4, .deep = true, .timeout_ms = TIMEOUT_MS });
		CU_ASSERT_EQUAL(cp_run(&w, sin_once, &sin), 0);
		cp_world_end(&w);
	}
}

int main(void)
{
	static const struct ut_case cases[] = {
		{ "everybody adds", everybody_adds },
		{ "in several threads", in_several_threads },
		{ "while others compute", while_others_compute },
		{ "no more than 64 bits", no_more_than_64_bits },
		{ "members must agree", members_must_agree },
		{ "each has its life", each_has_its_life },
		{ "connections break", connections_break },
		{ "members fall silent", members_fall_silent },
		{ "silence on the way", silence_on_the_way },
		{ "every sin", every_sin },
		{ NULL, NULL },
	};
	static const struct ut_suite suites[] = { { "counters", cases } };

	return ut_run("test_cp_counter", suites, 1);
}
