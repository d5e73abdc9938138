// SPDX-License-Identifier: GPL-2.0-only
/* Space that is kept for what was never written, blocks that read as zeros again, holes that are made. */
#include <errno.h>
#include "iop/store/priv.h"
#include "ut_store.h"

#define BS 8192u
#define SIZE (16 * MIB)
#define FULL (SIZE - 4096)

static void expect(const struct object *obj, uint64_t block, bool there, bool written)
{
	uint64_t start, run;
	bool is_written;

	CU_ASSERT_EQUAL(object_lookup(obj, block, &start, &run, &is_written), there);
	CU_ASSERT_EQUAL(is_written, written);
}

static uint64_t place(const struct object *obj, uint64_t block)
{
	uint64_t start, run;
	bool written;

	return object_lookup(obj, block, &start, &run, &written) ? start : 0;
}

static uint64_t extents(struct ut_store *t)
{
	struct ddio_msg_fsck fsck;

	CU_ASSERT_EQUAL(ut_store_check(t->store, false, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 0);
	return fsck.extents;
}

/* Commits, closes and opens the store again. */
static struct object *again(struct ut_store *t, struct object *obj)
{
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
	CU_ASSERT_EQUAL(ut_store_reopen(t), 0);
	obj = ut_object(t, 1, BS, 0, false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(obj);
	return obj;
}

static void test_reserve_lasts(void)
{
	struct object *obj;
	struct ut_store t;
	uint64_t at;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, 0, true);
	CU_ASSERT_EQUAL(object_reserve(obj, 0, 20), 0);
	CU_ASSERT_EQUAL(object_alloc(obj, 20, 20), 0);
	at = place(obj, 7);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(object_blocks(obj), 20);
	CU_ASSERT_EQUAL(place(obj, 7), at);
	expect(obj, 7, true, false);
	expect(obj, 20, false, false);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FULL - 20 * BS);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FULL - 20 * BS);
	object_written(obj, 5, 3);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(extents(&t), 3);
	obj = again(&t, obj);
	expect(obj, 4, true, false);
	expect(obj, 5, true, true);
	expect(obj, 7, true, true);
	expect(obj, 8, true, false);
	CU_ASSERT_EQUAL(place(obj, 7), at);
	object_written(obj, 0, 20);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(extents(&t), 1);
	object_put(obj);
	ut_store_end(&t);
}

/* What has a place already keeps it, whatever it is. */
static void test_reserve_around(void)
{
	struct object *obj;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, 0, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 3, 2), 0);
	CU_ASSERT_EQUAL(object_alloc(obj, 8, 2), 0);
	CU_ASSERT_EQUAL(object_reserve(obj, 0, 9), 0);
	CU_ASSERT_EQUAL(object_reserve(obj, 1, 5), 0);
	object_written(obj, 8, 2);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(object_blocks(obj), 10);
	expect(obj, 2, true, false);
	expect(obj, 3, true, true);
	expect(obj, 4, true, true);
	expect(obj, 5, true, false);
	expect(obj, 8, true, true);
	expect(obj, 9, true, true);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FULL - 10 * BS);
	object_put(obj);
	ut_store_end(&t);
}

static void test_reserve_full(void)
{
	struct object *obj;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, 0, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 10, 2), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_reserve(obj, 0, FULL / BS + 1), -ENOSPC);
	CU_ASSERT_EQUAL(object_blocks(obj), 2);
	CU_ASSERT_FALSE(store_dirty(t.store));
	CU_ASSERT_EQUAL(object_reserve(obj, 0, FULL / BS), 0);
	CU_ASSERT(store_free_bytes(t.store) < BS);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(object_blocks(obj), FULL / BS);
	CU_ASSERT_EQUAL(object_alloc(obj, FULL / BS, 1), -ENOSPC);
	object_put(obj);
	ut_store_end(&t);
}

static void test_unwrite(void)
{
	struct object *obj;
	struct ut_store t;
	uint64_t at;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, 0, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, 10), 0);
	obj = again(&t, obj);
	at = place(obj, 4);
	CU_ASSERT_EQUAL(object_unwrite(obj, 3, 4), 0);
	expect(obj, 2, true, true);
	expect(obj, 3, true, false);
	expect(obj, 7, true, true);
	obj = again(&t, obj);
	expect(obj, 2, true, true);
	expect(obj, 3, true, false);
	expect(obj, 6, true, false);
	expect(obj, 7, true, true);
	CU_ASSERT_EQUAL(place(obj, 4), at);
	CU_ASSERT_EQUAL(extents(&t), 3);
	/* Written, zeroed, written between two commits; and beyond the end. */
	object_written(obj, 4, 1);
	CU_ASSERT_EQUAL(object_unwrite(obj, 0, UINT64_MAX), 0);
	object_written(obj, 0, 10);
	obj = again(&t, obj);
	expect(obj, 4, true, true);
	CU_ASSERT_EQUAL(extents(&t), 1);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FULL - 10 * BS);
	object_put(obj);
	ut_store_end(&t);
}

