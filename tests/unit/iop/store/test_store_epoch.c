// SPDX-License-Identifier: GPL-2.0-only
/*
 * Epochs of a store: what is written under one becomes the file's as a whole, or not at all, whenever the power goes, and
 * nobody has the file meanwhile.  The random part compares with a plain model, as test_store_crash does.
 */
#include <errno.h>
#include <fcntl.h>
#include "base/rand.h"
#include "iop/store/epoch.h"
#include "iop/store/priv.h"
#include "ut_store.h"

#define FILES 4
#define BLOCKS 40
#define BS 4096u
#define SIZE (4096 + 300 * BS)

/* By file and block: the stamp of its bytes, 0 for a hole. */
struct epoch_model {
	uint64_t stamp[FILES][BLOCKS];
};

/**
 * struct under - a file's part of an epoch in the test
 * @prepared: the commit that covers it has ended; @verdict: 1 committed, -1 aborted, 0 not decided
 * @covered: number of the commit that covers it, or, of the last one of the file that was settled, that
 */
struct under {
	struct store_epoch *e;
	uint64_t number, covered;
	bool prepared;
	int verdict;
	uint64_t stamp[BLOCKS];
};

struct epoch_life {
	struct ut_store t;
	struct epoch_model now, pending, done;
	struct under under[FILES];
	struct store_wait wait[FILES];
	struct ut_commit commit;
	bool busy;
	uint64_t rand, stamp, epochs, commits, ended;
	bool committed[1000]; /* by number of the epoch */
	unsigned int crashes, settled, dropped, undecided;
};

static struct ddio_file_ref ref_of(uint64_t i)
{
	return ut_ref(i + 1, BS, (uint32_t)(i % DDIO_LAYOUT_MAX_W));
}

/* Writes a block that is new where it lies. */
static void write_block(struct ut_store *t, struct object *obj, uint64_t block, uint64_t stamp)
{
	uint64_t start, run;
	uint8_t data[BS];
	bool written;

	CU_ASSERT_EQUAL_FATAL(object_alloc(obj, block, 1), 0);
	CU_ASSERT_TRUE_FATAL(object_lookup(obj, block, &start, &run, &written));
	CU_ASSERT_FALSE(written);
	CU_ASSERT_EQUAL_FATAL(object_write_begin(obj, block), 0);
	ut_stamp(data, BS, stamp);
	ut_store_raw(t, start, data, BS, true);
	object_write_end(obj, block, true, data);
}

static void settled(struct store_wait *wait)
{
	*(bool *)wait->arg = true;
}

/* Ends an epoch, and waits for that. */
static void end(struct ut_store *t, struct store_epoch *e, bool commit)
{
	bool over = false;
	struct store_wait wait = { .done = settled, .arg = &over };
	int turns = 0;

	store_epoch_end(e, commit, &wait);
	while (!over && turns++ < 1000)
		ddio_sim_run_for(t->world, 1000);
	CU_ASSERT_TRUE_FATAL(over);
}

static struct object *file_get(struct ut_store *t, uint64_t i, bool create)
{
	const struct ddio_file_ref ref = ref_of(i);
	struct object *obj = NULL;

	return store_get(t->store, &ref, create, &obj) ? NULL : obj;
}

static bool held(struct ut_store *t, uint64_t i)
{
	const struct ddio_file_ref ref = ref_of(i);

	return !store_fetch(t->store, &ref, NULL);
}

/* Begins an epoch of a file, and writes blocks [first, first + n) under it, with stamps from @stamp on. */
static struct store_epoch *begin(struct ut_store *t, uint64_t i, uint64_t number, uint64_t first,
				 uint64_t n, uint64_t stamp)
{
	const struct ddio_file_ref ref = ref_of(i);
	struct store_epoch *e;
	uint64_t b;

	CU_ASSERT_EQUAL_FATAL(store_epoch_begin(t->store, number, &ref, &e), 0);
	for (b = first; b < first + n; b++)
		write_block(t, store_epoch_shadow(e), b, stamp + b);
	return e;
}

/*
 * What an epoch does, step by step
 */
static void old_file(struct ut_store *t, uint64_t i)
{
	struct object *obj = file_get(t, i, true);
	uint64_t b;

	for (b = 0; b < 10; b++)
		write_block(t, obj, b, 100 + b);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
}

