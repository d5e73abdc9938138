// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks lie side by side: where those go that are written again as a whole, what is worth moving, and moves, of which the power
 * may fail after any step.
 */
#include <errno.h>
#include "base/rand.h"
#include "iop/store/mend/mend.h"
#include "iop/store/priv.h"
#include "ut_store.h"

#define BS 4096u
#define SIZE (4096 + 4000 * (uint64_t)BS)

static struct object *contiguous(struct ut_store *t, uint64_t id)
{
	return ut_object(t, id, BS, DDIO_LAYOUT_CONTIGUOUS_W, true);
}

/* Returns in how many pieces the object lies. */
static uint64_t extents_of(const struct object *obj)
{
	uint64_t n = 0, end = 0;
	size_t i;

	for (i = 0; i < obj->map.n; i++) {
		n += obj->map.v[i].start != end;
		end = obj->map.v[i].start + obj->map.v[i].count * obj->ref.block;
	}
	return n;
}

/* Writes blocks of an object, each with its stamp, where they are to be written. */
static void write_blocks(struct ut_store *t, struct object *obj, uint64_t first, uint64_t count,
			 uint64_t stamp)
{
	uint64_t i, start, run;
	uint8_t data[BS];
	bool written;

	CU_ASSERT_EQUAL_FATAL(object_alloc(obj, first, count), 0);
	for (i = first; i < first + count; i++) {
		CU_ASSERT_TRUE_FATAL(object_target(obj, i, &start, &run, &written));
		if (object_write_begin(obj, i)) {
			CU_ASSERT_EQUAL(ut_store_commit(t), 0);
			CU_ASSERT_EQUAL_FATAL(object_write_begin(obj, i), 0);
		}
		ut_stamp(data, BS, stamp + i);
		ut_store_raw(t, start, data, BS, true);
		object_write_end(obj, i, true, data);
	}
}

static bool has_blocks(struct ut_store *t, struct object *obj, uint64_t count, uint64_t stamp)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		if (!ut_block_has(t, obj, i, stamp + i))
			return false;
	return true;
}

/* A copy that shares all blocks, for as long as it takes to write some of the object to other places. */
static struct object *clone_of(struct ut_store *t, struct object *obj, uint64_t id)
{
	struct object *copy = contiguous(t, id);
	uint64_t at, n;

	for (at = 0; at < object_end(obj); at += n) {
		n = object_end(obj) - at;
		CU_ASSERT_EQUAL_FATAL(object_share(copy, at, obj, at, &n), 0);
	}
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
	return copy;
}

static void drop(struct ut_store *t, struct object *obj)
{
	CU_ASSERT_EQUAL(object_remove(obj), 0);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
}

/* Writes @n random blocks of the object, of @blocks, to other places, each alone: they have the stamps that they had. */
static void scatter(struct ut_store *t, struct object *obj, uint64_t blocks, uint64_t n,
		    uint64_t stamp, uint64_t *rand)
{
	struct object *copy = clone_of(t, obj, 1000);

	while (n--)
		write_blocks(t, obj, ddio_rand_below(rand, blocks), 1, stamp);
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
	drop(t, copy);
}

/* Moves all that is worth it, up to @most blocks at a time, and says how often. */
static uint64_t mend(struct ut_store *t, struct object *obj, struct store_mend *m)
{
	uint8_t *data = malloc(m->most * BS);
	enum store_mend_next next;
	uint64_t moves = 0, turns = 0, start, run, i;
	struct store_move move;
	bool written;

	while ((next = store_mend_next(obj, m)) != MEND_OVER) {
		CU_ASSERT_FATAL(turns++ < 100000);
		if (next == MEND_MORE)
			continue;
		CU_ASSERT_FATAL(m->count > 0 && m->count <= m->most);
		CU_ASSERT_EQUAL_FATAL(store_move_begin(&move, obj, m->first, m->count, m->start),
				      0);
		for (i = 0; i < m->count; i++) {
			object_lookup(obj, m->first + i, &start, &run, &written);
			ut_store_raw(t, start, data + i * BS, BS, false);
		}
		ut_store_raw(t, m->start, data, m->count * BS, true);
		CU_ASSERT_EQUAL(store_move_end(&move, m->count, data), 0);
		m->at = m->first + m->count;
		moves += m->count;
	}
	free(data);
	return moves;
}

