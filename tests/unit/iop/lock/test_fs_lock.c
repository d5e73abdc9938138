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
	locks_drop_mount(&locks, &mounts[0], -EIO, NULL);
	locks_drop_mount(&locks, &mounts[1], -EIO, NULL);
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
	locks_drop_mount(&locks, &mounts[1], -ESTALE, NULL);
	for (i = 0; i < 2; i++) {
		memset(m.has[i][0][1], 0, BYTES);
		memset(m.has[i][0][3], 0, BYTES);
		memset(m.has[i][1][1], 0, BYTES);
		memset(m.has[i][1][3], 0, BYTES);
	}
	compare(&locks, &m);
	locks_drop_mount(&locks, &mounts[0], -ESTALE, NULL);
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

static int take_by(struct locks *locks, uint64_t ino, const struct file_lock *want, bool once,
		   struct lock_waiter *w)
{
	if (!w)
		return locks_set(locks, ino, want, false, NULL);
	memset(w, 0, sizeof(*w));
	w->wait.done = waited;
	w->wait.arg = w;
	w->wait.id = 7 + 2 * want->owner + (want->mount != &mounts[0]);
	w->wait.once = once;
	return locks_set(locks, ino, want, false, &w->wait);
}

static int take(struct locks *locks, uint64_t ino, uint32_t owner, uint64_t start, uint64_t end,
		uint32_t type, struct lock_waiter *w)
{
	struct file_lock l = lock_of(owner, start, end, type, false);

	return take_by(locks, ino, &l, false, w);
}

static int take_once(struct locks *locks, uint64_t ino, uint32_t owner, uint64_t start,
		     uint64_t end, uint32_t type, struct lock_waiter *w)
{
	struct file_lock l = lock_of(owner, start, end, type, false);

	return take_by(locks, ino, &l, true, w);
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
	locks_drop_mount(&locks, &mounts[1], -ESTALE, NULL);
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
	CU_ASSERT_EQUAL(take_once(&locks, 1, 1, 0, 0, DDIO_FS_LOCK_WRITE, &a), -EINPROGRESS);
	CU_ASSERT_EQUAL(take_once(&locks, 1, 2, 5, 5, DDIO_FS_LOCK_WRITE, &b), -EINPROGRESS);
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
	locks_drop_mount(&locks, &mounts[0], -ESTALE, NULL);
	locks_drop_mount(&locks, &mounts[1], -ESTALE, NULL);
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
		locks_drop_mount(&locks, &crowd[i], -ESTALE, NULL);
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
		locks_drop_mount(&locks, &crowd[i], -ESTALE, NULL);
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
		locks_drop_mount(&locks, &crowd[i], -ESTALE, NULL);
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
	CU_ASSERT(locks.tried <= WAITS);
	CU_ASSERT_EQUAL(woken, 0);
	looks(&locks, 32, 4 * MANY, DDIO_FS_LOCK_NONE);
	CU_ASSERT_EQUAL(woken, 1);
	for (i = 0; i < CHAIN_MOUNTS; i++)
		locks_drop_mount(&locks, &crowd[i], -ESTALE, NULL);
	CU_ASSERT_EQUAL(locks.files.n + locks.holders.n + locks.shares.n + locks.mounts.n, 0);
	locks_free(&locks);
}

enum { HERD = 8192, HERD_MOUNTS = 16, TRIES = 64 };

/* Many who wait for locks of one file, and who went on, in this order. */
struct herd {
	struct locks locks;
	struct lock_waiter w[HERD];
	uint32_t order[HERD], done, turns;
	char mounts[HERD_MOUNTS];
};

static void herd_done(struct lock_wait *wait, int err)
{
	struct herd *h = wait->arg;
	uint32_t i = (uint32_t)wait->id;

	h->w[i].err = err;
	h->w[i].calls++;
	if (!err)
		h->order[h->done++] = i;
}

static void herd_more(void *arg)
{
	struct herd *h = arg;

	h->turns++;
}

static struct file_lock herd_lock(const struct herd *h, uint32_t i, uint32_t type)
{
	return (struct file_lock){ .mount = &h->mounts[i % HERD_MOUNTS],
				   .owner = 1 + i,
				   .end = UINT64_MAX,
				   .type = type };
}

static int herd_wait(struct herd *h, uint32_t i, const struct file_lock *want)
{
	memset(&h->w[i], 0, sizeof(h->w[i]));
	h->w[i].wait = (struct lock_wait){ .id = i, .done = herd_done, .arg = h };
	return locks_set(&h->locks, 1, want, false, &h->w[i].wait);
}