static void is_file(struct ut_store *t, uint64_t i, bool new)
{
	struct object *obj = file_get(t, i, false);
	uint64_t b;

	for (b = 0; b < 14; b++)
		CU_ASSERT_TRUE(ut_block_has(t, obj, b,
					    b >= 6 && b < 12 && new ? 200 + b
					    : b < 10		    ? 100 + b
								    : 0));
	object_put(obj);
}

static void decide(bool commit, bool restart, bool again)
{
	struct store_epoch *e;
	struct ut_store t;
	uint64_t i, used;

	ut_store_begin(&t, SIZE);
	for (i = 0; i < DDIO_LAYOUT_MAX_W; i++) {
		old_file(&t, i);
		e = begin(&t, i, 77 + i, 6, 6, 200);
		CU_ASSERT_TRUE(held(&t, i));
		CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
		store_epoch_prepared(e);
		CU_ASSERT_EQUAL(ut_store_clean(&t), SIZE - 4096 - 16 * BS);
		if (restart)
			CU_ASSERT_EQUAL_FATAL(ut_store_reopen(&t), 0);
		e = store_epoch_find(t.store, 77 + i, i + 1);
		CU_ASSERT_PTR_NOT_NULL_FATAL(e);
		CU_ASSERT_TRUE(held(&t, i));
		CU_ASSERT_EQUAL(store_epoch_look(e).file, i + 1);
		end(&t, e, commit);
		CU_ASSERT_FALSE(held(&t, i));
		CU_ASSERT_PTR_NULL(store_epoch_next(t.store, NULL));
		is_file(&t, i, commit);
		CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
		used = commit ? 12 : 10;
		CU_ASSERT_EQUAL(ut_store_clean(&t), SIZE - 4096 - used * BS);
		CU_ASSERT_EQUAL(store_free_bytes(t.store), SIZE - 4096 - used * BS);
		if (again)
			CU_ASSERT_EQUAL_FATAL(ut_store_reopen(&t), 0);
		is_file(&t, i, commit);
		file_get(&t, i, false);
		CU_ASSERT_EQUAL(object_remove(file_get(&t, i, false)), 0);
		CU_ASSERT_EQUAL_FATAL(ut_store_commit(&t), 0);
		CU_ASSERT_EQUAL_FATAL(ut_store_reopen(&t), 0);
	}
	ut_store_end(&t);
}

static void test_decided(void)
{
	int i;

	for (i = 0; i < 8; i++)
		decide(i & 1, i & 2, i & 4);
}

/* A crash before what is pending is recorded as decided leaves it undecided. */
static void test_undecided(void)
{
	struct store_epoch *e;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	old_file(&t, 0);
	e = begin(&t, 0, 5, 6, 6, 200);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	/* It is settled in memory, and nothing of that is recorded. */
	end(&t, e, true);
	is_file(&t, 0, true);
	CU_ASSERT_EQUAL_FATAL(ut_store_reopen(&t), 0);
	e = store_epoch_find(t.store, 5, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(e);
	CU_ASSERT_TRUE(held(&t, 0));
	end(&t, e, true);
	is_file(&t, 0, true);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL_FATAL(ut_store_reopen(&t), 0);
	is_file(&t, 0, true);
	ut_store_end(&t);
}

/* A block that has moved may not change in place before that is recorded: its record says that it is as it was prepared. */
static void test_rewritten(void)
{
	struct store_epoch *e;
	struct object *obj;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	old_file(&t, 0);
	/* Even if the records said of the blocks before that they may change. */
	obj = file_get(&t, 0, false);
	CU_ASSERT_EQUAL(object_write_begin(obj, 8), 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_write_begin(obj, 8), 0);
	object_write_end(obj, 8, false, NULL);
	object_put(obj);
	e = begin(&t, 0, 5, 6, 6, 200);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	end(&t, e, true);
	obj = file_get(&t, 0, false);
	CU_ASSERT_EQUAL(object_write_begin(obj, 7), 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_write_begin(obj, 7), 0);
	object_write_end(obj, 7, false, NULL);
	object_put(obj);
	ut_store_end(&t);
}

static void test_refused(void)
{
	const struct ddio_file_ref ref = ref_of(0);
	struct store_epoch *e, *other;
	struct object *obj;
	struct ut_store t;
	uint64_t ids[4];

	ut_store_begin(&t, SIZE);
	old_file(&t, 0);
	e = begin(&t, 0, 5, 0, 290 - 16, 200);
	CU_ASSERT_EQUAL(store_epoch_begin(t.store, 6, &ref, &other), -EBUSY);
	CU_ASSERT_PTR_NULL(store_epoch_find(t.store, 6, 1));
	CU_ASSERT_TRUE(store_epoch_alone(e));
	obj = store_epoch_file(e);
	object_ref(obj);
	CU_ASSERT_FALSE(store_epoch_alone(e));
	object_put(obj);
	/* The disk has no room for more, and what is pending is in no list of files. */
	CU_ASSERT_EQUAL(object_room(store_epoch_shadow(e), 0, 300), -ENOSPC);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(store_list(t.store, 0, ids, 4), 1);
	CU_ASSERT_EQUAL(store_list(t.store, 1, ids, 4), 0);
	end(&t, e, false);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), SIZE - 4096 - 10 * BS);
	ut_store_end(&t);
}

