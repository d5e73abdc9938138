// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks that several objects have: a write goes to another place, no space is freed as long as another has it,
 * and the counts are right after any loss of power.  The random part compares with a plain model, as test_store_crash does.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include "base/rand.h"
#include "iop/store/epoch.h"
#include "iop/store/priv.h"
#include "ut_store.h"

#define FILES 5
#define BLOCKS 40
#define BS 4096u
#define SIZE (4096 + 300 * BS)
#define FREE(n) (SIZE - 4096 - (uint64_t)(n)*BS)

/* By file and block: the stamp of its bytes, 0 for a hole. */
struct share_model {
	uint64_t stamp[FILES][BLOCKS];
};

struct share_life {
	struct ut_store t;
	struct share_model now, pending, done;
	struct ut_commit commit;
	bool busy;
	uint64_t rand, stamp;
	unsigned int crashes, shared, copied;
};

static struct object *file_get(struct ut_store *t, uint64_t i, bool create)
{
	return ut_object(t, i + 1, BS, (uint32_t)(i % DDIO_LAYOUT_MAX_W), create);
}

/* Writes a block that does not change in place: it has no place, or others have it, too. */
static void write_block(struct ut_store *t, struct object *obj, uint64_t block, uint64_t stamp)
{
	uint64_t start, run;
	uint8_t data[BS];
	bool written;

	CU_ASSERT_EQUAL_FATAL(object_alloc(obj, block, 1), 0);
	CU_ASSERT_TRUE_FATAL(object_target(obj, block, &start, &run, &written));
	CU_ASSERT_FALSE(written);
	CU_ASSERT(!fresh_has(obj, block) || !object_write_soon(obj, block));
	if (object_write_begin(obj, block)) {
		/* Records had a sum of what was there before. */
		CU_ASSERT_FALSE(fresh_has(obj, block));
		CU_ASSERT_EQUAL(ut_store_commit(t), 0);
		CU_ASSERT_EQUAL_FATAL(object_write_begin(obj, block), 0);
	}
	ut_stamp(data, BS, stamp);
	ut_store_raw(t, start, data, BS, true);
	object_write_end(obj, block, true, data);
}

static bool is_shared(const struct object *obj, uint64_t block)
{
	uint64_t start, run;
	bool written;

	return object_lookup(obj, block, &start, &run, &written) &&
	       !object_target(obj, block, &start, &run, &written);
}

static void share(struct object *to, uint64_t first, struct object *from, uint64_t at,
		  uint64_t count)
{
	uint64_t n, turns = 0;

	for (; count; first += n, at += n, count -= n) {
		n = count;
		CU_ASSERT_EQUAL_FATAL(object_share(to, first, from, at, &n), 0);
		CU_ASSERT_FATAL(turns++ < 10000);
	}
}

/* File 0: blocks 0 to 9 with stamps from 100 on; file 1 has the same ones. */
static void begin(struct ut_store *t, struct object **a, struct object **b)
{
	uint64_t i;

	ut_store_begin(t, SIZE);
	*a = file_get(t, 0, true);
	*b = file_get(t, 1, true);
	for (i = 0; i < 10; i++)
		write_block(t, *a, i, 100 + i);
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
	share(*b, 0, *a, 0, 10);
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
}

static void reopen(struct ut_store *t, struct object **a, struct object **b)
{
	object_put(*a);
	object_put(*b);
	CU_ASSERT_EQUAL_FATAL(ut_store_reopen(t), 0);
	*a = file_get(t, 0, false);
	*b = file_get(t, 1, false);
}

static void end(struct ut_store *t, struct object *a, struct object *b)
{
	object_put(a);
	object_put(b);
	ut_store_end(t);
}

