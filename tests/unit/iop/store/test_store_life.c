// SPDX-License-Identifier: GPL-2.0-only
/* The lives of a disk: when one begins, and that neither disk nor records come back from the past unnoticed. */
#include <errno.h>
#include "iop/store/priv.h"
#include "ut_store.h"

#define SIZE (4 * MIB)

enum { NAMES = 77, CHANGE = 8 };

static uint64_t life(const struct ut_store *t)
{
	struct ddio_disk_id id;

	store_identity(t->store, &id);
	return id.life;
}

/* The name space knows the disk. */
static void known(struct ut_store *t, uint64_t lost)
{
	CU_ASSERT_EQUAL(store_known(t->store, NAMES, CHANGE, lost), 0);
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
}

static void test_begins(void)
{
	struct ddio_disk_id id;
	struct ut_store t;
	uint64_t first, second, third;

	ut_store_begin(&t, SIZE);
	first = life(&t);
	CU_ASSERT_NOT_EQUAL(first, 0);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	second = life(&t);
	CU_ASSERT(second > first);
	known(&t, 5);
	CU_ASSERT_EQUAL(life(&t), second);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	third = life(&t);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	store_identity(t.store, &id);
	CU_ASSERT(id.life > third);
	/* The last one that the name space is known to have met, and that which it may have met since. */
	CU_ASSERT_EQUAL_FATAL(id.n, 2);
	CU_ASSERT_EQUAL(id.before[0], second);
	CU_ASSERT_EQUAL(id.before[1], third);
	CU_ASSERT_EQUAL(id.names, NAMES);
	CU_ASSERT_EQUAL(id.change, CHANGE);
	CU_ASSERT_EQUAL(id.lost, 5);
	CU_ASSERT_EQUAL(id.flags, 0);
	ut_store_end(&t);
}

/* However many starts nobody comes to, the last life that was known is remembered, and the one before this one. */
static void test_many_starts(void)
{
	struct ddio_disk_id id;
	struct ut_store t;
	uint64_t first, last = 0;
	int i;

	ut_store_begin(&t, SIZE);
	first = life(&t);
	known(&t, 0);
	for (i = 0; i < 2 * DDIO_LIVES; i++) {
		last = life(&t);
		CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	}
	store_identity(t.store, &id);
	CU_ASSERT_EQUAL_FATAL(id.n, DDIO_LIVES);
	CU_ASSERT_EQUAL(id.before[0], first);
	CU_ASSERT_EQUAL(id.before[DDIO_LIVES - 1], last);
	ut_store_end(&t);
}

/* An orderly end: no copy of one of the two that was taken before it fits the other. */
static void end_in_order(struct ut_store *t)
{
	CU_ASSERT_EQUAL(store_end_note(t->store, 9), 0);
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
	ut_store_close(t);
}

/* Takes a copy of records or disk, or puts it back. */
static void copy(const struct ut_store *t, bool records, bool back)
{
	char of[300], at[300];

	snprintf(of, sizeof(of), "%s%s", records ? t->recs : t->file, records ? "/data.mdb" : "");
	snprintf(at, sizeof(at), "%s/backup-%s", t->top, records ? "records" : "disk");
	ut_copy_file(back ? at : of, back ? of : at);
}

static void put_back(bool records)
{
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	known(&t, 0);
	ut_store_close(&t);
	copy(&t, records, false);
	CU_ASSERT_EQUAL(ut_store_open(&t), 0);
	known(&t, 0);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	ut_store_close(&t);
	copy(&t, records, true);
	CU_ASSERT_EQUAL(ut_store_open(&t), -EMEDIUMTYPE);
	CU_ASSERT_PTR_NOT_NULL(strstr(t.err, records ? "the records were put back from a backup"
						     : "the disk was put back from a backup"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.err, "ddio-replace"));
	ut_store_end(&t);
}

static void test_records_put_back(void)
{
	put_back(true);
}

static void test_disk_put_back(void)
{
	put_back(false);
}

/* Copies that were taken while the daemon was running. */
static void put_back_running(bool records)
{
	struct ddio_disk_id id;
	struct ut_store t;
	uint64_t first;

	ut_store_begin(&t, SIZE);
	known(&t, 0);
	first = life(&t);
	copy(&t, records, false);
	end_in_order(&t);
	copy(&t, records, true);
	CU_ASSERT_EQUAL(ut_store_open(&t), -EMEDIUMTYPE);
	ut_store_end(&t);
	/* The name space was told of no end. */
	ut_store_begin(&t, SIZE);
	known(&t, 0);
	first = life(&t);
	end_in_order(&t);
	CU_ASSERT_EQUAL(ut_store_open(&t), 0);
	store_identity(t.store, &id);
	CU_ASSERT_EQUAL_FATAL(id.n, 1);
	CU_ASSERT_EQUAL(id.before[0], first);
	ut_store_end(&t);
}

static void test_records_of_a_running_one(void)
{
	put_back_running(true);
}

static void test_disk_of_a_running_one(void)
{
	put_back_running(false);
}

static uint64_t half_from;

static int make_half(MDB_txn *txn, void *arg)
{
	struct store *store = arg;

	store->life.of.from = half_from;
	return life_put(store, txn);
}

/* A start that is cut off: the records have the next life; the disk has it, or the one before. */
static void cut_off(bool written, bool half, int want)
{
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	known(&t, 0);
	half_from = half ? life(&t) : 0;
	ut_store_close(&t);
	copy(&t, false, false);
	CU_ASSERT_EQUAL(ut_store_open(&t), 0);
	CU_ASSERT_EQUAL(lmdb_write(&t.store->db, make_half, t.store), 0);
	ut_store_close(&t);
	if (!written)
		copy(&t, false, true);
	CU_ASSERT_EQUAL(ut_store_open(&t), want);
	ut_store_end(&t);
}

static void test_cut_off(void)
{
	cut_off(true, true, 0);
	cut_off(false, true, 0);
	cut_off(true, false, 0);
	cut_off(false, false, -EMEDIUMTYPE);
}

/* A file that may have lost its object is not given an empty one. */
static void test_lost(void)
{
	struct ddio_file_ref ref = { .id = 9, .block = 4096 };
	struct object *obj;
	struct ut_store t;

	ut_store_begin(&t, SIZE);
	CU_ASSERT_FALSE(store_lost(t.store, 1));
	known(&t, 10);
	CU_ASSERT(store_lost(t.store, 9));
	CU_ASSERT_FALSE(store_lost(t.store, 10));
	CU_ASSERT_EQUAL(store_get(t.store, &ref, true, &obj), -EREMOTEIO);
	CU_ASSERT_EQUAL(store_get(t.store, &ref, false, &obj), -ENOENT);
	ref.id = 10;
	CU_ASSERT_EQUAL(store_get(t.store, &ref, true, &obj), 0);
	object_put(obj);
	known(&t, 3);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT(store_lost(t.store, 9));
	ut_store_end(&t);
}

static const struct ut_case cases[] = {
	{ "each start is a life", test_begins },
	{ "many starts", test_many_starts },
	{ "records put back", test_records_put_back },
	{ "disk put back", test_disk_put_back },
	{ "records of a daemon that runs put back", test_records_of_a_running_one },
	{ "disk of a daemon that runs put back", test_disk_of_a_running_one },
	{ "a start cut off", test_cut_off },
	{ "lost objects", test_lost },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "life", cases } };

	return ut_run("store_life", suites, 1);
}
