// SPDX-License-Identifier: GPL-2.0-only
/* Locks: against a plain model byte by byte; waiting, circles, cancelling, mounts that are lost. */
#include <errno.h>
#include <stdlib.h>
#include "base/rand.h"
#include "iop/lock/locks.h"
#include "tests/unit/lib/ut.h"

enum { OWNERS = 4, BYTES = 24, FILES = 2, STEPS = 20000 };

static const char mounts[2];

/* What each owner has of each byte. */
struct lock_model {
	uint8_t has[2][FILES][OWNERS][BYTES];
};

static struct file_lock lock_of(uint32_t owner, uint64_t start, uint64_t end, uint32_t type,
				bool flock)
{
	return (struct file_lock){ .mount = &mounts[owner & 1],
				   .owner = owner / 2,
				   .start = start,
				   .end = end,
				   .pid = 100 + owner,
				   .type = type,
				   .flock = flock };
}

static bool model_free(const struct lock_model *m, uint32_t file, const struct file_lock *l,
		       uint32_t owner)
{
	uint32_t o;
	uint64_t b;

	for (o = 0; o < OWNERS; o++) {
		for (b = l->start; b <= l->end && b < BYTES && o != owner; b++) {
			uint8_t has = m->has[l->flock][file][o][b];

			if (has && l->type &&
			    (has == DDIO_FS_LOCK_WRITE || l->type == DDIO_FS_LOCK_WRITE))
				return false;
		}
	}
	return true;
}

static void compare(struct locks *locks, const struct lock_model *m)
{
	uint32_t kind, file, b, type, bad = 0;
	struct file_lock first;

	/* a stranger meets what the model has */
	for (kind = 0; kind < 2; kind++) {
		for (file = 0; file < FILES; file++) {
			for (b = 0; b < BYTES; b++) {
				for (type = 1; type < 3; type++) {
					struct file_lock l = lock_of(99, b, b, type, kind);

					bad += locks_test(locks, file + 1, &l, &first) ==
					       model_free(m, file, &l, OWNERS);
				}
			}
		}
	}
	CU_ASSERT_EQUAL(bad, 0);
}

/* What is told of the locks in the way is the lowest of them, in whatever order they were set. */
static void test_lowest(void)
{
	static const uint64_t starts[] = { 40, 10, 60, 20, 0, 50, 30 };
	struct file_lock want = lock_of(99, 5, UINT64_MAX, DDIO_FS_LOCK_WRITE, false), l;
	struct locks locks;
	uint32_t i;

	locks_init(&locks);
	for (i = 0; i < 7; i++) {
		l = lock_of(i % OWNERS, starts[i], starts[i] + 2, DDIO_FS_LOCK_READ, false);
		CU_ASSERT_EQUAL(locks_set(&locks, 1, &l, false, NULL), 0);
	}
	for (i = 1; i < 7; i++) {
		CU_ASSERT_FATAL(locks_test(&locks, 1, &want, &l));
		CU_ASSERT_EQUAL_FATAL(l.start, 10 * i);
		l.type = DDIO_FS_LOCK_NONE;
		CU_ASSERT_EQUAL(locks_set(&locks, 1, &l, false, NULL), 0);
	}
	CU_ASSERT(!locks_test(&locks, 1, &want, &l));
	locks_drop_mount(&locks, &mounts[0], -EIO);
	locks_drop_mount(&locks, &mounts[1], -EIO);
	locks_free(&locks);
}

