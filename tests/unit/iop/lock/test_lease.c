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

static const struct ut_case cases[] = {
	{ "granted to one", granted_to_one },
	{ "recalled", recalled },
	{ "never returned", never_returned },
	{ "recalled by a waiter", recalled_by_a_waiter },
	{ "bounded", bounded },
	{ 0 },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "lease", cases } };

	return ut_run("lease", suites, 1);
}