/*
 * At random
 */
static void op_write(struct epoch_life *life, uint64_t i)
{
	struct object *obj = file_get(&life->t, i, true);
	uint64_t first = ddio_rand_below(&life->rand, BLOCKS), b;

	for (b = first; b < BLOCKS && b < first + 6; b++) {
		if (life->now.stamp[i][b] || object_room(obj, b, 1))
			continue;
		write_block(&life->t, obj, b, ++life->stamp);
		life->now.stamp[i][b] = life->stamp;
	}
	object_put(obj);
}

static void op_punch(struct epoch_life *life, uint64_t i)
{
	struct object *obj = file_get(&life->t, i, true);
	uint64_t first = ddio_rand_below(&life->rand, BLOCKS), b;

	CU_ASSERT_EQUAL(object_punch(obj, first, 5), 0);
	for (b = first; b < BLOCKS && b < first + 5; b++)
		life->now.stamp[i][b] = 0;
	object_put(obj);
}

static void op_begin(struct epoch_life *life, uint64_t i)
{
	struct under *u = &life->under[i];
	const struct ddio_file_ref ref = ref_of(i);
	uint64_t b, n = 1 + ddio_rand_below(&life->rand, 12);

	memset(u, 0, sizeof(*u));
	u->number = ++life->epochs;
	CU_ASSERT_FATAL(u->number < 1000);
	CU_ASSERT_EQUAL_FATAL(store_epoch_begin(life->t.store, u->number, &ref, &u->e), 0);
	for (; n; n--) {
		b = ddio_rand_below(&life->rand, BLOCKS);
		if (u->stamp[b] || object_room(store_epoch_shadow(u->e), b, 1))
			continue;
		write_block(&life->t, store_epoch_shadow(u->e), b, ++life->stamp);
		u->stamp[b] = life->stamp;
	}
	u->covered = life->commits + 1;
}

/* From here on, all of it is the file's, whatever happens. */
static void take(struct epoch_life *life, uint64_t i)
{
	uint64_t b;

	for (b = 0; b < BLOCKS; b++)
		if (life->under[i].stamp[b])
			life->now.stamp[i][b] = life->done.stamp[i][b] = life->pending.stamp[i][b] =
				life->under[i].stamp[b];
}

static void op_decide(struct epoch_life *life, uint64_t i)
{
	struct under *u = &life->under[i];

	if (!u->verdict && !u->prepared) {
		/* Not even prepared: it can only be given up. */
		u->verdict = -1;
	} else if (!u->verdict) {
		u->verdict = ddio_rand_below(&life->rand, 4) ? 1 : -1;
		if (u->verdict > 0) {
			take(life, i);
			life->committed[u->number] = true;
		}
		/* The store hears of it later. */
		return;
	}
	end(&life->t, u->e, u->verdict > 0);
	life->settled += u->verdict > 0;
	life->dropped += u->verdict < 0;
	u->e = NULL;
	u->covered = life->commits + 1;
}

static void commit_end(struct epoch_life *life)
{
	uint64_t i;

	if (!life->busy)
		return;
	CU_ASSERT_EQUAL(ut_commit_wait(&life->commit), 0);
	life->busy = false;
	life->done = life->pending;
	life->ended = life->commits;
	for (i = 0; i < FILES; i++)
		if (life->under[i].e && life->under[i].covered <= life->commits)
			life->under[i].prepared = true;
}