static struct herd *herd_new(void)
{
	struct herd *h = calloc(1, sizeof(*h));

	locks_init(&h->locks);
	h->locks.more = herd_more;
	h->locks.arg = h;
	h->locks.bounds->at[BOUND_TRIED].limit = TRIES;
	h->locks.bounds->at[BOUND_WAITS].limit = HERD;
	return h;
}

static void herd_free(struct herd *h)
{
	uint32_t i;

	locks_stop(&h->locks, -EIO);
	for (i = 0; i < HERD_MOUNTS; i++)
		locks_drop_mount(&h->locks, &h->mounts[i], -EIO, NULL);
	locks_drop_mount(&h->locks, &mounts[0], -EIO, NULL);
	CU_ASSERT_EQUAL(h->locks.files.n + h->locks.ids.n + h->locks.owners.n, 0);
	locks_free(&h->locks);
	free(h);
}

static int herd_set(struct herd *h, uint64_t start, uint64_t end, uint32_t type)
{
	struct file_lock l = { .mount = &mounts[0], .start = start, .end = end, .type = type };

	return locks_set(&h->locks, 1, &l, false, NULL);
}

/* Of 8,192 who want to write the same, each gives back to the next: one is tried for each. */
static void test_herd(void)
{
	struct herd *h = herd_new();
	struct file_lock l;
	uint32_t i, bad = 0;

	CU_ASSERT_EQUAL(herd_set(h, 0, 99, DDIO_FS_LOCK_WRITE), 0);
	for (i = 0; i < HERD; i++) {
		l = herd_lock(h, i, DDIO_FS_LOCK_WRITE);
		bad += herd_wait(h, i, &l) != -EINPROGRESS;
	}
	CU_ASSERT_EQUAL(h->locks.tried, 0);
	CU_ASSERT_EQUAL(herd_set(h, 0, 99, DDIO_FS_LOCK_NONE), 0);
	for (i = 0; i < HERD; i++) {
		bad += h->done != i + 1 || h->order[i] != i || h->locks.tried != i + 1;
		l = herd_lock(h, i, DDIO_FS_LOCK_NONE);
		bad += locks_set(&h->locks, 1, &l, false, NULL) != 0;
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(h->turns, 0);
	CU_ASSERT_EQUAL(h->locks.files.n, 0);
	herd_free(h);
}

/* What is given back elsewhere in the file has nobody tried. */
static void test_elsewhere(void)
{
	struct herd *h = herd_new();
	struct file_lock l;
	uint32_t i;

	CU_ASSERT_EQUAL(herd_set(h, 0, 0, DDIO_FS_LOCK_WRITE), 0);
	CU_ASSERT_EQUAL(herd_set(h, 50, 50, DDIO_FS_LOCK_WRITE), 0);
	for (i = 0; i < HERD; i++) {
		l = herd_lock(h, i, DDIO_FS_LOCK_READ);
		CU_ASSERT_EQUAL_FATAL(herd_wait(h, i, &l), -EINPROGRESS);
	}
	CU_ASSERT_EQUAL(herd_set(h, 50, 50, DDIO_FS_LOCK_NONE), 0);
	CU_ASSERT_EQUAL(h->locks.tried, 0);
	/* A neighbour that joins the lock is no loss for it. */
	CU_ASSERT_EQUAL(herd_set(h, 1, 1, DDIO_FS_LOCK_WRITE), 0);
	CU_ASSERT_EQUAL(h->locks.tried, 0);
	CU_ASSERT_EQUAL(herd_set(h, 0, 0, DDIO_FS_LOCK_NONE), 0);
	CU_ASSERT_EQUAL(h->locks.tried, TRIES);
	herd_free(h);
}

/*
 * 8,192 writers behind a lock, and another lock that is in the way of all but the last: so many are tried in a turn as may be,
 * in their order; whoever comes meanwhile is not let in before them, nor is the one who gave back.
 */
static void test_turns(void)
{
	struct herd *h = herd_new();
	struct lock_waiter late;
	struct file_lock l;
	uint32_t i, turn;

	CU_ASSERT_EQUAL(herd_set(h, 9, 9, DDIO_FS_LOCK_WRITE), 0);
	CU_ASSERT_EQUAL(herd_set(h, 20, 20, DDIO_FS_LOCK_WRITE), 0);
	for (i = 0; i < HERD; i++) {
		l = herd_lock(h, i, DDIO_FS_LOCK_WRITE);
		l.end = i < HERD - 1 ? 20 : 9;
		CU_ASSERT_EQUAL_FATAL(herd_wait(h, i, &l), -EINPROGRESS);
	}
	CU_ASSERT_EQUAL(herd_set(h, 9, 9, DDIO_FS_LOCK_NONE), 0);
	CU_ASSERT_EQUAL(h->locks.tried, TRIES);
	CU_ASSERT_EQUAL(h->turns, 1);
	CU_ASSERT(locks_line(&h->locks, 1, false) && !locks_line(&h->locks, 1, true));
	/* Others need not wait for that turn in what they give back, or for other files. */
	CU_ASSERT_EQUAL(herd_set(h, 70, 70, DDIO_FS_LOCK_NONE), 0);
	CU_ASSERT_EQUAL(take(&h->locks, 2, 0, 0, 0, DDIO_FS_LOCK_WRITE, NULL), 0);
	CU_ASSERT_EQUAL(h->locks.tried, TRIES);
	l = lock_of(2, 0, 9, DDIO_FS_LOCK_WRITE, false);
	CU_ASSERT_EQUAL(take_by(&h->locks, 1, &l, true, &late), -EINPROGRESS);
	for (turn = 1; h->turns == turn; turn++)
		locks_go_on(&h->locks);
	CU_ASSERT_EQUAL(turn - 1, HERD / TRIES);
	CU_ASSERT_EQUAL(h->locks.tried, HERD + 1);
	CU_ASSERT(h->done == 1 && h->order[0] == HERD - 1);
	CU_ASSERT(late.calls == 1 && late.err == -EAGAIN);
	CU_ASSERT_EQUAL(h->locks.bounds->at[BOUND_TRIED].most, TRIES);
	CU_ASSERT(!locks_line(&h->locks, 1, false));
	/* Then the others, one after the other. */
	l = herd_lock(h, HERD - 1, DDIO_FS_LOCK_NONE);
	CU_ASSERT_EQUAL(locks_set(&h->locks, 1, &l, false, NULL), 0);
	CU_ASSERT_EQUAL(h->done, 1);
	CU_ASSERT_EQUAL(herd_set(h, 20, 20, DDIO_FS_LOCK_NONE), 0);
	CU_ASSERT(h->done == 2 && h->order[1] == 0 && !h->locks.busy);
	herd_free(h);
}

/* Whoever may have a lock while others wait gets it in the end, in whatever order locks come and go. */
static void test_nobody_forgotten(void)
{
	struct herd *h = herd_new();
	struct lock_waiter *waiting[64];
	uint64_t rand = 7;
	uint32_t i, n, k;

	h->locks.bounds->at[BOUND_TRIED].limit = 2;
	for (n = 0; n < ut_rounds(3000); n++) {
		i = (uint32_t)ddio_rand_below(&rand, 64);
		if (h->w[i].wait.arg && !h->w[i].calls) {
			if (!ddio_rand_below(&rand, 4))
				locks_cancel(&h->locks, &h->mounts[i % HERD_MOUNTS], i);
		} else {
			struct file_lock l = herd_lock(h, i, (uint32_t)ddio_rand_below(&rand, 3));

			l.start = ddio_rand_below(&rand, 30);
			l.end = l.start +
				ddio_rand_below(&rand, ddio_rand_below(&rand, 3) ? 4 : 30);
			l.flock = ddio_rand_below(&rand, 8) == 0;
			if (herd_wait(h, i, &l) != -EINPROGRESS)
				h->w[i].calls = 1;
			if (h->done > HERD / 2)
				h->done = 0;
		}
		if (ddio_rand_below(&rand, 3))
			continue;
		while (h->locks.busy)
			locks_go_on(&h->locks);
		for (i = 0, k = 0; i < 64; i++)
			if (h->w[i].wait.arg && !h->w[i].calls)
				waiting[k++] = &h->w[i];
		CU_ASSERT_EQUAL_FATAL(h->locks.nwaits, k);
		while (k--) {
			struct file_lock in_way;

			CU_ASSERT_FATAL(locks_test(&h->locks, 1, &waiting[k]->wait.want, &in_way));
		}
	}
	herd_free(h);
}

static const struct ut_case cases[] = {
	{ "against a model", test_model },
	{ "the lowest", test_lowest },
	{ "waiting", test_wait },
	{ "circles", test_circles },
	{ "after a restart", test_held },
	{ "bounds", test_bounds },
	{ "a long chain", test_chain },
	{ "a crowd", test_crowd },
	{ "many locks", test_many },
	{ "a herd", test_herd },
	{ "elsewhere", test_elsewhere },
	{ "turns", test_turns },
	{ "nobody is forgotten", test_nobody_forgotten },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "locks", cases } };

	return ut_run("fs_lock", suites, 1);
}