/*
 * What is written again as a whole
 */
static void rewritten(uint64_t blocks, uint64_t at_once)
{
	struct object *obj, *other, *copy;
	uint64_t rand = 3, at, round;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	obj = contiguous(&t, 1);
	write_blocks(&t, obj, 0, blocks, 100);
	other = contiguous(&t, 2);
	write_blocks(&t, other, 0, 50, 5000);
	CU_ASSERT_EQUAL(extents_of(obj), 1);
	for (round = 0; round < 10; round++)
		scatter(&t, obj, blocks, blocks / 10, 100, &rand);
	CU_ASSERT(extents_of(obj) > blocks / 3);
	/* Somebody keeps the state of now, so that none is written in place. */
	copy = clone_of(&t, obj, 3);
	for (at = 0; at < blocks; at += at_once)
		write_blocks(&t, obj, at, at_once < blocks - at ? at_once : blocks - at, 9000);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(extents_of(obj), 1);
	CU_ASSERT_TRUE(has_blocks(&t, obj, blocks, 9000) && has_blocks(&t, copy, blocks, 100));
	ut_store_clean(&t);
	object_put(obj);
	object_put(other);
	object_put(copy);
	ut_store_end(&t);
}

/* One that nobody shares is written again to another place if the disk has room for it twice, and lies in many pieces. */
static void test_renewed(void)
{
	uint64_t rand = 7, blocks = 1000, free_bytes;
	struct object *obj;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	obj = contiguous(&t, 1);
	write_blocks(&t, obj, 0, blocks, 100);
	CU_ASSERT_FALSE(object_renew(obj, 0, blocks));
	scatter(&t, obj, blocks, 300, 100, &rand);
	free_bytes = store_free_bytes(t.store);
	CU_ASSERT_FALSE(object_renew(obj, 0, blocks + 1));
	CU_ASSERT_FALSE(object_renew(obj, 1, blocks));
	CU_ASSERT_TRUE(object_renew(obj, 0, blocks));
	/* They have them already. */
	CU_ASSERT_FALSE(object_renew(obj, 0, blocks));
	CU_ASSERT_EQUAL(store_free_bytes(t.store), free_bytes - blocks * BS);
	CU_ASSERT_TRUE(has_blocks(&t, obj, blocks, 100));
	/* Whoever was to write them has not. */
	object_put(obj);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), free_bytes);
	obj = contiguous(&t, 1);
	CU_ASSERT_TRUE(object_renew(obj, 0, blocks));
	write_blocks(&t, obj, 0, blocks, 9000);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(extents_of(obj), 1);
	CU_ASSERT_TRUE(has_blocks(&t, obj, blocks, 9000));
	CU_ASSERT_EQUAL(ut_store_clean(&t), free_bytes);
	object_put(obj);
	ut_store_end(&t);
}

static void test_rewritten(void)
{
	rewritten(1000, 1000); /* as a collective does */
	rewritten(1000, 16);   /* as one does who writes from front to back */
	rewritten(1000, 1);
}

/*
 * Mending
 */