/* Blocks 3 and 4 of the second file are written anew. */
static void test_written(void)
{
	struct object *a, *b;
	struct ut_store t;
	uint64_t i;

	begin(&t, &a, &b);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FREE(10));
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FREE(10));
	CU_ASSERT_EQUAL(store_shared_bytes(t.store), 10 * BS);
	CU_ASSERT_EQUAL(object_shared(a), 10);
	write_block(&t, b, 3, 203);
	write_block(&t, b, 4, 204);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FREE(12));
	/* Not before that is recorded is the first file alone. */
	CU_ASSERT_TRUE(is_shared(a, 3));
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_FALSE(is_shared(a, 3) || is_shared(b, 3) || is_shared(a, 4));
	CU_ASSERT_TRUE(is_shared(a, 2) && is_shared(b, 5));
	CU_ASSERT_EQUAL(ut_store_clean(&t), FREE(12));
	CU_ASSERT_EQUAL(store_shared_bytes(t.store), 8 * BS);
	for (i = 0; i < 2; i++) {
		CU_ASSERT_TRUE(ut_block_has(&t, a, 3, 103) && ut_block_has(&t, a, 4, 104) &&
			       ut_block_has(&t, a, 9, 109));
		CU_ASSERT_TRUE(ut_block_has(&t, b, 3, 203) && ut_block_has(&t, b, 4, 204) &&
			       ut_block_has(&t, b, 9, 109));
		CU_ASSERT_TRUE(is_shared(a, 2) && is_shared(b, 5) && !is_shared(b, 4));
		reopen(&t, &a, &b);
	}
	end(&t, a, b);
}

/* A place that was given out and not written to is free again when nobody has the object. */
static void test_not_written(void)
{
	struct object *a, *b;
	struct ut_store t;
	uint64_t start, old, run;
	bool written;

	begin(&t, &a, &b);
	CU_ASSERT_EQUAL(object_alloc(b, 2, 5), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FREE(15));
	CU_ASSERT_TRUE(object_target(b, 2, &start, &run, &written));
	CU_ASSERT_TRUE(object_lookup(b, 2, &old, &run, &written) && written);
	CU_ASSERT_NOT_EQUAL(start, old);
	CU_ASSERT_EQUAL(object_alloc(b, 2, 5), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FREE(15));
	object_put(b);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FREE(10));
	b = file_get(&t, 1, false);
	CU_ASSERT_TRUE(ut_block_has(&t, b, 2, 102));
	CU_ASSERT_EQUAL(object_alloc(b, 2, 5), 0);
	CU_ASSERT_EQUAL(object_punch(b, 4, 2), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FREE(13));
	CU_ASSERT_TRUE(ut_block_has(&t, b, 4, 0) && ut_block_has(&t, a, 4, 104));
	end(&t, a, b);
}

/* Whoever goes first takes nothing along, also if its last user goes later. */
static void removed(bool first, bool held)
{
	struct object *a, *b, *gone, *left;
	struct ut_store t;
	uint64_t i;

	begin(&t, &a, &b);
	gone = first ? a : b;
	left = first ? b : a;
	CU_ASSERT_EQUAL(object_remove(gone), 0);
	if (!held)
		object_put(gone);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FREE(10));
	CU_ASSERT_EQUAL(is_shared(left, 0), held);
	CU_ASSERT_EQUAL(ut_store_check(t.store, STORE_REPAIR, &(struct ddio_msg_fsck){ 0 }), 0);
	CU_ASSERT_EQUAL(is_shared(left, 0), held);
	if (held)
		object_put(gone);
	CU_ASSERT_FALSE(is_shared(left, 0));
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FREE(10));
	for (i = 0; i < 10; i++)
		CU_ASSERT_TRUE(ut_block_has(&t, left, i, 100 + i));
	CU_ASSERT_EQUAL(object_remove(left), 0);
	object_put(left);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FREE(0));
	CU_ASSERT_EQUAL(ut_store_clean(&t), FREE(0));
	CU_ASSERT_EQUAL(store_shared_bytes(t.store), 0);
	ut_store_end(&t);
}

static void test_removed(void)
{
	removed(true, false);
	removed(false, false);
	removed(true, true);
	removed(false, true);
}