static void test_model(void)
{
	static struct lock_model m;
	struct locks locks;
	uint64_t rand = 1;
	int i;

	memset(&m, 0, sizeof(m));
	locks_init(&locks);
	for (i = 0; i < STEPS; i++) {
		uint32_t owner = (uint32_t)ddio_rand_below(&rand, OWNERS);
		uint32_t file = (uint32_t)ddio_rand_below(&rand, FILES);
		uint64_t start = ddio_rand_below(&rand, BYTES);
		uint64_t end = start + ddio_rand_below(&rand, BYTES - start);
		struct file_lock l = lock_of(owner, start, end, (uint32_t)ddio_rand_below(&rand, 3),
					     ddio_rand_below(&rand, 4) == 0);
		int ret;

		if (!ddio_rand_below(&rand, 50)) {
			locks_drop_owner(&locks, file + 1, l.mount, l.owner);
			memset(m.has[0][file][owner], 0, BYTES);
			continue;
		}
		ret = locks_set(&locks, file + 1, &l, false, NULL);
		CU_ASSERT_EQUAL(ret, model_free(&m, file, &l, owner) ? 0 : -EAGAIN);
		if (!ret)
			memset(&m.has[l.flock][file][owner][start], (int)l.type, end - start + 1);
		if (!(i % 50))
			compare(&locks, &m);
	}
	/* one mount is lost: its two owners have nothing any more */
	locks_drop_mount(&locks, &mounts[1], -ESTALE);
	for (i = 0; i < 2; i++) {
		memset(m.has[i][0][1], 0, BYTES);
		memset(m.has[i][0][3], 0, BYTES);
		memset(m.has[i][1][1], 0, BYTES);
		memset(m.has[i][1][3], 0, BYTES);
	}
	compare(&locks, &m);
	locks_drop_mount(&locks, &mounts[0], -ESTALE);
	CU_ASSERT_EQUAL(locks.files.n, 0);
	locks_free(&locks);
}

struct lock_waiter {
	struct lock_wait wait;
	int err, calls;
};

static void waited(struct lock_wait *wait, int err)
{
	struct lock_waiter *w = wait->arg;

	w->err = err;
	w->calls++;
}

static int take(struct locks *locks, uint64_t ino, uint32_t owner, uint64_t start, uint64_t end,
		uint32_t type, struct lock_waiter *w)
{
	struct file_lock l = lock_of(owner, start, end, type, false);

	if (!w)
		return locks_set(locks, ino, &l, false, NULL);
	memset(w, 0, sizeof(*w));
	w->wait.done = waited;
	w->wait.arg = w;
	w->wait.id = 7 + owner;
	return locks_set(locks, ino, &l, false, &w->wait);
}

static void test_wait(void)
{
	struct locks locks;
	struct lock_waiter a, b, c;

	locks_init(&locks);
	CU_ASSERT_EQUAL(take(&locks, 1, 0, 0, 9, DDIO_FS_LOCK_WRITE, NULL), 0);
	CU_ASSERT_EQUAL(take(&locks, 1, 1, 5, 5, DDIO_FS_LOCK_READ, &a), -EINPROGRESS);
	CU_ASSERT_EQUAL(take(&locks, 1, 2, 9, 20, DDIO_FS_LOCK_READ, &b), -EINPROGRESS);
	CU_ASSERT_EQUAL(take(&locks, 1, 3, 5, 5, DDIO_FS_LOCK_WRITE, &c), -EINPROGRESS);
	/* half of it is given back: one can go on */
	CU_ASSERT_EQUAL(take(&locks, 1, 0, 6, 9, DDIO_FS_LOCK_NONE, NULL), 0);
	CU_ASSERT(a.calls == 0 && b.calls == 1 && b.err == 0);
	/* for reading only: another one */
	CU_ASSERT_EQUAL(take(&locks, 1, 0, 0, 9, DDIO_FS_LOCK_READ, NULL), 0);
	CU_ASSERT(a.calls == 1 && a.err == 0 && c.calls == 0);
	CU_ASSERT_TRUE(locks_cancel(&locks, &mounts[1], 10));
	CU_ASSERT(c.calls == 1 && c.err == -EINTR);
	CU_ASSERT_FALSE(locks_cancel(&locks, &mounts[1], 10));
	CU_ASSERT_EQUAL(take(&locks, 1, 3, 5, 5, DDIO_FS_LOCK_WRITE, &c), -EINPROGRESS);
	locks_drop_mount(&locks, &mounts[1], -ESTALE);
	CU_ASSERT(c.calls == 1 && c.err == -ESTALE);
	CU_ASSERT_EQUAL(take(&locks, 1, 1, 0, 50, DDIO_FS_LOCK_WRITE, &a), -EINPROGRESS);
	locks_stop(&locks, -ESHUTDOWN);
	CU_ASSERT(a.calls == 1 && a.err == -ESHUTDOWN);
	CU_ASSERT_EQUAL(locks.nwaits, 0);
	locks_free(&locks);
}