static void mended(uint64_t most, uint64_t longest)
{
	struct store_mend m = { .most = most, .longest = longest };
	uint64_t rand = 4, blocks = 600, before, moved, free_bytes;
	struct object *obj;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	obj = contiguous(&t, 1);
	write_blocks(&t, obj, 0, blocks, 100);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(mend(&t, obj, &m), 0);
	scatter(&t, obj, blocks, 200, 100, &rand);
	free_bytes = store_free_bytes(t.store);
	before = extents_of(obj);
	CU_ASSERT(before > 100);
	m.at = 0;
	moved = mend(&t, obj, &m);
	CU_ASSERT(moved && moved <= blocks);
	CU_ASSERT_EQUAL(extents_of(obj), 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), free_bytes);
	CU_ASSERT_EQUAL(ut_store_clean(&t), free_bytes);
	CU_ASSERT_TRUE(has_blocks(&t, obj, blocks, 100));
	CU_ASSERT_EQUAL(m.shared + m.reserved + m.space, 0);
	/* Once more there is nothing to do. */
	m.at = 0;
	CU_ASSERT_EQUAL(mend(&t, obj, &m), 0);
	object_put(obj);
	CU_ASSERT_EQUAL_FATAL(ut_store_reopen(&t), 0);
	obj = contiguous(&t, 1);
	CU_ASSERT_EQUAL(extents_of(obj), 1);
	CU_ASSERT_TRUE(has_blocks(&t, obj, blocks, 100));
	object_put(obj);
	ut_store_end(&t);
}

static void test_mended(void)
{
	mended(64, 0);
	mended(7, 0);
	mended(1, 1000 * BS);
}

/* Those that others have, too, that were never written, and long ones stay; the file does not take more space. */
static void test_stays(void)
{
	struct store_mend m = { .most = 64 };
	struct object *obj, *copy;
	uint64_t rand = 5, free_bytes, before;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	obj = contiguous(&t, 1);
	write_blocks(&t, obj, 0, 300, 100);
	scatter(&t, obj, 300, 100, 100, &rand);
	copy = clone_of(&t, obj, 2);
	before = extents_of(obj);
	free_bytes = store_free_bytes(t.store);
	CU_ASSERT_EQUAL(mend(&t, obj, &m), 0);
	CU_ASSERT_EQUAL(m.shared, before);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), free_bytes);
	write_blocks(&t, obj, 10, 20, 100);
	CU_ASSERT_EQUAL(object_reserve(obj, 400, 10), 0);
	CU_ASSERT_EQUAL(object_reserve(copy, 400, 10), 0);
	CU_ASSERT_EQUAL(object_reserve(obj, 410, 10), 0);
	m = (struct store_mend){ .most = 64 };
	mend(&t, obj, &m);
	CU_ASSERT(m.reserved > 0 && m.shared > 0);
	CU_ASSERT_TRUE(has_blocks(&t, obj, 300, 100) && has_blocks(&t, copy, 300, 100));
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	ut_store_clean(&t);
	drop(&t, copy);
	m = (struct store_mend){ .most = 64, .longest = BS };
	CU_ASSERT_EQUAL(mend(&t, obj, &m), 0);
	object_put(obj);
	obj = ut_object(&t, 3, BS, DDIO_LAYOUT_RANDOM_BLOCKS_W, true);
	write_blocks(&t, obj, 0, 100, 100);
	m = (struct store_mend){ .most = 64 };
	CU_ASSERT_EQUAL(mend(&t, obj, &m), 0);
	object_put(obj);
	ut_store_end(&t);
}

