// SPDX-License-Identifier: GPL-2.0-only
/* The record of the daemon's orderly ends: what it keeps, over restarts, copies and damage. */
#include <errno.h>
#include "iop/store/priv.h"
#include "tests/unit/iop/store/ut_store.h"

enum { SIZE = 4 << 20 };

/* @boot ends in order, and the store is opened again. */
static void ends(struct ut_store *t, uint64_t boot)
{
	CU_ASSERT_EQUAL(store_end_note(t->store, boot), 0);
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
	CU_ASSERT_EQUAL(ut_store_reopen(t), 0);
}

static void begin(struct ut_store *t, bool sync)
{
	ut_store_begin(t, SIZE);
	t->opts.sync = sync;
	CU_ASSERT_EQUAL(ut_store_reopen(t), 0);
}

static void test_last_ones(void)
{
	const struct ddio_ends *kept;
	struct ut_store t;
	uint64_t i;

	begin(&t, true);
	kept = store_ends(t.store);
	CU_ASSERT(kept->known && !kept->n);
	for (i = 1; i <= DDIO_ENDS; i++)
		ends(&t, i);
	kept = store_ends(t.store);
	CU_ASSERT(ddio_ends_has(kept, 1) && ddio_ends_has(kept, DDIO_ENDS));
	ends(&t, i);
	kept = store_ends(t.store);
	CU_ASSERT_EQUAL(kept->n, DDIO_ENDS);
	CU_ASSERT(!ddio_ends_has(kept, 1) && ddio_ends_has(kept, 2) && ddio_ends_has(kept, i));
	ut_store_clean(&t);
	ut_store_end(&t);
}

/* It is only recorded with the commit. */
static void test_cut_off(void)
{
	struct ut_store t;

	begin(&t, true);
	CU_ASSERT_EQUAL(store_end_note(t.store, 5), 0);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(store_ends(t.store)->n, 0);
	ut_store_end(&t);
}

static void test_without_flushes(void)
{
	struct ut_store t;

	begin(&t, false);
	ends(&t, 5);
	CU_ASSERT(!store_ends(t.store)->known && !store_ends(t.store)->n);
	/* What was recorded before does not count now, either. */
	t.opts.sync = true;
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT(store_ends(t.store)->known && !store_ends(t.store)->n);
	ends(&t, 6);
	CU_ASSERT_EQUAL(store_ends(t.store)->n, 1);
	t.opts.sync = false;
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT(!store_ends(t.store)->known && !store_ends(t.store)->n);
	ut_store_end(&t);
}

static uint8_t harm;

static int damage(MDB_txn *txn, void *arg)
{
	struct store *store = arg;
	MDB_val k = lmdb_val(STORE_ENDS_KEY, strlen(STORE_ENDS_KEY)), v;
	uint8_t buf[REC_ENDS_LEN];

	rec_ends_put(buf, &store->ends);
	buf[20] ^= harm;
	v = lmdb_val(buf, sizeof(buf));
	return mdb_put(txn, store->db.dbi[STORE_META], &k, &v, 0);
}

static void damaged(struct ut_store *t, uint8_t bits)
{
	harm = bits;
	CU_ASSERT_EQUAL(lmdb_write_once(&t->store->db, damage, t->store), 0);
	CU_ASSERT_EQUAL(ut_store_reopen(t), 0);
	CU_ASSERT(store_ends(t->store)->known);
}

/* One wrong bit costs nothing, more an error that need not be; at the next end it is written anew. */
static void test_damaged(void)
{
	struct ut_store t;

	begin(&t, true);
	ends(&t, 5);
	damaged(&t, 1);
	CU_ASSERT(ddio_ends_has(store_ends(t.store), 5));
	ends(&t, 6);
	CU_ASSERT(ddio_ends_has(store_ends(t.store), 5) && ddio_ends_has(store_ends(t.store), 6));
	damaged(&t, 5);
	CU_ASSERT_EQUAL(store_ends(t.store)->n, 0);
	ends(&t, 7);
	CU_ASSERT_EQUAL(store_ends(t.store)->n, 1);
	CU_ASSERT(ddio_ends_has(store_ends(t.store), 7));
	ut_store_end(&t);
}

/* What the check says of it, and what a repair makes of it. */
static void test_checked(void)
{
	struct ddio_msg_fsck fsck;
	struct ut_store t;

	begin(&t, true);
	ends(&t, 5);
	damaged(&t, 1);
	CU_ASSERT_EQUAL(ut_store_check(t.store, STORE_CHECK, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.problems, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(fsck.text, "the record of its orderly ends is damaged"));
	CU_ASSERT_EQUAL(ut_store_check(t.store, STORE_REPAIR, &fsck), 0);
	CU_ASSERT_EQUAL(fsck.repaired, 1);
	ut_store_clean(&t);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT(ddio_ends_has(store_ends(t.store), 5));
	/* Damaged while the store is open: the daemon knows what it was. */
	harm = 5;
	CU_ASSERT_EQUAL(lmdb_write_once(&t.store->db, damage, t.store), 0);
	CU_ASSERT_EQUAL(ut_store_check(t.store, STORE_REPAIR, &fsck), 0);
	CU_ASSERT(fsck.problems == 1 && fsck.repaired == 1);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT(ddio_ends_has(store_ends(t.store), 5));
	ut_store_clean(&t);
	ut_store_end(&t);
}

/* A copy from before an end does not know of it. */
static void test_old_copy(void)
{
	struct ut_store t, copy;

	begin(&t, true);
	ends(&t, 5);
	ut_store_copy(&copy, &t, SIZE);
	ends(&t, 6);
	copy.opts.sync = true;
	CU_ASSERT_EQUAL(ut_store_open(&copy), 0);
	CU_ASSERT(ddio_ends_has(store_ends(copy.store), 5));
	CU_ASSERT(!ddio_ends_has(store_ends(copy.store), 6));
	ut_store_end(&copy);
	ut_store_end(&t);
}

static const struct ut_case cases[] = {
	{ "the last ones", test_last_ones },
	{ "cut off", test_cut_off },
	{ "without flushes", test_without_flushes },
	{ "damaged", test_damaged },
	{ "checked", test_checked },
	{ "an old copy", test_old_copy },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "ends", cases } };

	return ut_run("test_store_ends", suites, 1);
}