static void test_punch(void)
{
	struct object *obj;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, 0, true);
	CU_ASSERT_EQUAL(ut_fill(obj, 0, 10), 0);
	CU_ASSERT_EQUAL(object_reserve(obj, 10, 10), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_punch(obj, 30, 5), 0);
	CU_ASSERT_FALSE(store_dirty(t.store));
	CU_ASSERT_EQUAL(object_punch(obj, 8, 4), 0);
	CU_ASSERT_EQUAL(object_blocks(obj), 16);
	CU_ASSERT_EQUAL(object_end(obj), 20);
	expect(obj, 7, true, true);
	expect(obj, 8, false, false);
	expect(obj, 11, false, false);
	expect(obj, 12, true, false);
	/* Not given out before it is recorded as free. */
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FULL - 20 * BS);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FULL - 16 * BS);
	CU_ASSERT_EQUAL(extents(&t), 2);
	CU_ASSERT_EQUAL(object_punch(obj, 2, 1), 0);
	obj = again(&t, obj);
	expect(obj, 1, true, true);
	expect(obj, 2, false, false);
	expect(obj, 3, true, true);
	expect(obj, 12, true, false);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FULL - 15 * BS);
	/* Filled up again where it was. */
	CU_ASSERT_EQUAL(ut_fill(obj, 0, 20), 0);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(extents(&t), 1);
	object_put(obj);
	ut_store_end(&t);
}

/* Blocks that no record knows, and an object that is not recorded at all. */
static void test_punch_unrecorded(void)
{
	struct object *obj;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, 0, true);
	CU_ASSERT_EQUAL(object_alloc(obj, 0, 10), 0);
	CU_ASSERT_EQUAL(object_punch(obj, 2, 5), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(store_free_bytes(t.store), FULL - 5 * BS);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FULL);
	object_written(obj, 0, 10);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FULL - 5 * BS);
	CU_ASSERT_EQUAL(object_remove(obj), 0);
	CU_ASSERT_EQUAL(object_punch(obj, 0, 1), -ENOENT);
	CU_ASSERT_EQUAL(object_unwrite(obj, 0, 1), -ENOENT);
	CU_ASSERT_EQUAL(object_reserve(obj, 0, 1), -ENOENT);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FULL);
	ut_store_end(&t);
}

/* An object that only has space is not kept in memory for it, and not forgotten either. */
static void test_reserved_is_idle(void)
{
	struct object *obj;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, 0, true);
	CU_ASSERT_EQUAL(object_reserve(obj, 0, 10), 0);
	object_put(obj);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(t.store->idle_n, 1);
	obj = ut_object(&t, 1, BS, 0, false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(obj);
	CU_ASSERT_EQUAL(object_alloc(obj, 10, 1), 0);
	object_put(obj);
	CU_ASSERT_EQUAL(t.store->idle_n, 0);
	ut_store_end(&t);
}

/* A repair reads reserved blocks from the records, and keeps those that only memory knows. */
static void test_repair(void)
{
	struct object *obj;
	struct ddio_msg_fsck fsck;
	struct ut_store t;
	MDB_txn *txn;

	ut_store_begin(&t, SIZE);
	obj = ut_object(&t, 1, BS, 0, true);
	CU_ASSERT_EQUAL(object_reserve(obj, 0, 10), 0);
	CU_ASSERT_EQUAL(ut_store_commit(&t), 0);
	CU_ASSERT_EQUAL(object_alloc(obj, 10, 5), 0);
	CU_ASSERT_EQUAL_FATAL(mdb_txn_begin(t.store->db.env, NULL, 0, &txn), 0);
	CU_ASSERT_EQUAL(mdb_drop(txn, t.store->db.dbi[STORE_FREE], 0), 0);
	CU_ASSERT_EQUAL(mdb_txn_commit(txn), 0);
	CU_ASSERT_EQUAL(ut_store_check(t.store, true, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.repaired, 1);
	CU_ASSERT_EQUAL(object_blocks(obj), 15);
	expect(obj, 3, true, false);
	expect(obj, 12, true, false);
	object_written(obj, 8, 4);
	obj = again(&t, obj);
	CU_ASSERT_EQUAL(object_blocks(obj), 12);
	expect(obj, 7, true, false);
	expect(obj, 8, true, true);
	expect(obj, 11, true, true);
	CU_ASSERT_EQUAL(ut_store_clean(&t), FULL - 12 * BS);
	object_put(obj);
	ut_store_end(&t);
}

static const struct ut_case cases[] = {
	{ "reserved space lasts", test_reserve_lasts },
	{ "reserving around what is there", test_reserve_around },
	{ "reserving more than there is", test_reserve_full },
	{ "zeros again", test_unwrite },
	{ "a hole is made", test_punch },
	{ "a hole in what no record knows", test_punch_unrecorded },
	{ "reserved objects are idle", test_reserved_is_idle },
	{ "a repair keeps what is reserved", test_repair },
	{ .name = NULL },
};

int main(void)
{
	const struct ut_suite suites[] = { { "ranges", cases } };

	return ut_run("store_ranges", suites, 1);
}