/* Ranges that were shared read as zeros, and blocks keep a place if they are to, without the other's changing. */
static void test_zeroed(void)
{
	struct object *a, *b;
	uint64_t start, run;
	struct ut_store t;
	bool written;

	begin(&t, &a, &b);
	CU_ASSERT_EQUAL(object_unwrite(b, 2, 3), 0);
	CU_ASSERT_EQUAL(object_reserve(b, 0, 2), 0);
	CU_ASSERT_TRUE(object_lookup(b, 3, &start, &run, &written) && !written);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FREE(13));
	CU_ASSERT_TRUE(ut_block_has(&t, a, 3, 103) && ut_block_has(&t, b, 5, 105) &&
		       ut_block_has(&t, b, 1, 101));
	write_block(&t, b, 3, 203);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FREE(13));
	CU_ASSERT_TRUE(ut_block_has(&t, a, 3, 103) && ut_block_has(&t, b, 3, 203));
	end(&t, a, b);
}

/* Into itself, over what is there, holes, the same again, many owners of parts. */
static void test_ranges(void)
{
	struct object *a, *b;
	struct ut_store t;
	uint64_t i, n;

	begin(&t, &a, &b);
	share(a, 20, a, 5, 10);
	share(b, 0, a, 0, 10);
	share(b, 3, a, 7, 2);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FREE(10));
	CU_ASSERT_TRUE(ut_block_has(&t, a, 20, 105) && ut_block_has(&t, a, 24, 109) &&
		       ut_block_has(&t, a, 25, 0));
	CU_ASSERT_TRUE(ut_block_has(&t, b, 2, 102) && ut_block_has(&t, b, 3, 107) &&
		       ut_block_has(&t, b, 4, 108));
	/* 107 and 108 have four owners, 103 and 104 one. */
	CU_ASSERT_FALSE(is_shared(a, 3));
	for (i = 2; i < FILES; i++) {
		struct object *c = file_get(&t, i, true);

		share(c, i, a, 0, 30);
		object_put(c);
	}
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FREE(10));
	/* Nobody has 109 but the others. */
	share(a, 8, a, 30, 2);
	CU_ASSERT_EQUAL(object_punch(a, 24, 1), 0);
	CU_ASSERT_EQUAL(object_punch(b, 9, 1), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FREE(10));
	reopen(&t, &a, &b);
	for (i = FILES - 1; i >= 2; i--) {
		struct object *c = file_get(&t, i, false);

		CU_ASSERT_TRUE(ut_block_has(&t, c, i + 9, 109) && ut_block_has(&t, c, i + 24, 109));
		CU_ASSERT_EQUAL(object_remove(c), 0);
		object_put(c);
	}
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FREE(9));
	n = 1;
	CU_ASSERT_EQUAL(object_remove(b), 0);
	CU_ASSERT_EQUAL(object_share(b, 0, a, 0, &n), -ENOENT);
	CU_ASSERT_EQUAL(object_share(a, 0, b, 0, &n), -ENOENT);
	end(&t, a, b);
}

/* On a full disk there is no place to write a block that others have. */
static void test_full(void)
{
	struct object *a, *b, *c;
	struct ut_store t;
	uint64_t start, run;
	bool written;

	begin(&t, &a, &b);
	c = file_get(&t, 2, true);
	CU_ASSERT_EQUAL(ut_fill(c, 0, 287), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_alloc(b, 0, 4), -ENOSPC);
	CU_ASSERT_EQUAL(object_alloc(b, 9, 4), -ENOSPC);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FREE(297));
	CU_ASSERT_FALSE(object_target(b, 0, &start, &run, &written));
	CU_ASSERT_EQUAL(object_reserve(b, 0, 10), 0);
	CU_ASSERT_EQUAL(object_alloc(b, 0, 3), 0);
	write_block(&t, b, 1, 201);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_TRUE(ut_block_has(&t, a, 1, 101) && ut_block_has(&t, b, 1, 201) &&
		       ut_block_has(&t, b, 2, 102));
	object_put(c);
	end(&t, a, b);
}

/* What is written again under an epoch takes the place of what was shared. */
static void test_epoch(void)
{
	struct object *a, *b;
	struct store_epoch *e;
	struct ut_store t;

	begin(&t, &a, &b);
	CU_ASSERT_EQUAL_FATAL(store_epoch_begin(t.store, 7, object_file(b), &e), 0);
	write_block(&t, store_epoch_shadow(e), 4, 204);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	store_epoch_end(e, true, NULL);
	ddio_sim_run_for(t.world, 1000000);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FREE(11));
	CU_ASSERT_TRUE(ut_block_has(&t, a, 4, 104) && ut_block_has(&t, b, 4, 204) &&
		       ut_block_has(&t, b, 5, 105));
	CU_ASSERT_FALSE(is_shared(a, 4));
	end(&t, a, b);
}

