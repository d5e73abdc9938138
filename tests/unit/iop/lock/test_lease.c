// SPDX-License-Identifier: GPL-2.0-only
/* Leases by themselves: who gets one, who waits for its end, and how many there are. */
#include "tests/unit/lib/ut.h"
#include "userlib/iop/lock/lease.h"

/* Mounts, and listeners of theirs, are told apart by their addresses. */
static char mount[3], listener[3];

static uint32_t called, told;

static void ended(struct lease_wait *wait)
{
	(void)wait;
	called++;
}

static void tell(void *l)
{
	(void)l;
	told++;
}

static void begin(struct leases *leases)
{
	int i;

	leases_init(leases);
	for (i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(leases_listen(leases, &mount[i], &listener[i]), 0);
	called = 0;
	told = 0;
}

static void granted_to_one(void)
{
	struct leases l;
	uint64_t first;

	begin(&l);
	first = lease_grant(&l, 7, &mount[0]);
	CU_ASSERT(first > 0);
	CU_ASSERT_EQUAL(lease_grant(&l, 7, &mount[0]), first);
	CU_ASSERT_EQUAL(lease_grant(&l, 7, &mount[1]), 0);
	CU_ASSERT(lease_of_other(&l, 7, &mount[1]) && lease_of_other(&l, 7, NULL));
	CU_ASSERT(!lease_of_other(&l, 7, &mount[0]));
	CU_ASSERT(lease_held(&l, 7, &mount[0], first) && !lease_held(&l, 7, &mount[0], first + 1));
	/* Another number is one of the past. */
	lease_end(&l, 7, &mount[0], first + 1);
	lease_end(&l, 7, &mount[1], first);
	CU_ASSERT(lease_held(&l, 7, &mount[0], first));
	lease_end(&l, 7, &mount[0], first);
	CU_ASSERT(lease_grant(&l, 7, &mount[1]) > first);
	leases_listen(&l, &mount[2], NULL);
	CU_ASSERT_EQUAL(lease_grant(&l, 8, &mount[2]), 0);
	leases_free(&l);
}

static void recalled(void)
{
	struct lease_wait wait[2] = { { .done = ended }, { .done = ended } };
	struct ddio_fs_recall due[4];
	struct leases l;
	uint64_t n;

	begin(&l);
	n = lease_grant(&l, 7, &mount[0]);
	lease_recall(&l, 7, 100, &wait[0]);
	lease_recall(&l, 7, 200, &wait[1]);
	leases_tell(&l, tell);
	CU_ASSERT_EQUAL(told, 1);
	CU_ASSERT_EQUAL(leases_take_due(&l, &mount[0], due, 4), 1);
	CU_ASSERT(due[0].ino == 7 && due[0].lease == n);
	leases_tell(&l, tell);
	CU_ASSERT_EQUAL(told, 1);
	/* It is on its way back: its holder does not get it again. */
	CU_ASSERT_EQUAL(lease_grant(&l, 7, &mount[0]), 0);
	lease_forget(&wait[1]);
	lease_end(&l, 7, &mount[0], n);
	CU_ASSERT_EQUAL(called, 1);
	CU_ASSERT(!lease_of_other(&l, 7, NULL));
	leases_free(&l);
}

/* Whoever does not return one in time loses it, and gets no others; nor keeps them when it ends. */
static void never_returned(void)
{
	struct lease_wait wait = { .done = ended };
	uint32_t n;
	struct leases l;

	begin(&l);
	lease_grant(&l, 7, &mount[0]);
	lease_grant(&l, 8, &mount[0]);
	lease_grant(&l, 10, &mount[0]);
	lease_recall(&l, 7, 100, &wait);
	lease_recall(&l, 8, 150, NULL);
	CU_ASSERT_EQUAL(leases_expire(&l, 1099, 1000, &n), 100);
	CU_ASSERT(!n && !called);
	CU_ASSERT_EQUAL(leases_expire(&l, 1100, 1000, &n), 150);
	CU_ASSERT(n == 1 && called == 1);
	/* Nobody waits for the others one after the other: they have their time now. */
	CU_ASSERT_EQUAL(leases_expire(&l, 1150, 1000, &n), 1100);
	CU_ASSERT(lease_of_other(&l, 10, NULL));
	CU_ASSERT_EQUAL(leases_expire(&l, 2100, 1000, &n), 0);
	CU_ASSERT(n == 1 && !lease_of_other(&l, 10, NULL));
	CU_ASSERT_EQUAL(lease_grant(&l, 9, &mount[0]), 0);
	CU_ASSERT(lease_grant(&l, 7, &mount[1]) > 0);
	leases_drop_mount(&l, &mount[0], NULL);
	CU_ASSERT(!lease_of_other(&l, 8, NULL));
	CU_ASSERT_EQUAL(leases_expire(&l, 9000, 1000, &n), 0);
	leases_listen(&l, &mount[0], &listener[0]);
	CU_ASSERT(lease_grant(&l, 9, &mount[0]) > 0);
	leases_free(&l);
}

struct next_wait {
	struct lease_wait wait;
	struct leases *leases;
};

static void next_recalled(struct lease_wait *wait)
{
	lease_recall(ddio_container_of(wait, struct next_wait, wait)->leases, 8, 1101, NULL);
}

/* What is served when one has ended wants another: that one has its whole time, though the clock has moved on. */
static void recalled_by_a_waiter(void)
{
	struct leases l;
	struct next_wait next = { { .done = next_recalled }, &l };
	uint32_t n;

	begin(&l);
	lease_grant(&l, 7, &mount[0]);
	lease_grant(&l, 8, &mount[1]);
	lease_recall(&l, 7, 100, &next.wait);
	CU_ASSERT_EQUAL(leases_expire(&l, 1100, 1000, &n), 1101);
	CU_ASSERT(n == 1 && lease_of_other(&l, 8, NULL));
	CU_ASSERT_EQUAL(leases_expire(&l, 2101, 1000, &n), 0);
	CU_ASSERT(n == 1 && !lease_of_other(&l, 8, NULL));
	leases_free(&l);
}

/* A mount has as many as the bound says; others have theirs. */
static void bounded(void)
{
	struct ddio_fs_recall due[16];
	struct bound *b;
	struct leases l;
	uint64_t i, n = 0;

	begin(&l);
	b = &l.bounds->at[BOUND_LEASES];
	CU_ASSERT_EQUAL(b->limit, 16384);
	for (i = 1; i <= b->limit; i++)
		n += lease_grant(&l, i, &mount[0]) > 0;
	CU_ASSERT_EQUAL(n, b->limit);
	CU_ASSERT_EQUAL(lease_grant(&l, i, &mount[0]), 0);
	CU_ASSERT(b->hits == 1 && b->now == b->limit && b->most == b->limit);
	CU_ASSERT(lease_grant(&l, i, &mount[1]) > 0);
	for (i = 1; i <= b->limit; i++)
		lease_recall(&l, i, i, NULL);
	leases_tell(&l, tell);
	CU_ASSERT_EQUAL(told, 1);
	for (n = 0; (i = leases_take_due(&l, &mount[0], due, 16)) > 0;)
		n += i;
	CU_ASSERT_EQUAL(n, b->limit);
	leases_stop(&l);
	CU_ASSERT_EQUAL(b->now, 0);
	leases_free(&l);
}

/* Those who stand in line, in the order in which they were called. */
enum { LINE = 11, PER_TURN = 4 };

struct in_line {
	struct lease_wait wait;
	struct leases *leases;
	bool again;
};

static const struct lease_wait *order[2 * LINE];
static uint32_t turns;

static void in_line_called(struct lease_wait *wait)
{
	struct in_line *w = ddio_container_of(wait, struct in_line, wait);

	order[called++] = wait;
	/* It may be the last, with which the line ends. */
	if (w->again)
		lease_recall(w->leases, 7, 1, wait);
	w->again = false;
}

static void in_line_more(void *arg)
{
	(void)arg;
	turns++;
}

/* Has LINE wait for a lease that is returned, and the first PER_TURN be called. */
static void line_begin(struct leases *l, struct in_line *w)
{
	int i;

	begin(l);
	turns = 0;
	l->more = in_line_more;
	l->bounds->at[BOUND_TRIED].limit = PER_TURN;
	lease_grant(l, 7, &mount[0]);
	for (i = 0; i < LINE; i++) {
		w[i] = (struct in_line){ { .done = in_line_called }, l, false };
		lease_recall(l, 7, 100, &w[i].wait);
	}
	lease_end(l, 7, &mount[0], 0);
	CU_ASSERT(called == PER_TURN && turns == 1 && l->busy);
}

static void line_ends(struct leases *l)
{
	uint32_t n;

	for (n = 0; l->busy && n < 2 * LINE; n++)
		leases_go_on(l);
	CU_ASSERT_FALSE(l->busy);
	CU_ASSERT(!lease_line(l, 7) && ddio_list_empty(&l->ended));
}

/* Some are called in each turn; nobody has the lease meanwhile, and the last one to come waits for those before. */
static void in_turns(void)
{
	struct in_line w[LINE], late = { .wait = { .done = in_line_called } };
	struct bound *b;
	struct leases l;
	int i;

	line_begin(&l, w);
	b = &l.bounds->at[BOUND_TRIED];
	CU_ASSERT(lease_line(&l, 7) && !lease_of_other(&l, 7, NULL));
	CU_ASSERT_EQUAL(lease_grant(&l, 7, &mount[1]), 0);
	CU_ASSERT_FALSE(lease_held(&l, 7, &mount[0], 1));
	lease_end(&l, 7, &mount[0], 0);
	lease_recall(&l, 7, 200, &late.wait);
	CU_ASSERT(ddio_list_empty(&l.recalled));
	CU_ASSERT_EQUAL(called, PER_TURN);
	/* Another lease ends meanwhile: its wait has its turn, too, and no turn does more. */
	lease_grant(&l, 8, &mount[0]);
	leases_drop_mount(&l, &mount[0], NULL);
	CU_ASSERT_EQUAL(called, PER_TURN);
	leases_go_on(&l);
	CU_ASSERT(called == 2 * PER_TURN && turns == 2);
	line_ends(&l);
	CU_ASSERT_EQUAL(called, LINE + 1);
	for (i = 0; i < LINE; i++)
		CU_ASSERT_PTR_EQUAL(order[i], &w[i].wait);
	CU_ASSERT_PTR_EQUAL(order[LINE], &late.wait);
	CU_ASSERT(b->most == PER_TURN && b->hits == 2);
	CU_ASSERT(lease_grant(&l, 7, &mount[1]) > 0);
	leases_free(&l);
}

/* One that is called may wait again; those who leave a line, all of them perhaps, are not called. */
static void line_left(void)
{
	struct in_line w[LINE];
	struct leases l;
	int i;

	line_begin(&l, w);
	w[PER_TURN].again = true;
	lease_forget(&w[PER_TURN + 1].wait);
	line_ends(&l);
	CU_ASSERT_EQUAL(called, LINE);
	CU_ASSERT_PTR_EQUAL(order[LINE - 1], &w[PER_TURN].wait);
	leases_free(&l);
	line_begin(&l, w);
	for (i = PER_TURN; i < LINE; i++)
		lease_forget(&w[i].wait);
	line_ends(&l);
	CU_ASSERT_EQUAL(called, PER_TURN);
	leases_free(&l);
	line_begin(&l, w);
	leases_stop(&l);
	CU_ASSERT_EQUAL(called, LINE);
	leases_free(&l);
}

/* Many that were not returned in time end in turns, too; what was recalled first ends first. */
static void expire_in_turns(void)
{
	struct leases l;
	uint64_t i;
	uint32_t n;

	begin(&l);
	l.bounds->at[BOUND_ENDED].limit = PER_TURN;
	for (i = 1; i <= LINE; i++) {
		lease_grant(&l, i, &mount[0]);
		lease_recall(&l, i, i, NULL);
	}
	CU_ASSERT_EQUAL(leases_expire(&l, 5000, 1000, &n), PER_TURN + 1);
	CU_ASSERT(n == PER_TURN && !lease_of_other(&l, PER_TURN, NULL));
	CU_ASSERT(lease_of_other(&l, PER_TURN + 1, NULL));
	CU_ASSERT_EQUAL(leases_expire(&l, 5000, 1000, &n), 2 * PER_TURN + 1);
	CU_ASSERT_EQUAL(leases_expire(&l, 5000, 1000, &n), 0);
	CU_ASSERT_EQUAL(n, LINE - 2 * PER_TURN);
	leases_free(&l);
}

/* What a late mount has besides is recalled in turns; it may end meanwhile. */
static void late_in_turns(void)
{
	struct ddio_fs_recall due[LINE + 1];
	struct bound *bound;
	struct leases l;
	uint64_t i, told = 0;
	uint32_t n;

	begin(&l);
	bound = &l.bounds->at[BOUND_ENDED];
	bound->limit = PER_TURN;
	for (i = 0; i <= LINE; i++)
		lease_grant(&l, i + 1, &mount[0]);
	lease_recall(&l, 1, 100, NULL);
	CU_ASSERT_EQUAL(leases_take_due(&l, &mount[0], due, LINE), 1);
	CU_ASSERT_EQUAL(leases_expire(&l, 5000, 1000, &n), 4000);
	CU_ASSERT_EQUAL(n, 1);
	told = leases_take_due(&l, &mount[0], due, LINE + 1);
	CU_ASSERT_EQUAL(told, PER_TURN - 1);
	CU_ASSERT_EQUAL(leases_expire(&l, 5001, 1000, &n), 4001);
	CU_ASSERT_EQUAL(leases_take_due(&l, &mount[0], due, LINE + 1), PER_TURN);
	/* The last of them; from then on the first one has its time. */
	while (leases_expire(&l, 5002, 1000, &n) != 5000)
		told++;
	CU_ASSERT(told < LINE + PER_TURN);
	CU_ASSERT_EQUAL(bound->most, PER_TURN);
	leases_free(&l);
	begin(&l);
	l.bounds->at[BOUND_ENDED].limit = PER_TURN;
	for (i = 0; i <= LINE; i++)
		lease_grant(&l, i + 1, &mount[0]);
	lease_recall(&l, 1, 100, NULL);
	CU_ASSERT_EQUAL(leases_expire(&l, 5000, 1000, &n), 4000);
	leases_drop_mount(&l, &mount[0], NULL);
	CU_ASSERT_EQUAL(leases_expire(&l, 5000, 1000, &n), 0);
	leases_free(&l);
}

static const struct ut_case cases[] = {
	{ "granted to one", granted_to_one },
	{ "recalled", recalled },
	{ "never returned", never_returned },
	{ "recalled by a waiter", recalled_by_a_waiter },
	{ "bounded", bounded },
	{ "those who waited are called in turns", in_turns },
	{ "a line that some leave", line_left },
	{ "many that were not returned", expire_in_turns },
	{ "what a late mount has besides", late_in_turns },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "lease", cases } };

	return ut_run("lease", suites, 1);
}