static void test_circles(void)
{
	struct locks locks;
	struct lock_waiter a, b, c;

	locks_init(&locks);
	CU_ASSERT_EQUAL(take(&locks, 1, 0, 0, 0, DDIO_FS_LOCK_WRITE, NULL), 0);
	CU_ASSERT_EQUAL(take(&locks, 2, 1, 0, 0, DDIO_FS_LOCK_WRITE, NULL), 0);
	CU_ASSERT_EQUAL(take(&locks, 3, 2, 0, 0, DDIO_FS_LOCK_WRITE, NULL), 0);
	CU_ASSERT_EQUAL(take(&locks, 2, 0, 0, 0, DDIO_FS_LOCK_READ, &a), -EINPROGRESS);
	CU_ASSERT_EQUAL(take(&locks, 3, 1, 0, 0, DDIO_FS_LOCK_READ, &b), -EINPROGRESS);
	/* over three files and two mounts */
	CU_ASSERT_EQUAL(take(&locks, 1, 2, 0, 0, DDIO_FS_LOCK_READ, &c), -EDEADLK);
	CU_ASSERT_EQUAL(take(&locks, 1, 3, 0, 0, DDIO_FS_LOCK_READ, &c), -EINPROGRESS);
	CU_ASSERT_EQUAL(take(&locks, 3, 2, 0, 0, DDIO_FS_LOCK_NONE, NULL), 0);
	CU_ASSERT(b.calls == 1 && b.err == 0 && a.calls == 0);
	CU_ASSERT_EQUAL(take(&locks, 2, 1, 0, 0, DDIO_FS_LOCK_NONE, NULL), 0);
	CU_ASSERT(a.calls == 1 && a.err == 0);
	locks_drop_owner(&locks, 1, &mounts[0], 0);
	CU_ASSERT(c.calls == 1 && c.err == 0);
	locks_free(&locks);
}

/* After a restart: those told again go first, the others are answered when all have told. */
static void test_held(void)
{
	struct file_lock mine = lock_of(0, 0, 0, DDIO_FS_LOCK_WRITE, false);
	struct locks locks;
	struct lock_waiter a, b;

	locks_init(&locks);
	locks.held = true;
	CU_ASSERT_EQUAL(take(&locks, 1, 1, 0, 0, DDIO_FS_LOCK_WRITE, &a), -EINPROGRESS);
	a.wait.once = true;
	CU_ASSERT_EQUAL(take(&locks, 1, 2, 5, 5, DDIO_FS_LOCK_WRITE, &b), -EINPROGRESS);
	b.wait.once = true;
	CU_ASSERT_EQUAL(locks_set(&locks, 1, &mine, true, NULL), 0);
	CU_ASSERT(a.calls == 0 && b.calls == 0);
	locks_settle(&locks);
	CU_ASSERT(a.calls == 1 && a.err == -EAGAIN);
	CU_ASSERT(b.calls == 1 && b.err == 0);
	locks_free(&locks);
}