/* A file of many blocks is shared in turns; one that is written again as a whole lies in one piece. */
static void test_long(void)
{
	struct object *a, *b;
	struct ut_store t;
	uint64_t n = 20000, at, start, run;
	bool written;

	ut_store_begin(&t, 4096 + 50000 * (uint64_t)BS);
	a = file_get(&t, 0, true);
	b = file_get(&t, 3, true);
	CU_ASSERT_EQUAL(ut_fill(a, 0, n), 0);
	CU_ASSERT_EQUAL(object_share(b, 0, a, 0, &n), 0);
	CU_ASSERT(n > 1000 && n < 20000);
	share(b, n, a, n, 20000 - n);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(t.store->shares.n, 1);
	for (at = 0; at < 20000; at += 1000)
		CU_ASSERT_EQUAL(ut_fill(b, at, 1000), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_TRUE(object_lookup(b, 0, &start, &run, &written));
	CU_ASSERT_EQUAL(run, 20000);
	CU_ASSERT_EQUAL(t.store->shares.n, 0);
	ut_store_clean(&t);
	end(&t, a, b);
}

/*
 * Damage
 */
struct share_hit {
	struct store *store;
	struct rec_shared rec;
	bool flip, gone;
};

static int strike(MDB_txn *txn, void *arg)
{
	struct share_hit *hit = arg;
	uint8_t key[REC_KEY_LEN], value[REC_SHARED_LEN];
	MDB_val k = lmdb_val(key, sizeof(key)), v = lmdb_val(value, sizeof(value));

	rec_key(key, hit->rec.start);
	rec_shared_put(value, &hit->rec);
	if (hit->flip)
		value[9] ^= 0x18;
	return hit->gone ? mdb_del(txn, hit->store->db.dbi[STORE_SHARED], &k, NULL)
			 : mdb_put(txn, hit->store->db.dbi[STORE_SHARED], &k, &v, 0);
}

/* @more: what the record says instead of 1; it is found, and right again after a repair. */
static void damaged(uint64_t more, bool flip, bool gone)
{
	struct share_hit hit = { .flip = flip, .gone = gone };
	struct object *a, *b;
	struct ut_store t;
	struct ddio_msg_fsck fsck;
	uint64_t start, run;
	bool written;

	begin(&t, &a, &b);
	object_lookup(a, 0, &start, &run, &written);
	hit.store = t.store;
	hit.rec = (struct rec_shared){ .start = start, .len = 10 * BS, .more = more };
	CU_ASSERT_EQUAL(lmdb_write(&t.store->db, strike, &hit), 0);
	reopen(&t, &a, &b);
	CU_ASSERT_EQUAL(ut_store_check(t.store, STORE_CHECK, &fsck), 0);
	CU_ASSERT(fsck.problems > 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(fsck.text, flip ? "how many objects have a place is damaged"
						      : "owners, but"));
	if (flip)
		CU_ASSERT_TRUE(is_shared(a, 0));
	CU_ASSERT_EQUAL(ut_store_check(t.store, STORE_REPAIR, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.repaired, fsck.problems);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FREE(10));
	CU_ASSERT_TRUE(is_shared(a, 0) && is_shared(b, 9));
	CU_ASSERT_EQUAL(store_shared_bytes(t.store), 10 * BS);
	write_block(&t, b, 1, 201);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_TRUE(ut_block_has(&t, a, 1, 101) && ut_block_has(&t, b, 1, 201));
	end(&t, a, b);
}

static void test_damaged(void)
{
	damaged(2, false, false);
	damaged(1, true, false);
	damaged(1, false, true);
}

/* A daemon that does not know of shared places must not open them. */
static void test_label(void)
{
	struct object *a, *b;
	struct ut_store t;
	MDB_val k = lmdb_val(STORE_LABEL_KEY, strlen(STORE_LABEL_KEY)), v;
	struct label label = { .flags = 0 };
	int i;

	begin(&t, &a, &b);
	for (i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL_FATAL(lmdb_read_begin(&t.store->db), 0);
		CU_ASSERT_EQUAL(mdb_get(t.store->db.read, t.store->db.dbi[STORE_META], &k, &v), 0);
		CU_ASSERT_EQUAL(rec_label_get(v.mv_data, v.mv_size, &label), 0);
		lmdb_read_end(&t.store->db);
		CU_ASSERT_EQUAL(label.flags & LABEL_SHARED, i ? 0 : LABEL_SHARED);
		CU_ASSERT_EQUAL(object_punch(b, 0, 10), 0);
		CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	}
	end(&t, a, b);
}

/*
 * At random
 */
static void op_write(struct share_life *life, uint64_t i)
{
	struct object *obj = file_get(&life->t, i, true);
	uint64_t first = ddio_rand_below(&life->rand, BLOCKS), b;

	for (b = first; b < BLOCKS && b < first + 6; b++) {
		/* What would change in place is not written: that is test_store_crash's. */
		if (life->now.stamp[i][b] && !is_shared(obj, b))
			continue;
		if (store_free_bytes(life->t.store) < 8 * BS)
			break;
		life->copied += life->now.stamp[i][b] != 0;
		write_block(&life->t, obj, b, ++life->stamp);
		life->now.stamp[i][b] = life->stamp;
	}
	object_put(obj);
}

static void op_share(struct share_life *life, uint64_t to, uint64_t from)
{
	struct object *a = file_get(&life->t, from, true), *b = file_get(&life->t, to, true);
	uint64_t at = ddio_rand_below(&life->rand, BLOCKS), n, i;
	uint64_t first = ddio_rand_below(&life->rand, BLOCKS);

	n = 1 + ddio_rand_below(&life->rand, BLOCKS - (at > first ? at : first));
	if (to != from || at + n <= first || first + n <= at) {
		share(b, first, a, at, n);
		life->shared++;
		for (i = 0; i < n; i++)
			life->now.stamp[to][first + i] = life->now.stamp[from][at + i];
	}
	object_put(a);
	object_put(b);
}

static void op_cut(struct share_life *life, uint64_t i)
{
	struct object *obj = file_get(&life->t, i, true);
	uint64_t first = ddio_rand_below(&life->rand, BLOCKS), b;
	bool all = !ddio_rand_below(&life->rand, 4);

	CU_ASSERT_EQUAL(all ? object_remove(obj) : object_punch(obj, first, 5), 0);
	for (b = all ? 0 : first; b < BLOCKS && (all || b < first + 5); b++)
		life->now.stamp[i][b] = 0;
	object_put(obj);
}

static void commit_end(struct share_life *life)
{
	if (!life->busy)
		return;
	CU_ASSERT_EQUAL(ut_commit_wait(&life->commit), 0);
	life->busy = false;
	life->done = life->pending;
}

static void commit_begin(struct share_life *life)
{
	commit_end(life);
	life->pending = life->now;
	life->busy = true;
	ut_commit_init(&life->commit, life->t.env);
	store_commit(life->t.store, &life->commit.commit);
}

static bool holds(struct ut_store *t, const struct share_model *model)
{
	struct object *obj;
	bool same = true;
	uint64_t i, b;

	for (i = 0; i < FILES; i++) {
		obj = file_get(t, i, false);
		for (b = 0; b < BLOCKS; b++)
			same = ut_block_has(t, obj, b, model->stamp[i][b]) && same;
		object_put(obj);
	}
	return same;
}

/* Returns how many blocks there are: each stamp is that of one. */
static uint64_t distinct(const struct share_model *model)
{
	const uint64_t *v = &model->stamp[0][0];
	uint64_t n = 0, i, j;

	for (i = 0; i < FILES * BLOCKS; i++) {
		for (j = 0; j < i && v[j] != v[i]; j++)
			;
		n += v[i] && j == i;
	}
	return n;
}

static void crash(struct share_life *life)
{
	struct ut_store copy;
	const struct share_model *is = NULL;

	ut_store_copy(&copy, &life->t, SIZE);
	CU_ASSERT_EQUAL_FATAL(ut_store_open(&copy), 0);
	ut_store_clean(&copy);
	if (holds(&copy, &life->done))
		is = &life->done;
	else if (life->busy && holds(&copy, &life->pending))
		is = &life->pending;
	CU_ASSERT_PTR_NOT_NULL_FATAL(is);
	CU_ASSERT_EQUAL(ut_store_clean(&copy), FREE(distinct(is)));
	CU_ASSERT_EQUAL(store_free_bytes(copy.store), FREE(distinct(is)));
	ut_store_end(&copy);
	life->crashes++;
}

static void step(struct share_life *life)
{
	uint64_t i = ddio_rand_below(&life->rand, FILES);

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
		op_cut(life, i);
		break;
	case 5:
	case 6:
	case 7:
		op_share(life, i, ddio_rand_below(&life->rand, FILES));
		break;
	default:
		op_write(life, i);
	}
	if (!ddio_rand_below(&life->rand, 20))
		crash(life);
}