/* On a disk with nothing but single free blocks nothing can be moved, and with room for two pieces these are joined. */
static void test_crowded(void)
{
	struct store_mend m = { .most = 64 };
	struct object *obj, *other;
	struct ut_store t;
	uint64_t i;

	ut_store_begin(&t, 4096 + 400 * (uint64_t)BS);
	obj = contiguous(&t, 1);
	other = contiguous(&t, 2);
	for (i = 0; i < 100; i++) {
		write_blocks(&t, obj, i, 1, 100);
		write_blocks(&t, other, 3 * i, 3, 5000);
	}
	CU_ASSERT_EQUAL(extents_of(obj), 100);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), 0);
	CU_ASSERT_EQUAL(mend(&t, obj, &m), 0);
	CU_ASSERT_EQUAL(m.space, 100);
	/* One block behind every tenth: two of the object are side by side then. */
	for (i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(object_punch(other, 30 * i, 1), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	m = (struct store_mend){ .most = 64 };
	CU_ASSERT_EQUAL(mend(&t, obj, &m), 10);
	CU_ASSERT_EQUAL(extents_of(obj), 90);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_TRUE(has_blocks(&t, obj, 100, 100));
	ut_store_clean(&t);
	object_put(obj);
	object_put(other);
	ut_store_end(&t);
}

/* A small piece goes in front of one that stays, and a file with holes is put together without them. */
static void test_beside(void)
{
	struct store_mend m = { .most = 64, .longest = 200 * BS };
	struct object *obj, *other;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	obj = contiguous(&t, 1);
	other = contiguous(&t, 2);
	write_blocks(&t, obj, 0, 5, 100);
	write_blocks(&t, other, 0, 100, 5000);
	write_blocks(&t, obj, 5, 300, 100);
	CU_ASSERT_EQUAL(object_punch(other, 90, 10), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(mend(&t, obj, &m), 5);
	CU_ASSERT_EQUAL(extents_of(obj), 1);
	write_blocks(&t, other, 1000, 1, 5000);
	write_blocks(&t, obj, 2000, 1, 100);
	write_blocks(&t, obj, 3000, 2, 100);
	m.at = 0;
	CU_ASSERT_EQUAL(mend(&t, obj, &m), 3);
	CU_ASSERT_EQUAL(extents_of(obj), 1);
	object_put(obj);
	object_put(other);
	ut_store_end(&t);
}

/* A great many extents are gone through in turns. */
static void test_many(void)
{
	struct store_mend m = { .most = 64 };
	struct object *obj, *other;
	uint64_t i, n = 20000, turns = 0;
	struct ut_store t;

	ut_store_begin(&t, 4096 + 3 * n * BS);
	obj = contiguous(&t, 1);
	other = contiguous(&t, 2);
	for (i = 0; i < n; i++) {
		CU_ASSERT_EQUAL_FATAL(ut_fill(obj, i, 1), 0);
		CU_ASSERT_EQUAL_FATAL(ut_fill(other, i, 1), 0);
	}
	CU_ASSERT_EQUAL(extents_of(obj), n);
	CU_ASSERT_EQUAL(ut_fill(other, n, n), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	/* The disk is full: nothing can be moved. */
	while (store_mend_next(obj, &m) == MEND_MORE)
		turns++;
	CU_ASSERT(turns > n / 600);
	CU_ASSERT_EQUAL(m.space, n);
	CU_ASSERT_EQUAL(object_punch(other, n, n), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	while (store_give(t.store, 1000))
		;
	m = (struct store_mend){ .most = 64 };
	CU_ASSERT_EQUAL(mend(&t, obj, &m), n);
	CU_ASSERT_EQUAL(extents_of(obj), 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	ut_store_clean(&t);
	object_put(obj);
	object_put(other);
	ut_store_end(&t);
}

/*
 * Moves
 */

/* What is not written to its new place leaves everything as it was; a place that is not free is refused. */
static void test_not_moved(void)
{
	struct store_move move, second;
	struct object *obj, *copy;
	uint64_t free_bytes, start, run;
	uint8_t data[4 * BS];
	struct ut_store t;
	bool written;

	ut_store_begin(&t, SIZE);
	obj = contiguous(&t, 1);
	write_blocks(&t, obj, 0, 4, 100);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	free_bytes = store_free_bytes(t.store);
	CU_ASSERT_EQUAL(store_move_begin(&move, obj, 0, 4, 4096 + 100 * BS), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), free_bytes - 4 * BS);
	CU_ASSERT_EQUAL(store_move_begin(&second, obj, 0, 4, 4096 + 98 * BS), -EAGAIN);
	/* A check meanwhile does not give it away. */
	CU_ASSERT_EQUAL(ut_store_check(t.store, STORE_REPAIR, &(struct ddio_msg_fsck){ 0 }), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), free_bytes - 4 * BS);
	CU_ASSERT_EQUAL(store_move_end(&move, 0, NULL), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), free_bytes);
	CU_ASSERT_FALSE(store_dirty(t.store));
	/* The first half. */
	CU_ASSERT_EQUAL(store_move_begin(&move, obj, 0, 4, 4096 + 100 * BS), 0);
	ut_store_raw(&t, 4096, data, 4 * BS, false);
	ut_store_raw(&t, 4096 + 100 * BS, data, 2 * BS, true);
	CU_ASSERT_EQUAL(store_move_end(&move, 2, data), 0);
	CU_ASSERT_TRUE(object_lookup(obj, 1, &start, &run, &written) && written);
	CU_ASSERT_EQUAL(start, 4096 + 101 * BS);
	CU_ASSERT_EQUAL(run, 1);
	CU_ASSERT_TRUE(has_blocks(&t, obj, 4, 100));
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), free_bytes);
	/* Somebody shares it meanwhile, or it is removed. */
	CU_ASSERT_EQUAL(store_move_begin(&move, obj, 0, 2, 4096 + 200 * BS), 0);
	copy = clone_of(&t, obj, 2);
	CU_ASSERT_EQUAL(store_move_end(&move, 2, data), -ESTALE);
	CU_ASSERT_EQUAL(store_move_begin(&move, obj, 0, 2, 4096 + 200 * BS), -ESTALE);
	drop(&t, copy);
	CU_ASSERT_EQUAL(store_move_begin(&move, obj, 0, 2, 4096 + 200 * BS), 0);
	CU_ASSERT_EQUAL(object_remove(obj), 0);
	CU_ASSERT_EQUAL(store_move_end(&move, 2, data), -ESTALE);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), SIZE - 4096);
	ut_store_end(&t);
}