/* One mount may have so many locks, on a file and altogether; what it gives back it may take again. */
static void test_bounds(void)
{
	struct locks locks;
	struct bound *all, *file, *waits;
	struct lock_waiter w[3];
	uint64_t i;

	locks_init(&locks);
	all = &locks.bounds->at[BOUND_LOCKS];
	file = &locks.bounds->at[BOUND_FILE_LOCKS];
	waits = &locks.bounds->at[BOUND_WAITS];
	CU_ASSERT(file->limit >= 4096 && waits->limit >= 1024);
	file->limit = 4;
	all->limit = 6;
	for (i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(take(&locks, 1, 0, 4 * i, 4 * i + 2, DDIO_FS_LOCK_READ, NULL), 0);
	CU_ASSERT_EQUAL(take(&locks, 1, 0, 50, 50, DDIO_FS_LOCK_READ, NULL), -ENOLCK);
	/* an unlock may not make two of one; a change, a whole unlock and a larger lock may always be */
	CU_ASSERT_EQUAL(take(&locks, 1, 0, 1, 1, DDIO_FS_LOCK_NONE, NULL), -ENOLCK);
	CU_ASSERT_EQUAL(take(&locks, 1, 0, 0, 2, DDIO_FS_LOCK_WRITE, NULL), 0);
	CU_ASSERT_EQUAL(take(&locks, 1, 1, 50, 50, DDIO_FS_LOCK_READ, NULL), 0);
	CU_ASSERT_EQUAL(take(&locks, 2, 0, 0, 0, DDIO_FS_LOCK_READ, NULL), 0);
	CU_ASSERT_EQUAL(take(&locks, 3, 0, 0, 0, DDIO_FS_LOCK_READ, NULL), 0);
	CU_ASSERT_EQUAL(take(&locks, 4, 0, 0, 0, DDIO_FS_LOCK_READ, NULL), -ENOLCK);
	CU_ASSERT_EQUAL(all->now, 7);
	CU_ASSERT_EQUAL(all->most, 6);
	CU_ASSERT_EQUAL(all->hits, 1);
	CU_ASSERT_EQUAL(file->hits, 2);
	CU_ASSERT_EQUAL(take(&locks, 1, 0, 0, 40, DDIO_FS_LOCK_NONE, NULL), 0);
	CU_ASSERT_EQUAL(all->now, 3);
	CU_ASSERT_EQUAL(take(&locks, 4, 0, 0, 0, DDIO_FS_LOCK_READ, NULL), 0);
	/* who waits: one mount's do not keep the other's out */
	waits->limit = 1;
	CU_ASSERT_EQUAL(take(&locks, 9, 0, 0, 0, DDIO_FS_LOCK_WRITE, NULL), 0);
	CU_ASSERT_EQUAL(take(&locks, 9, 2, 0, 0, DDIO_FS_LOCK_READ, &w[0]), -EINPROGRESS);
	CU_ASSERT_EQUAL(take(&locks, 9, 2, 0, 0, DDIO_FS_LOCK_READ, &w[1]), -ENOLCK);
	CU_ASSERT_EQUAL(take(&locks, 9, 1, 0, 0, DDIO_FS_LOCK_READ, &w[2]), -EINPROGRESS);
	CU_ASSERT(waits->now == 2 && waits->hits == 1);
	CU_ASSERT_EQUAL(take(&locks, 9, 0, 0, 0, DDIO_FS_LOCK_NONE, NULL), 0);
	CU_ASSERT(w[0].calls == 1 && w[2].calls == 1 && waits->now == 0);
	locks_drop_mount(&locks, &mounts[0], -ESTALE);
	locks_drop_mount(&locks, &mounts[1], -ESTALE);
	CU_ASSERT_EQUAL(all->now, 0);
	CU_ASSERT_EQUAL(locks.mounts.n, 0);
	locks_free(&locks);
}

enum { CHAIN = 10000, CHAIN_MOUNTS = 16 };

static const char crowd[CHAIN_MOUNTS];

static struct file_lock link_lock(uint32_t i)
{
	return (struct file_lock){ .mount = &crowd[i % CHAIN_MOUNTS],
				   .owner = i,
				   .end = UINT64_MAX,
				   .type = DDIO_FS_LOCK_WRITE };
}

static void counted(struct lock_wait *wait, int err)
{
	uint32_t *n = wait->arg;

	*n += !err;
}

static int link_wait(struct locks *locks, struct lock_wait *waits, uint32_t i, uint32_t *woken)
{
	struct file_lock want = link_lock(i);

	waits[i] = (struct lock_wait){ .id = i, .done = counted, .arg = woken };
	return locks_set(locks, (i + 1) % CHAIN + 1, &want, false, &waits[i]);
}

/*
 * A chain of owners of whom each waits for the next: its last link would close the circle.  Finding that takes one look at
 * each lock, and is refused if that is more than may be; no number of waits of one mount keeps others from waiting.
 */
static void test_chain(void)
{
	struct lock_wait *waits = calloc(CHAIN, sizeof(*waits));
	uint32_t i, woken = 0, bad = 0;
	struct bound *searched;
	struct locks locks;

	locks_init(&locks);
	searched = &locks.bounds->at[BOUND_SEARCHED];
	for (i = 0; i < CHAIN; i++) {
		struct file_lock want = link_lock(i);

		bad += locks_set(&locks, i + 1, &want, false, NULL) != 0;
	}
	for (i = 0; i < CHAIN - 1; i++)
		bad += link_wait(&locks, waits, i, &woken) != -EINPROGRESS;
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(searched->most, 1);
	CU_ASSERT_EQUAL(link_wait(&locks, waits, CHAIN - 1, &woken), -EDEADLK);
	CU_ASSERT_EQUAL(searched->most, CHAIN);
	searched->limit = CHAIN - 1;
	CU_ASSERT_EQUAL(link_wait(&locks, waits, CHAIN - 1, &woken), -ENOLCK);
	CU_ASSERT_EQUAL(searched->hits, 1);
	/* Each mount that goes lets those go on who waited for it. */
	for (i = 0; i < CHAIN_MOUNTS; i++)
		locks_drop_mount(&locks, &crowd[i], -ESTALE);
	CU_ASSERT_EQUAL(locks.nwaits, 0);
	CU_ASSERT_EQUAL(locks.bounds->at[BOUND_LOCKS].now, 0);
	CU_ASSERT_EQUAL(locks.bounds->at[BOUND_WAITS].now, 0);
	CU_ASSERT_EQUAL(locks.files.n, 0);
	locks_free(&locks);
	free(waits);
}

/* All who wait for one file go on in one go, the first first, and what one of them gives up lets others go on. */
static void test_crowd(void)
{
	struct lock_wait waits[1000], down = { .id = 1 };
	struct file_lock all = link_lock(0), first, want;
	uint32_t i, woken = 0;
	struct locks locks;

	locks_init(&locks);
	CU_ASSERT_EQUAL(locks_set(&locks, 1, &all, false, NULL), 0);
	for (i = 0; i < 1000; i++) {
		want = link_lock(i + 1);
		want.type = DDIO_FS_LOCK_READ;
		waits[i] = (struct lock_wait){ .id = i, .done = counted, .arg = &woken };
		CU_ASSERT_EQUAL(locks_set(&locks, 1, &want, false, &waits[i]), -EINPROGRESS);
	}
	all.type = DDIO_FS_LOCK_READ;
	CU_ASSERT_EQUAL(locks_set(&locks, 1, &all, false, NULL), 0);
	CU_ASSERT_EQUAL(woken, 1000);
	CU_ASSERT_EQUAL(locks.nwaits, 0);
	for (i = 0; i < CHAIN_MOUNTS; i++)
		locks_drop_mount(&locks, &crowd[i], -ESTALE);
	/* 2 writes to byte 0 and reads byte 9 of 3, who wants to read byte 0. */
	first = link_lock(2);
	first.end = 0;
	CU_ASSERT_EQUAL(locks_set(&locks, 1, &first, false, NULL), 0);
	want = link_lock(3);
	want.start = want.end = 9;
	CU_ASSERT_EQUAL(locks_set(&locks, 1, &want, false, NULL), 0);
	all = link_lock(4);
	all.end = 0;
	all.type = DDIO_FS_LOCK_READ;
	waits[0] = (struct lock_wait){ .id = 5, .done = counted, .arg = &woken };
	CU_ASSERT_EQUAL(locks_set(&locks, 1, &all, false, &waits[0]), -EINPROGRESS);
	first.type = DDIO_FS_LOCK_READ;
	first.end = 9;
	down.done = counted;
	down.arg = &woken;
	CU_ASSERT_EQUAL(locks_set(&locks, 1, &first, false, &down), -EINPROGRESS);
	want.type = DDIO_FS_LOCK_NONE;
	CU_ASSERT_EQUAL(locks_set(&locks, 1, &want, false, NULL), 0);
	CU_ASSERT_EQUAL(woken, 1002);
	for (i = 0; i < CHAIN_MOUNTS; i++)
		locks_drop_mount(&locks, &crowd[i], -ESTALE);
	locks_free(&locks);
}

/* Returns at how many locks of others one more change of one of them has looked. */
static uint64_t looks(struct locks *locks, uint32_t owner, uint64_t byte, uint32_t type)
{
	struct file_lock want = link_lock(owner);
	uint64_t before = locks->looked;

	want.start = want.end = byte;
	want.type = type;
	CU_ASSERT_EQUAL(locks_set(locks, 1, &want, false, NULL), 0);
	return locks->looked - before;
}

/* However many locks a file has, a request looks at few of them, and so does each that waits when one is given back. */
static void test_many(void)
{
	enum { MANY = 3000, WAITS = 200, FEW = 100 };
	struct lock_wait waits[WAITS + 1];
	struct file_lock want;
	uint32_t i, woken = 0;
	struct locks locks;
	uint64_t most = 0;

	locks_init(&locks);
	for (i = 0; i < MANY; i++) {
		uint64_t n = looks(&locks, i % 16, 2 * i,
				   i % 3 ? DDIO_FS_LOCK_READ : DDIO_FS_LOCK_WRITE);

		most = n > most ? n : most;
	}
	CU_ASSERT(most < FEW);
	for (i = 0; i < WAITS; i++) {
		want = link_lock(100 + i);
		waits[i] = (struct lock_wait){ .id = i, .done = counted, .arg = &woken };
		CU_ASSERT_EQUAL(locks_set(&locks, 1, &want, false, &waits[i]), -EINPROGRESS);
	}
	/* An owner that has most of them itself, and waits for one byte of somebody else's. */
	for (i = 0; i < MANY; i++)
		looks(&locks, 16, 2 * MANY + 2 * i, DDIO_FS_LOCK_READ);
	looks(&locks, 32, 4 * MANY, DDIO_FS_LOCK_READ);
	want = link_lock(16);
	want.start = 2 * MANY;
	waits[WAITS] = (struct lock_wait){ .id = 1, .done = counted, .arg = &woken };
	CU_ASSERT_EQUAL(locks_set(&locks, 1, &want, false, &waits[WAITS]), -EINPROGRESS);
	CU_ASSERT(looks(&locks, 0, 0, DDIO_FS_LOCK_NONE) < (WAITS + 1) * FEW);
	CU_ASSERT_EQUAL(woken, 0);
	looks(&locks, 32, 4 * MANY, DDIO_FS_LOCK_NONE);
	CU_ASSERT_EQUAL(woken, 1);
	for (i = 0; i < CHAIN_MOUNTS; i++)
		locks_drop_mount(&locks, &crowd[i], -ESTALE);
	CU_ASSERT_EQUAL(locks.files.n + locks.holders.n + locks.shares.n + locks.mounts.n, 0);
	locks_free(&locks);
}

static const struct ut_case cases[] = {
	{ "against a model", test_model }, { "the lowest", test_lowest },
	{ "waiting", test_wait },	   { "circles", test_circles },
	{ "after a restart", test_held },  { "bounds", test_bounds },
	{ "a long chain", test_chain },	   { "a crowd", test_crowd },
	{ "many locks", test_many },	   { .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "locks", cases } };

	return ut_run("fs_lock", suites, 1);
}