static void test_random(void)
{
	static struct share_life life;
	unsigned int shared = 0, copied = 0;
	uint64_t seed, i;

	for (seed = 1; seed <= 12; seed++) {
		memset(&life, 0, sizeof(life));
		life.rand = seed;
		ut_store_begin(&life.t, SIZE);
		for (i = 0; i < 400; i++)
			step(&life);
		CU_ASSERT_TRUE(holds(&life.t, &life.now));
		commit_begin(&life);
		commit_end(&life);
		CU_ASSERT_TRUE(holds(&life.t, &life.now));
		CU_ASSERT_EQUAL(ut_store_clean(&life.t), FREE(distinct(&life.now)));
		CU_ASSERT_EQUAL(store_free_bytes(life.t.store), FREE(distinct(&life.now)));
		CU_ASSERT(life.crashes > 5);
		shared += life.shared;
		copied += life.copied;
		ut_store_end(&life.t);
	}
	CU_ASSERT(shared > 500);
	CU_ASSERT(copied > 500);
}

/* Counts against an array of one cell a byte. */
static void test_counts(void)
{
	enum { N = 200 };
	uint64_t rand = 3, start, len, i, j, run;
	unsigned int more[N] = { 0 };
	struct shares set;

	shares_init(&set);
	for (i = 0; i < 4000; i++) {
		uint64_t total = 0, saved = 0, n = 0;
		bool drop = ddio_rand_below(&rand, 2);

		start = ddio_rand_below(&rand, N);
		len = 1 + ddio_rand_below(&rand, N - start);
		for (j = start; drop && j < start + len; j++)
			len = more[j] ? len : j - start;
		CU_ASSERT_EQUAL(drop ? shares_drop(&set, start, len)
				     : shares_add(&set, start, len, 1 + i % 2),
				0);
		for (j = start; j < start + len; j++)
			more[j] += drop ? UINT_MAX : 1 + i % 2;
		for (j = 0; j < N; j++) {
			run = UINT64_MAX;
			CU_ASSERT_EQUAL(shares_at(&set, j, &run), more[j]);
			CU_ASSERT(j + 1 == N || run == 1 || more[j] == more[j + 1]);
			total += more[j] != 0;
			saved += more[j];
			n += more[j] && (!j || more[j - 1] != more[j]);
		}
		CU_ASSERT_EQUAL(set.total, total);
		CU_ASSERT_EQUAL(set.saved, saved);
		CU_ASSERT_EQUAL(set.n, n);
	}
	shares_fini(&set);
}

static const struct ut_case cases[] = {
	{ "counts of owners", test_counts },
	{ "written again", test_written },
	{ "not written after all", test_not_written },
	{ "one of two is removed", test_removed },
	{ "made to read as zeros", test_zeroed },
	{ "ranges of many", test_ranges },
	{ "a full disk", test_full },
	{ "under an epoch", test_epoch },
	{ "a long file", test_long },
	{ "wrong counts", test_damaged },
	{ "the label says so", test_label },
	{ "copies at random moments", test_random },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "shared blocks", cases } };

	return ut_run("store_share", suites, 1);
}
