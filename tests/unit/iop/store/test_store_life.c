// SPDX-License-Identifier: GPL-2.0-only
/* The lives of a disk: when one begins, and that neither disk nor records come back from the past unnoticed. */
#include <errno.h>
#include "iop/store/priv.h"
#include "ut_store.h"

#define SIZE (4 * MIB)

enum { NAMES = 77 };

static uint64_t life(const struct ut_store *t)
{
	struct ddio_disk_id id;

	store_identity(t->store, &id);
	return id.life;
}

/* The name space knows the disk. */
static void known(struct ut_store *t, uint64_t lost)
{
	CU_ASSERT_EQUAL(store_known(t->store, NAMES, lost), 0);
	CU_ASSERT_EQUAL(ut_store_commit(t), 0);
}

static void test_begins(void)
{
	struct ddio_disk_id id;
	struct ut_store t;
	uint64_t first;

	ut_store_begin(&t, SIZE);
	first = life(&t);
	CU_ASSERT_NOT_EQUAL(first, 0);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	CU_ASSERT_EQUAL(life(&t), first);
	known(&t, 5);
	CU_ASSERT_EQUAL(life(&t), first);
	CU_ASSERT_EQUAL(ut_store_reopen(&t), 0);
	store_identity(t.store, &id);
	CU_ASSERT(id.life > first);
	CU_ASSERT_EQUAL(id.before, first);
	CU_ASSERT_EQUAL(id.names, NAMES);
	CU_ASSERT_EQUAL(id.lost, 5);
	CU_ASSERT_EQUAL(id.flags, 0);
	ut_store_end(&t);
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

/* A start that is cut off between the records and the disk's label. */
static void test_cut_off(void)
{
	struct ut_store t;
	uint64_t first;

	ut_store_begin(&t, SIZE);
	known(&t, 0);
	first = life(&t);
	ut_store_close(&t);
	copy(&t, false, false);
	CU_ASSERT_EQUAL(ut_store_open(&t), 0);
	CU_ASSERT(life(&t) > first);
	first = life(&t);
	ut_store_close(&t);
	copy(&t, false, true);
	CU_ASSERT_EQUAL(ut_store_open(&t), 0);
	CU_ASSERT_EQUAL(life(&t), first);
	ut_store_end(&t);
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
	{ "a life begins when the last one is known", test_begins },
	{ "records put back", test_records_put_back },
	{ "disk put back", test_disk_put_back },
	{ "a start cut off", test_cut_off },
	{ "lost objects", test_lost },
	{ NULL, NULL },
};

int main(void)
{
	static const struct ut_suite suites[] = { { "life", cases } };

	return ut_run("store_life", suites, 1);
}