static void commit_begin(struct epoch_life *life)
{
	commit_end(life);
	life->pending = life->now;
	life->busy = true;
	life->commits++;
	ut_commit_init(&life->commit, life->t.env);
	store_commit(life->t.store, &life->commit.commit);
}

static bool holds(struct ut_store *t, const struct epoch_model *model, uint64_t *blocks)
{
	struct object *obj;
	bool same = true;
	uint64_t i, b;

	*blocks = 0;
	for (i = 0; i < FILES; i++) {
		obj = file_get(t, i, false);
		for (b = 0; b < BLOCKS; b++)
			same = ut_block_has(t, obj, b, model->stamp[i][b]) && same;
		*blocks += obj ? object_blocks(obj) : 0;
		object_put(obj);
	}
	return same;
}

/* Settles what a start has found, as it was decided. */
static void resolve(struct epoch_life *life, struct ut_store *t)
{
	struct store_epoch *e;
	const struct under *u;
	uint64_t file;

	for (e = store_epoch_next(t->store, NULL); e; e = store_epoch_next(t->store, NULL)) {
		file = store_epoch_look(e).file;
		u = &life->under[file - 1];
		CU_ASSERT_TRUE(held(t, file - 1));
		life->undecided += u->e && !u->verdict;
		end(t, e, life->committed[store_epoch_look(e).epoch]);
	}
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
}

static void crash(struct epoch_life *life)
{
	struct ut_store copy;
	uint64_t blocks = 0;
	bool same;

	ut_store_copy(&copy, &life->t, SIZE);
	CU_ASSERT_EQUAL_FATAL(ut_store_open(&copy), 0);
	ut_store_clean(&copy);
	resolve(life, &copy);
	same = holds(&copy, &life->done, &blocks) ||
	       (life->busy && holds(&copy, &life->pending, &blocks));
	CU_ASSERT_TRUE(same);
	CU_ASSERT_EQUAL(ut_store_clean(&copy), SIZE - 4096 - blocks * BS);
	CU_ASSERT_EQUAL(store_free_bytes(copy.store), SIZE - 4096 - blocks * BS);
	ut_store_end(&copy);
	life->crashes++;
}

static void step(struct epoch_life *life)
{
	uint64_t i = ddio_rand_below(&life->rand, FILES);
	bool under = life->under[i].e;

	switch (ddio_rand_below(&life->rand, 12)) {
	case 0:
	case 1:
		commit_begin(life);
		break;
	case 2:
		commit_end(life);
		break;
	case 3:
		ddio_sim_run_for(life->t.world, 1 + ddio_rand_below(&life->rand, 1000));
		break;
	case 4:
	case 5:
		if (!under)
			op_punch(life, i);
		break;
	case 6:
	case 7:
	case 8:
		/* The names let nobody begin before the one before is recorded as settled. */
		if (under)
			op_decide(life, i);
		else if (life->under[i].covered <= life->ended)
			op_begin(life, i);
		break;
	default:
		if (!under)
			op_write(life, i);
	}
	if (!ddio_rand_below(&life->rand, 20))
		crash(life);
}

static void test_random(void)
{
	static struct epoch_life life;
	unsigned int settled = 0, dropped = 0, undecided = 0;
	uint64_t seed, i, blocks;

	for (seed = 1; seed <= 12; seed++) {
		memset(&life, 0, sizeof(life));
		life.rand = seed;
		ut_store_begin(&life.t, SIZE);
		for (i = 0; i < 400; i++)
			step(&life);
		commit_begin(&life);
		commit_end(&life);
		for (i = 0; i < FILES; i++)
			while (life.under[i].e)
				op_decide(&life, i);
		CU_ASSERT_TRUE(holds(&life.t, &life.now, &blocks));
		CU_ASSERT(life.crashes > 5);
		settled += life.settled;
		dropped += life.dropped;
		undecided += life.undecided;
		ut_store_end(&life.t);
	}
	CU_ASSERT(settled > 50);
	CU_ASSERT(dropped > 20);
	CU_ASSERT(undecided > 10);
}

static const struct ut_case cases[] = {
	{ "decided either way, now or after a start", test_decided },
	{ "settled, but not recorded", test_undecided },
	{ "written again after that", test_rewritten },
	{ "held, refused, full", test_refused },
	{ "copies at random moments", test_random },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "epochs", cases } };

	return ut_run("store_epoch", suites, 1);
}