/* Records and disk as they are: everything is there. */
static void crash(const struct ut_store *t, uint64_t blocks)
{
	struct object *obj;
	struct ut_store copy;

	ut_store_copy(&copy, t, SIZE);
	CU_ASSERT_EQUAL_FATAL(ut_store_open(&copy), 0);
	ut_store_clean(&copy);
	obj = contiguous(&copy, 1);
	CU_ASSERT_TRUE(has_blocks(&copy, obj, blocks, 100));
	object_put(obj);
	ut_store_end(&copy);
}

/* The power fails after each step of each move: before, between and after the writes and the commits. */
static void test_power(void)
{
	struct store_mend m = { .most = 4 };
	uint64_t rand = 6, blocks = 40, start, run, i;
	struct ut_commit commit;
	struct store_move move;
	struct object *obj;
	uint8_t data[4 * BS], junk[4 * BS];
	struct ut_store t;
	bool written;

	memset(junk, 0x55, sizeof(junk));
	ut_store_begin(&t, SIZE);
	obj = contiguous(&t, 1);
	write_blocks(&t, obj, 0, blocks, 100);
	scatter(&t, obj, blocks, 15, 100, &rand);
	while (store_mend_next(obj, &m) == MEND_MOVE) {
		CU_ASSERT_EQUAL_FATAL(store_move_begin(&move, obj, m.first, m.count, m.start), 0);
		for (i = 0; i < m.count; i++) {
			object_lookup(obj, m.first + i, &start, &run, &written);
			ut_store_raw(&t, start, data + i * BS, BS, false);
		}
		ut_store_raw(&t, m.start, junk, m.count * BS, true);
		crash(&t, blocks);
		ut_store_raw(&t, m.start, data, m.count * BS, true);
		CU_ASSERT_EQUAL(store_move_end(&move, m.count, data), 0);
		crash(&t, blocks);
		m.at = m.first + m.count;
		if (m.at % 3)
			continue;
		ut_commit_init(&commit, t.env);
		store_commit(t.store, &commit.commit);
		crash(&t, blocks);
		CU_ASSERT_EQUAL(ut_commit_wait(&commit), 0);
		crash(&t, blocks);
	}
	CU_ASSERT_EQUAL(extents_of(obj), 1);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	crash(&t, blocks);
	object_put(obj);
	ut_store_end(&t);
}

static const struct ut_case cases[] = {
	{ "written again as a whole", test_rewritten },
	{ "renewed", test_renewed },
	{ "mended", test_mended },
	{ "what stays", test_stays },
	{ "crowded", test_crowded },
	{ "beside what stays", test_beside },
	{ "many", test_many },
	{ "not moved", test_not_moved },
	{ "power", test_power },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "mend", cases } };

	return ut_run("test_store_mend", suites, 1);
}
